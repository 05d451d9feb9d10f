// Tests of the real children that tests of a holder do not cover: those that outlive us, and those that we watch.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUN_VARIABLES } from "../../base/bun.ts";
import type { Command, Ending } from "../children.ts";
import { realChildren } from "./children.ts";

const children = realChildren();
const home = mkdtempSync(join(tmpdir(), "hf-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const command = (script: string): Command => ({ argv: ["/bin/sh", "-c", script], cwd: home, env: { ONLY: "this" } });
const ending = (start: (ended: (found: Ending) => void) => void): Promise<Ending> => new Promise(start);

test("a detached program leads its own session, and its output goes to the log", async () => {
  const log = join(home, "log");
  const pid = children.detached(command("cut -d' ' -f6 < /proc/$$/stat; echo words >&2; echo $ONLY $HOME"), log);
  while (!read(log).includes("this")) await Bun.sleep(2);
  expect(read(log)).toBe(`${pid}\nwords\nthis\n`);
});

test("a told program reads what we send, outlives the end of its input, and its end is reported", async () => {
  const out = join(home, "told");
  writeFileSync(out, "");
  const done = Promise.withResolvers<void>();
  const said: string[] = [];
  const child = children.told(command(`while read line; do echo "$line $ONLY" | tee -a ${out}; done; exit 3`), {
    said: (bytes) => void said.push(Buffer.from(bytes).toString()),
    ended: done.resolve,
  });
  child.tell(Buffer.from("one\n"));
  while (!read(out).includes("one")) await Bun.sleep(2);
  child.tell(Buffer.from("two\n"));
  child.release();
  await done.promise;
  expect(read(out)).toBe("one this\ntwo this\n");
  while (said.join("") !== read(out)) await Bun.sleep(2);
  child.tell(Buffer.from("nobody hears this\n"));
});

test("the end of a watched program is reported exactly", async () => {
  expect(await ending((ended) => void children.watched(command("exit 3"), ended))).toEqual({ kind: "exited", code: 3 });
  const killed = await ending((ended) => void children.watched(command("kill -9 $$"), ended));
  expect(killed).toEqual({ kind: "signalled", signal: "SIGKILL" });
});

test("a program that cannot be started is a Fault with the reason", () => {
  const start = (changes: Partial<Command>) => () =>
    children.watched({ ...command("true"), ...changes }, () => undefined);
  expect(start({ argv: ["/no/such"] })).toThrow("ENOENT");
  expect(start({ argv: ["no-such-program"] })).toThrow("ENOENT");
  expect(start({ argv: [home] })).toThrow("EACCES");
  expect(start({ cwd: "/no/such" })).toThrow("start in /no/such: ENOENT");
});

test("signals reach a child's group, and no process after its end", async () => {
  let signal: (name: string) => boolean = () => false;
  const ended = await ending((told) => {
    const child = children.pipes(command("sleep 1000 | cat"), { output: () => undefined, ended: told });
    signal = child.signal;
    expect([signal("SIGNOSUCH"), signal("SIGTERM")]).toEqual([false, true]);
  });
  expect(ended).toEqual({ kind: "signalled", signal: "SIGTERM" });
  expect(signal("SIGTERM")).toBe(false);
});

test("C2 no child gets a variable that changes how Bun runs", async () => {
  const env = { KEPT: "yes", ...Object.fromEntries(BUN_VARIABLES.map((name) => [name, "x"])) };
  const starts: Readonly<Record<string, (command: Command, ended: () => void) => unknown>> = {
    pty: (one, ended) => children.pty(one, { cols: 80, rows: 24 }, { output: () => undefined, ended }),
    pipes: (one, ended) => children.pipes(one, { output: () => undefined, ended }),
    told: (one, ended) => children.told(one, { ended }),
    watched: (one, ended) => children.watched(one, ended),
  };
  for (const [name, start] of Object.entries(starts)) {
    const out = join(home, `env-${name}`);
    await new Promise<void>((ended) => start({ ...command(`env >${out}`), env }, ended));
    expect([name, read(out).includes("KEPT=yes"), read(out).includes("BUN_")]).toEqual([name, true, false]);
  }
  const log = join(home, "env-detached");
  children.detached({ ...command("env; echo done"), env }, log);
  while (!read(log).includes("done")) await Bun.sleep(2);
  expect(read(log)).not.toContain("BUN_");
});

function read(path: string): string {
  return readFileSync(path, "latin1");
}
