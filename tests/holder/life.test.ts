// A holder's life: started at most once, ended in order, with the exact code.
import { afterEach, expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, statSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ENDED } from "../../src/wire/holder/protocol.ts";
import { until } from "../until.ts";
import { speak } from "./rude.ts";
import {
  attach,
  claimOf,
  endAll,
  exitOf,
  isAlive,
  marked,
  newTerminal,
  startHolder,
  tapeOf,
  terminal,
} from "./terminal.ts";

afterEach(endAll);

test("a command runs in its own terminal, and its output is on the tape", async () => {
  const script = "read -r line; tty; stty size; echo $TERM; ps -o sid= -p $$; echo $$; exit 7";
  const made = await terminal(["sh", "-c", script]);
  await made.ear.type("\n");
  const exit = await made.ear.hearsEnd();
  expect(exit).toMatchObject({ code: 7, signal: null, generation: 1 });
  const [tty, size, term, session, pid] = made.ear.text.trim().split(/\s*\r\n\s*/);
  expect({ tty: tty?.startsWith("/dev/pts/"), size, term, leads: session === pid }).toEqual({
    tty: true,
    size: "24 80",
    term: "xterm-256color",
    leads: true,
  });
  expect(tapeOf(made).equals(made.ear.bytes)).toBe(true);
  expect(exit.offset).toBe(made.ear.bytes.length);
  expect(exitOf(made)).toEqual(exit);
  expect(await made.holder.exited).toBe(0);
  expect(existsSync(made.spec.socket)).toBe(false);
});

test("the environment is the spec's, plus the marker, and nothing of the holder's own", async () => {
  const env = { PATH: "/usr/bin:/bin", TERM: "dumb", BUN_OPTIONS: "--smol", BUN_BE_BUN: "1", MINE: "x y" };
  const made = await terminal(["perl", "-e", "<STDIN>; exec 'env'"], { env }); // A shell would add variables.
  await made.ear.type("\n");
  await made.ear.hearsEnd();
  const found = made.ear.text.trim().split("\r\n").sort();
  expect(found).toEqual(["MINE=x y", `HOLDFAST_TERMINAL=${made.spec.id}`, "PATH=/usr/bin:/bin", "TERM=dumb"].sort());
});

test("socket, claim and tape belong to their owner alone", async () => {
  const made = await terminal(["sh", "-c", "echo here; exec sleep 100"]);
  await made.ear.hears("here");
  const modes = [made.spec.socket, join(made.directory, "claim.json"), join(made.directory, "tape")];
  expect(modes.map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600, 0o700]);
  const status = await made.ear.status();
  expect(claimOf(made)).toMatchObject({ by: "holder", generation: 1, pid: status.pid });
});

test("an existing claim is never started again, whichever process made it", async () => {
  const made = newTerminal(["touch", "started"]);
  writeFileSync(join(made.directory, "claim.json"), ""); // Even an empty one: a cancel may have been cut off.
  expect(await startHolder(made).exited).toBe(0);
  expect(existsSync(join(made.spec.cwd, "started"))).toBe(false);
  expect(exitOf(made)).toBeUndefined();
  expect(readFileSync(join(made.directory, "claim.json"), "utf8")).toBe("");
  expect(existsSync(made.spec.socket)).toBe(false);
});

test("a terminal that has ended is not started a second time", async () => {
  const made = await terminal(["sh", "-c", "echo x >> started; read -r line"]);
  await made.ear.type("\n");
  const exit = await made.ear.hearsEnd();
  await made.holder.exited;
  expect(await startHolder(made).exited).toBe(0);
  expect(readFileSync(join(made.spec.cwd, "started"), "utf8")).toBe("x\n");
  expect(exitOf(made)).toEqual(exit);
});

test("of holders that race on one directory one starts the command, and it can be found", async () => {
  const made = newTerminal(["sh", "-c", "echo x >> started; exec sleep 100"]);
  const racers = [1, 2, 3, 4, 5, 6].map(() => startHolder(made));
  await until(
    "all but one have left",
    () => racers.filter(({ exitCode }) => exitCode === null).length === 1,
    () => racers.filter(({ exitCode }) => exitCode === null).length,
  );
  const ear = await attach(made);
  const started = join(made.spec.cwd, "started");
  await until(
    "the command has started",
    () => existsSync(started) && readFileSync(started, "utf8") !== "",
    () => [`${started} exists: ${existsSync(started)}`, readFileSync(started, "utf8")],
  );
  expect(racers.map(({ exitCode }) => exitCode).sort()).toEqual([0, 0, 0, 0, 0, null]);
  expect(readFileSync(started, "utf8")).toBe("x\n");
  expect(racers.find(({ exitCode }) => exitCode === null)?.pid).toBe((await ear.status()).pid);
});

test.each([
  ["exit 0", { code: 0, signal: null }],
  ["exit 255", { code: 255, signal: null }],
  ["kill -TERM $$", { code: null, signal: "SIGTERM" }],
  ["kill -SEGV $$", { code: null, signal: "SIGSEGV" }],
  ["trap 'exit 143' TERM; kill -TERM $$", { code: 143, signal: null }],
])("how a command ended is kept exactly: %s", async (script, ending) => {
  // It waits for us: the holder of one that ends at once may be gone before we look.
  const { ear } = await terminal(["sh", "-c", `read -r line; ${script}`]);
  await ear.type("\n");
  expect(await ear.hearsEnd()).toMatchObject(ending);
});

test("the tape is whole and exit.json is there before the end is announced", async () => {
  const made = newTerminal(["sh", "-c", "read -r line; seq 1 2000; exit 3"]);
  startHolder(made);
  const seen: unknown[] = [];
  const ended = () => void seen.push(exitOf(made)?.code, tapeOf(made).length);
  const ear = await attach(made, {}, { ended });
  await ear.type("\n");
  const exit = await ear.hearsEnd();
  expect(seen).toEqual([3, exit.offset]);
  expect(ear.bytes.length).toBe(exit.offset);
});

test("a watcher of the socket is notified of the end by a touch, once exit.json exists", async () => {
  const made = await terminal(["sh", "-c", "read -r line"]);
  const touches: boolean[] = [];
  const watcher = watch(made.spec.cwd, (kind, name) => {
    if (kind === "change" && name === "s") touches.push(exitOf(made) !== undefined);
  });
  await made.ear.type("\n");
  await until(
    "a touch after exit.json exists", // An earlier one may report what was printed.
    () => touches.includes(true),
    () => touches,
  );
  watcher.close();
});

test("a client that connects after the end, while the holder waits for another, gets everything", async () => {
  const made = newTerminal(["sh", "-c", "until [ -e go ]; do sleep 0.01; done; head -c 3000000 /dev/zero; exit 5"]);
  startHolder(made);
  await until(
    "the holder listens",
    () => existsSync(made.spec.socket),
    () => `${made.spec.socket} exists: ${existsSync(made.spec.socket)}`,
  );
  const deaf = await speak(made, { writer: "deaf", from: 0 });
  deaf.sleep();
  writeFileSync(join(made.spec.cwd, "go"), "");
  await until(
    "exit.json is there",
    () => exitOf(made) !== undefined,
    () => exitOf(made),
  );
  const late = await attach(made, { writer: "late" });
  expect((await late.hearsEnd()).code).toBe(5);
  expect(late.bytes.length).toBe(3_000_000);
  deaf.wake();
  await until(
    "the other client is notified of the end too",
    () => deaf.tags.at(-1) === ENDED,
    () => deaf.tags.at(-1),
  );
});

test.each([
  ["a program that is not on the PATH", { argv: ["no-such-program"] }, 127],
  ["a program that is not there", { argv: ["/no/such/program"] }, 127],
  ["a directory that is not there", { argv: ["true"], cwd: "/no/such/place" }, 127],
])("%s ends with 127 and says why", async (_what, changes, code) => {
  const made = newTerminal(changes.argv, changes);
  const holder = startHolder(made);
  await holder.exited;
  expect(exitOf(made)).toMatchObject({ code, signal: null });
  expect(tapeOf(made).toString()).toContain("ENOENT");
});

test("a program that may not be executed ends with 126", async () => {
  const made = newTerminal(["./text"]);
  writeFileSync(join(made.spec.cwd, "text"), "no program");
  chmodSync(join(made.spec.cwd, "text"), 0o644);
  await startHolder(made).exited;
  expect(exitOf(made)).toMatchObject({ code: 126, signal: null });
});

test("the end comes although a background process holds the terminal", async () => {
  const script = "setsid sh -c 'echo behind; exec sleep 1000' & read line; echo bye; exit 4";
  const made = await terminal(["sh", "-c", script]);
  await made.ear.hears("behind");
  await made.ear.type("\n");
  expect((await made.ear.hearsEnd()).code).toBe(4);
  expect(made.ear.text).toContain("bye");
  expect(await made.holder.exited).toBe(0);
  expect(marked(made)).toHaveLength(1); // It is found by its marker, and left to the daemon to judge.
});

test("SIGTERM ends the child, then the holder, in order", async () => {
  const made = await terminal(["sh", "-c", "echo ready; while :; do sleep 1000; done"]);
  await made.ear.hears("ready");
  made.holder.kill("SIGTERM");
  expect((await made.ear.hearsEnd()).signal).toMatch(/^SIG(HUP|TERM)$/);
  expect(await made.holder.exited).toBe(0);
  expect(exitOf(made)).toEqual(made.ear.exit);
  await until(
    "no process is left",
    () => marked(made).length === 0,
    () => marked(made).length,
  ); // The shell's own child got the signal as well, and nothing waits for it.
});

test("a holder that is killed leaves a claim without an exit, and its child is hung up", async () => {
  const made = await terminal([
    "sh",
    "-c",
    'trap "echo hup > hung-up; exit" HUP; echo ready; while :; do sleep 0.01; done',
  ]);
  await made.ear.hears("ready");
  const { child } = await made.ear.status();
  made.holder.kill("SIGKILL");
  await until(
    "the child is gone",
    () => !isAlive(child?.pid ?? 0),
    () => isAlive(child?.pid ?? 0),
  );
  expect(readFileSync(join(made.spec.cwd, "hung-up"), "utf8")).toBe("hup\n");
  expect(claimOf(made)).toMatchObject({ by: "holder", generation: 1 });
  expect(exitOf(made)).toBeUndefined();
  expect(await startHolder(made).exited).toBe(0); // And it is not started again.
  expect(exitOf(made)).toBeUndefined();
});

test("a hang-up is not for the holder", async () => {
  const made = await terminal(["cat"]);
  made.holder.kill("SIGHUP");
  await made.ear.type("still here\n");
  await made.ear.hears("still here");
  expect((await made.ear.status()).exit).toBeNull();
});

test("a child is taken for memory before its holder", async () => {
  const { ear } = await terminal(["sh", "-c", "cat /proc/self/oom_score_adj; exec sleep 100"]);
  await ear.hears(/\d+\r\n/);
  const own = readFileSync(`/proc/${(await ear.status()).pid}/oom_score_adj`, "utf8");
  expect(Number(ear.text)).toBeGreaterThanOrEqual(Math.min(1000, Number(own) + 300));
});
