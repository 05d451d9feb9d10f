// The machine of a home goes down and comes up with another boot id.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isGone, isOfHome } from "../daemon/home.ts";
import { until } from "../until.ts";
import { Home } from "./terminal-home.ts";

/** Kills every process of a home at once. */
export async function powerCut(home: Home): Promise<void> {
  const ours = () => {
    const ids = [...names(join(home.path, "terminals")), ...runsOf(home)];
    return readdirSync("/proc")
      .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
      .filter((pid) => {
        const [words, env] = ["cmdline", "environ"].map((file) => read(`/proc/${pid}/${file}`));
        if (words?.includes(home.path)) return true;
        return ids.some((id) => env?.includes(`HOLDFAST_TERMINAL=${id}`)) && isOfHome(pid, home.path);
      });
  };
  const all = new Set<number>();
  const sendAll = (signal: NodeJS.Signals) => {
    const left = ours().map(Number);
    for (const pid of left) {
      all.add(pid);
      send(pid, signal);
    }
    return left.length;
  };
  sendAll("SIGSTOP");
  await until(
    "no process is left",
    () => sendAll("SIGKILL") === 0 && [...all].every(isGone),
    () => [sendAll("SIGKILL"), ...all],
  );
}

/** The ids of workflow runs identify the programs of their steps. */
function runsOf(home: Home): string[] {
  const state = join(home.path, "state");
  return names(state).flatMap((repo) => names(join(state, repo, "sessions")));
}

function names(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory) : [];
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    if (error instanceof Error) return ""; // It has ended in the meantime.
    throw error;
  }
}

export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error)) throw error; // It has ended in the meantime.
  }
}

export class Rebooting extends Home {
  boot = 1;
  override get env() {
    return { ...super.env, HOLDFAST_BOOT_ID: `boot-${this.boot}`, PATH: `${this.path}/bin:${super.env["PATH"] ?? ""}` };
  }
}
