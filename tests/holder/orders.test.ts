// A holder that waits for orders: one attempt after the other, each as if it were the only one.
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/files.ts";
import { encodeOrder, GO_HOME, ordersSocket } from "../../src/wire/holder/orders.ts";
import { ordersStart } from "../../src/wire/holder/start.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { COUNTING } from "../ours.ts";
import { until } from "../until.ts";
import { claimOf, endAll, exitOf, newTerminal, type Terminal, tapeOf } from "./terminal.ts";

afterAll(endAll);

function startWaiting(home = "/a/home") {
  const { argv, cwd, env } = ordersStart(process.execPath, join(ROOT, "src/holder/orders-main.ts"), home, {});
  const [runtime, ...words] = argv;
  return Bun.spawn([runtime, ...COUNTING, ...words], { cwd, env: { ...env }, stdio: ["pipe", "ignore", "inherit"] });
}

type Waiting = ReturnType<typeof startWaiting>;

async function tell(holder: Waiting, { directory }: Terminal, secrets = {}): Promise<void> {
  holder.stdin.write(encodeOrder({ directory, secrets }));
  await holder.stdin.flush();
}

const tapeText = (made: Terminal) => tapeOf(made).toString();
const attempt = (script: string) => newTerminal(["sh", "-c", script], { mode: "pipe" });

test("it holds one attempt after the other, and nothing of one is in the next", async () => {
  const holder = startWaiting();
  const first = attempt("echo one $SECRET; exit 3");
  const second = attempt("echo two $SECRET");
  await tell(holder, first, { SECRET: "hush" });
  await tell(holder, second);
  await until(
    "the second has ended",
    () => exitOf(second) !== undefined,
    () => exitOf(second),
  );
  expect([exitOf(first)?.code, exitOf(second)?.code]).toEqual([3, 0]);
  expect([tapeText(first), tapeText(second)]).toEqual(["one hush\n", "two\n"]);
  expect([claimOf(first)?.pid, claimOf(second)?.pid]).toEqual([holder.pid, holder.pid]);
  expect(existsSync(first.spec.socket)).toBe(false);
  holder.stdin.write(GO_HOME);
  holder.stdin.end();
  expect(await holder.exited).toBe(0);
});

test("if its controller dies, the next one with the home's token can give orders, and no other", async () => {
  const one = attempt("while [ ! -e go ]; do sleep 0.01; done; echo done");
  const home = one.spec.cwd;
  mkdirSync(join(home, "run"), { recursive: true });
  writeFileSync(join(home, "run/token"), "s3cret\n");
  const holder = startWaiting(home);
  await tell(holder, one);
  await until(
    "it runs",
    () => claimOf(one) !== undefined,
    () => claimOf(one),
  );
  holder.stdin.end();
  writeFileSync(join(home, "go"), "");
  const socket = ordersSocket(home, holder.pid);
  await until(
    "it waits for the next one",
    () => existsSync(socket),
    () => `${socket} exists: ${existsSync(socket)}`,
  );
  const giver = await realSockets().connect(socket, { bytes: () => undefined, closed: () => undefined });
  const [two, three] = [attempt("echo two"), attempt("echo three")];
  giver.send(encodeOrder({ directory: two.directory, secrets: {} }, "s3cret"));
  await until(
    "the second has ended",
    () => exitOf(two) !== undefined,
    () => exitOf(two),
  );
  expect([claimOf(two)?.pid, tapeText(two)]).toEqual([holder.pid, "two\n"]);
  giver.send(encodeOrder({ directory: three.directory, secrets: {} }, "wrong"));
  expect([await holder.exited, claimOf(three), existsSync(socket)]).toEqual([0, undefined, false]);
});

test("if its controller dies, its attempt runs to its end, and then it exits", async () => {
  const holder = startWaiting();
  const one = attempt("while [ ! -e go ]; do sleep 0.01; done; echo done");
  await tell(holder, one);
  holder.stdin.end();
  await until(
    "it runs",
    () => claimOf(one) !== undefined,
    () => claimOf(one),
  );
  writeFileSync(join(one.spec.cwd, "go"), "");
  expect(await holder.exited).toBe(0);
  expect([exitOf(one)?.code, tapeText(one)]).toEqual([0, "done\n"]);
});

test("half an order is ignored, an invalid one ends it, and a claimed attempt is skipped", async () => {
  const one = attempt("echo one");
  const half = startWaiting();
  half.stdin.write(encodeOrder({ directory: one.directory, secrets: {} }).slice(0, -1));
  half.stdin.end();
  expect(await half.exited).toBe(0);
  const wrong = startWaiting();
  wrong.stdin.write("{}\n");
  await tell(wrong, one);
  expect([await wrong.exited, claimOf(one)]).toEqual([0, undefined]);
  const holder = startWaiting();
  await tell(holder, one);
  await tell(holder, one);
  holder.stdin.end();
  expect([await holder.exited, tapeText(one)]).toEqual([0, "one\n"]);
});

test("asked to exit, it exits: at once if it holds nothing, otherwise when its attempt has ended", async () => {
  const holder = startWaiting();
  const one = attempt("echo one; sleep 1000");
  await tell(holder, one);
  await until(
    "it runs",
    () => tapeText(one) === "one\n",
    () => tapeText(one),
  );
  holder.kill("SIGTERM");
  expect(await holder.exited).toBe(0);
  expect(exitOf(one)?.stopped).toBe(true);
  const idle = startWaiting();
  const two = attempt("echo two");
  await tell(idle, two);
  await until(
    "it is at rest",
    () => exitOf(two) !== undefined && !existsSync(two.spec.socket),
    () => [exitOf(two), `${two.spec.socket} exists: ${existsSync(two.spec.socket)}`],
  );
  idle.kill("SIGTERM");
  expect(await idle.exited).toBe(0);
});
