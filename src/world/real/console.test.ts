import { afterAll, describe, expect, test } from "bun:test";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const scratch = mkdtempSync(join(tmpdir(), "holdfast-console-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** A short program that has our `console`. */
function program(lines: string): string[] {
  const module = JSON.stringify(join(import.meta.dir, "console.ts"));
  const code = `import { realConsole } from ${module}; const console = realConsole(); ${lines}; process.exit(0);`;
  return [process.execPath, "-e", code];
}

async function run(lines: string, env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(program(lines), { cwd: scratch, env, stdio: ["ignore", "pipe", "inherit"] });
  return child.stdout.text();
}

/** What the program prints on a terminal. */
async function onTerminal(lines: string, columns: number): Promise<string> {
  let seen = "";
  const decoder = new TextDecoder();
  const data = (_: unknown, bytes: Uint8Array): void => {
    seen += decoder.decode(bytes);
  };
  const child = Bun.spawn(program(lines), { terminal: { cols: columns, rows: 24, data } });
  await child.exited;
  child.terminal?.close();
  return seen;
}

describe("C1 a write is complete when it resolves", () => {
  const MUCH = "await console.out.write('x'.repeat(3_000_000))";

  test("even if the reader is slow and the process ends right after it", async () => {
    const child = Bun.spawn(program(MUCH), { stdio: ["ignore", "pipe", "inherit"] });
    expect((await child.stdout.text()).length).toBe(3_000_000);
  });

  test("even if the output was made non-blocking", async () => {
    const path = join(scratch, "fifo");
    Bun.spawnSync(["mkfifo", path]);
    const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const child = Bun.spawn(program(MUCH), { stdio: ["ignore", fd, "inherit"] });
    const reader = Bun.spawn(["head", "-c", "3000000", path], { stdio: ["ignore", "pipe", "inherit"] });
    expect((await reader.stdout.text()).length).toBe(3_000_000);
    expect(await child.exited).toBe(0);
    closeSync(fd);
  });
});

test("C2 a write to a closed pipe is a Fault", async () => {
  const lines =
    "try { for (;;) await console.out.write('x') } catch (e) { await console.err.write(e.name + ' ' + e.code) }";
  const child = Bun.spawn(program(lines), { stdio: ["ignore", "pipe", "pipe"] });
  await child.stdout.cancel();
  expect(await child.stderr.text()).toBe("Fault EPIPE");
});

test("a terminal is distinguished from a pipe and reports its width", async () => {
  const lines = "await console.out.write([console.out.tty, console.err.tty, console.out.columns()].join(' '))";
  expect(await onTerminal(lines, 97)).toBe("true true 97");
  expect(await run("await console.out.write(String(console.out.tty))")).toBe("false");
});

test("an empty variable counts as not set; a path is relative to the current directory", async () => {
  const lines =
    "await console.out.write(JSON.stringify([console.env('A'), console.env('B') ?? 0, console.absolute('x/')]))";
  expect(JSON.parse(await run(lines, { A: "1", B: "" }))).toEqual(["1", 0, join(scratch, "x")]);
});

test("work on an unreferenced timer keeps the process alive, and Ctrl-C ends it with its own code", async () => {
  const lines =
    "const end = console.interrupted(); await console.out.write('ready'); await console.staying(end); await console.out.write(' stopped')";
  const child = Bun.spawn(program(lines), { stdio: ["ignore", "pipe", "inherit"] });
  const reader = child.stdout.getReader();
  await reader.read();
  child.kill("SIGINT");
  const { value } = await reader.read();
  expect(new TextDecoder().decode(value)).toBe(" stopped");
  expect(await child.exited).toBe(0);
});
