// The foreground process of a real terminal.
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../tests/until.ts";
import { realProcesses } from "./process.ts";

const processes = realProcesses();
const started: Bun.Subprocess[] = [];
const made: string[] = [];

afterEach(async () => {
  for (const child of started.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
});

function place(): string {
  const path = mkdtempSync(join(tmpdir(), "holdfast-front-"));
  made.push(path);
  return path;
}

/** A shell with job control on its own terminal. */
function shell(script: string, cwd: string): number {
  const child = Bun.spawn(["sh", "-mc", script], { cwd, terminal: { cols: 80, rows: 24 } });
  started.push(child);
  return child.pid;
}

test("a foreground job is found with its arguments, its directory and its age", async () => {
  const cwd = place();
  mkdirSync(join(cwd, "it's here"));
  const pid = shell(`cd "it's here"; sleep 600 ; :`, cwd);
  const front = await until(
    "sleep is in front",
    () => {
      const found = processes.foreground(pid);
      return found?.argv[0] === "sleep" ? found : undefined;
    },
    () => processes.foreground(pid),
  );
  expect(front).toMatchObject({ argv: ["sleep", "600"], cwd: join(cwd, "it's here") });
  expect(front.pid).not.toBe(pid);
  expect(front.ageMs).toBeLessThan(20_000);
  processes.kill(
    { pid: front.pid, startTime: processes.startTime(front.pid) ?? 0, bootId: processes.bootId() },
    "SIGKILL",
  );
});

test("without a foreground job, or without a terminal, the program itself is returned", async () => {
  const cwd = place();
  const pid = shell("exec sleep 600", cwd);
  await until(
    "it is sleep",
    () => processes.foreground(pid)?.argv[0] === "sleep",
    () => processes.foreground(pid)?.argv[0],
  );
  expect(processes.foreground(pid)).toMatchObject({ pid, argv: ["sleep", "600"], cwd });
  const bare = Bun.spawn(["sleep", "600"], { cwd });
  started.push(bare);
  await until(
    "it is sleep",
    () => processes.foreground(bare.pid)?.argv[0] === "sleep",
    () => processes.foreground(bare.pid)?.argv[0],
  );
  expect(processes.foreground(bare.pid)).toMatchObject({ pid: bare.pid, cwd });
});

test("a deleted directory is reported by its former path; one really named so keeps its name", async () => {
  const cwd = place();
  const [gone, odd] = [join(cwd, "gone"), join(cwd, "odd (deleted)")];
  for (const path of [gone, odd]) mkdirSync(path);
  const [one, two] = [shell("exec sleep 600", gone), shell("exec sleep 600", odd)];
  for (const pid of [one, two])
    await until(
      "it is sleep",
      () => processes.foreground(pid)?.argv[0] === "sleep",
      () => processes.foreground(pid)?.argv[0],
    );
  rmSync(gone, { recursive: true });
  expect(processes.foreground(one)?.cwd).toBe(gone);
  expect(processes.foreground(two)?.cwd).toBe(odd);
});

test("a process that has ended, or is a zombie, is not found", async () => {
  const child = Bun.spawn(["true"]);
  await child.exited;
  expect(processes.foreground(child.pid)).toBeUndefined();
});
