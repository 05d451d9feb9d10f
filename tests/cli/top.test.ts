// `holdfast top` in a real terminal of 80 × 24, with a real daemon and a scripted agent.
import { afterEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/files.ts";
import { FAREWELL } from "../../src/cli/top/paint.ts";
import { ACTOR } from "../agent/agent-home.ts";
import { killIfThere } from "../daemon/home.ts";
import { BUN, ours } from "../ours.ts";
import { until } from "../until.ts";
import { rejects } from "./expect.ts";
import { endAll, Home, type Window } from "./terminal-home.ts";

afterEach(endAll);

const TMUX = Bun.which("tmux");
const LONG = "x ".repeat(700);
const HOSTILE = "\u001b]0;owned\u0007\u001b[2J";

/** tmux with one window, in which `holdfast top` runs. */
class TmuxWindow {
  readonly #home: Home;

  constructor(home: Home) {
    this.#home = home;
    this.tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", ...ours("src/cli/main.ts", "top"));
    this.tmux("set", "-g", "remain-on-exit", "on");
  }

  tmux(...args: readonly string[]): string {
    const socket = join(this.#home.path, "tmux");
    return Bun.spawnSync([TMUX ?? "", "-u", "-S", socket, ...args], { env: this.#home.env }).stdout.toString();
  }

  get screen(): string {
    return this.tmux("capture-pane", "-p");
  }

  get pid(): number {
    return Number(this.tmux("display-message", "-p", "#{pane_pid}"));
  }

  async shows(...texts: readonly string[]): Promise<void> {
    for (const text of texts) {
      await until(
        `the screen shows ${text}`,
        () => this.screen.includes(text),
        () => this.screen,
      );
    }
  }

  async press(key: string, ...shows: readonly string[]): Promise<void> {
    this.tmux("send-keys", key);
    await this.shows(...shows);
  }
}

/** Ticks of processor time, and bytes written. */
function effort(pid: number): { readonly ticks: number; readonly written: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
  const written = /^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "latin1"))?.[1];
  return { ticks: Number(stat[11]) + Number(stat[12]), written: Number(written) };
}

async function tells(home: Home, text: string): Promise<void> {
  await home.ok("agent", "send", "worker", text);
}

test.skipIf(TMUX === null)(
  "top at 80 × 24 in tmux: read and allow a prompt, attach and come back, send, interrupt, by keyboard (needs tmux)",
  async () => {
    const home = new Home();
    await home.ok(
      "new",
      "shell",
      "-d",
      "--",
      "/bin/sh",
      "-c",
      "trap 'printf %s-%s got it' INT; while :; do sleep 0.05; done",
    );
    await home.ok("agent", "new", "worker", "--provider", "scripted", "--", ...ACTOR);
    await tells(home, `>> ask Bash ${HOSTILE}rm ${LONG}the-end\n>> ask Read b\n>> hang`);
    const window = new TmuxWindow(home);
    await window.shows("1 prompt · 1 agent · 1 terminal · 0 runs", "shell", "worker");

    await window.press("a", "Select a prompt first"); // TP1: nothing is selected by itself.
    await window.press("p", "worker asks: Bash", "PgDn for more");
    expect(window.screen).toContain("command: \\u001b]0;owned\\u0007\\u001b[2Jrm x x");
    // Settled: the frame that has it is drawn.
    expect(window.tmux("display-message", "-p", "#{pane_title}")).not.toContain("owned");
    await window.press("a", "There is more of it below"); // TP4
    await window.press("End", "the-end");
    await window.press("a", "Allowed Bash of worker.", "Read");
    await window.press("a", "Select a prompt first"); // TP2: the next prompt took no place.
    await window.press("p", "worker asks: Read", "│ command: b");
    await window.press("d", "Denied Read of worker.");

    await window.press("Down", "agent      worker");
    await window.press("s", "to agent worker:");
    await window.press("later", "to agent worker: later");
    await window.press("Enter", "Sent to agent worker.", "1 message unread");
    await window.press("i", "interrupt agent worker? y");
    await window.press("n", "Nothing was interrupted.");
    await window.press("i", "interrupt agent worker? y");
    await window.press("y", "agent worker was interrupted.");

    await window.press("Down", "▸ shell", "⏎ attach");
    await window.press("i", "interrupt terminal shell? y");
    await window.press("y", "terminal shell was interrupted.");
    await window.press("Enter", "got-it");
    expect(window.screen).not.toContain("TERMINALS");
    await window.press("C-\\", "Back from shell.", "TERMINALS");
    window.tmux("resize-window", "-x", "50", "-y", "12");
    await until(
      "it fits into the smaller window",
      () => window.screen.trimEnd().split("\n").length === 12 && window.screen.includes("▸ shell"),
      () => window.screen,
    );

    const { pid } = window;
    const before = effort(pid);
    await Bun.sleep(1_500); // It is the absence of events that is measured.
    const after = effort(pid);
    expect(after.written - before.written).toBe(0);
    expect(after.ticks - before.ticks).toBeLessThanOrEqual(1);

    killIfThere((await home.status()).daemon.pid);
    await window.shows("The daemon is back.");
    await home.ok("new", "second", "-d", "--", "/bin/sh");
    await window.shows("second");
    await window.press("q", "Pane is dead (status 0");
    expect(window.screen).not.toContain("TERMINALS");
    window.tmux("kill-server");
  },
);

test("top gives the window back at Ctrl-C, at a signal and after a crash; --json prints one snapshot, also from disk", async () => {
  const home = new Home();
  await home.ok("new", "shell", "-d", "--", "/bin/sh");
  const crashes = join(home.path, "crashes.ts");
  writeFileSync(crashes, 'process.on("SIGUSR2", () => { throw new Error("a bug"); });');
  const loaded = () => home.script(`exec '${BUN}' --preload '${crashes}' '${ROOT}/src/cli/main.ts' top`);
  for (const [open, leave, code] of [
    [() => home.window(["top"]), (window: Window) => window.type("\u0003"), 0],
    [() => home.window(["top"]), (window: Window) => window.kill("SIGTERM"), 143],
    [loaded, (window: Window) => window.kill("SIGUSR2"), 1],
  ] as const) {
    const window = open();
    await window.shows("shell");
    expect([window.cooked, window.seen.includes(FAREWELL)]).toEqual([false, false]);
    leave(window);
    expect(await window.exited).toBe(code);
    expect([window.cooked, window.seen.includes(FAREWELL)]).toEqual([true, true]);
  }
  rejects(await home.run("top"), 1, "not a terminal");
  const live = await home.json("top");
  expect(live).toMatchObject({ prompts: [], agents: [], terminals: [{ name: "shell", state: "running" }], runs: [] });
  await home.ok("down");
  expect(Object.keys(await home.json("top"))).toEqual(Object.keys(live));
  const window = home.window(["top"]);
  await window.shows("Holdfast is down.");
  expect(await window.exited).toBe(75);
});
