// Input: numbered per writer, bound to the generation, typed once. And the size, which follows the client that typed
// last.
import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { inputFrame } from "../../src/wire/holder/protocol.ts";
import { until } from "../until.ts";
import { speak } from "./rude.ts";
import { attach, endAll, newTerminal, startHolder, terminal } from "./terminal.ts";

afterEach(endAll);

/** Echoes its input byte for byte, and nothing else. */
const READER = ["sh", "-c", "stty raw -echo; echo ready; exec cat"];
const typed = (text: string): string => text.replace("ready\r\n", "").replace("ready\n", "");

test("input reaches the program in order, and is confirmed", async () => {
  const { ear } = await terminal(READER);
  await ear.hears("ready");
  const answers = await Promise.all(["one ", "two ", "three "].map((word) => ear.type(word)));
  expect(answers.every(({ ok }) => ok)).toBe(true);
  await ear.hears("three ");
  expect(typed(ear.text)).toBe("one two three ");
  expect((await ear.status()).writers).toEqual({ ear: 3 });
});

test("a repeat is dropped and confirmed again; a gap and another generation are refused", async () => {
  const made = await terminal(READER, { generation: 4 });
  await made.ear.hears("ready");
  const rude = await speak(made, { writer: "rude" });
  rude.say(inputFrame(1, 4, Buffer.from("a")));
  rude.say(inputFrame(1, 4, Buffer.from("a")));
  rude.say(inputFrame(3, 4, Buffer.from("c")));
  rude.say(inputFrame(2, 3, Buffer.from("old")));
  rude.say(inputFrame(0, 4, Buffer.from("zero")));
  rude.say(inputFrame(2, 4, Buffer.from("b")));
  await until(
    "all are answered",
    () => rude.answers.length === 6,
    () => JSON.stringify(rude.answers),
  );
  expect(rude.answers).toEqual([
    { taken: 1 },
    { taken: 1 },
    { refused: "holder.gap", number: 3 },
    { refused: "holder.generation", number: 2 },
    { refused: "holder.gap", number: 0 },
    { taken: 2 },
  ]);
  await made.ear.hears("ab");
  expect(typed(made.ear.text)).toBe("ab");
});

test("two writers count on their own", async () => {
  const made = await terminal(READER);
  await made.ear.hears("ready");
  const other = await attach(made, { writer: "other" });
  for (const word of ["1", "2", "3"]) {
    await made.ear.type(`a${word} `);
    await other.type(`b${word} `);
  }
  await other.hears("b3 ");
  expect(typed(other.text)).toBe("a1 b1 a2 b2 a3 b3 ");
  expect((await other.status()).writers).toEqual({ ear: 3, other: 3 });
});

test("a writer whose connection was cut continues under its name, and nothing is typed twice", async () => {
  const made = await terminal(READER);
  await made.ear.hears("ready");
  const rude = await speak(made, { writer: "walker" });
  rude.say(inputFrame(1, 1, Buffer.from("1")));
  rude.say(inputFrame(2, 1, Buffer.from("2")));
  rude.cut(); // Whether these two arrived is not known on this side.
  const walker = await attach(made, { writer: "walker" });
  const taken = walker.client.status?.writers["walker"] ?? 0;
  const again = await speak(made, { writer: "walker" });
  for (const number of [1, 2, 3]) again.say(inputFrame(number, 1, Buffer.from(String(number))));
  await made.ear.hears("3");
  expect({ text: typed(made.ear.text), known: taken <= 2 }).toEqual({ text: "123", known: true });
});

test("input typed while the connection was lost is sent by the next one", async () => {
  const made = await terminal(READER);
  await made.ear.hears("ready");
  await made.ear.type("before ");
  const twin = await attach(made, { writer: "ear" }); // Takes the writer's place: ours is closed.
  await until(
    "our connection is closed",
    () => made.ear.losses === 1,
    () => made.ear.losses,
  );
  expect(made.ear.refusals.map(({ code }) => code)).toEqual(["holder.replaced"]);
  twin.client.close();
  const answer = made.ear.type("after");
  expect((await made.ear.client.connect()).ok).toBe(true);
  expect((await answer).ok).toBe(true);
  await made.ear.hears("after");
  expect(typed(made.ear.text)).toBe("before after");
  expect(made.ear.holes).toEqual([]);
});

test("a read-only client cannot type, signal or resize", async () => {
  const made = await terminal(["sh", "-c", "stty raw -echo; echo ready; exec cat"]);
  await made.ear.hears("ready");
  const watcher = await attach(made, { writer: "watcher", readOnly: true, size: { cols: 10, rows: 5 } });
  const answer = await watcher.type("no");
  expect(answer.ok ? "" : answer.error.code).toBe("holder.read-only");
  watcher.client.resize({ cols: 11, rows: 6 });
  watcher.client.signal("SIGKILL");
  await until(
    "the signal is refused",
    () => watcher.refusals.length === 2,
    () => watcher.refusals.length,
  );
  expect(await watcher.status()).toMatchObject({ size: { cols: 80, rows: 24 }, exit: null });
});

test("input that the program does not read puts back pressure on the writer, and arrives in the end", async () => {
  const made = newTerminal(["sh", "-c", "stty raw -echo; echo ready; read -r go < gate; head -c 3000000 | md5sum"]);
  await Bun.spawn(["mkfifo", join(made.spec.cwd, "gate")]).exited;
  startHolder(made);
  const ear = await attach(made);
  await ear.hears("ready");
  const text = Buffer.alloc(3_000_000, "x");
  const answer = ear.client.input(text);
  const other = await attach(made, { writer: "other" }); // Whose questions do not wait behind it.
  const taken = async () => (await other.status()).writers["ear"] ?? 0;
  await until(
    "as much is taken as may wait",
    async () => (await taken()) > 4,
    async () => await taken(),
  );
  expect(await taken()).toBeLessThan(30); // Of 46 pieces.
  await Bun.spawn(["sh", "-c", "echo go > gate"], { cwd: made.spec.cwd }).exited;
  expect((await answer).ok).toBe(true);
  await other.hears(new Bun.CryptoHasher("md5").update(text).digest("hex"));
});

test("a program that gave its terminal up is typed to all the same", async () => {
  const giveUp =
    // TIOCNOTTY
    '$SIG{HUP} = "IGNORE"; ioctl(STDIN, 0x5422, 0) or die; $| = 1; print "ready\\n"; print "got " . <STDIN>;';
  const { ear } = await terminal(["perl", "-e", giveUp]);
  await ear.hears("ready");
  await ear.type("hello\n");
  await ear.hears("got hello");
});

test("the size reaches the program, and follows the client that typed last", async () => {
  const made = await terminal(["sh", "-c", "stty -echo; while read -r line; do stty size; done"], {
    size: { cols: 100, rows: 40 },
  });
  const { ear } = made;
  await ear.type("\n");
  await ear.hears("40 100");
  const wide = await attach(made, { writer: "wide", size: { cols: 200, rows: 50 } });
  await wide.type("\n");
  await ear.hears("50 200");
  const small = await attach(made, { writer: "small", size: { cols: 60, rows: 20 } });
  await small.type("\n");
  await ear.hears("20 60");
  wide.client.resize({ cols: 201, rows: 51 }); // Not its turn: remembered.
  expect((await wide.status()).size).toEqual({ cols: 60, rows: 20 });
  await wide.type("\n");
  await wide.type("\n");
  await ear.hears("51 201");
  wide.client.close();
  await until(
    "the size goes back",
    async () => (await ear.status()).size.cols === 60,
    async () => (await ear.status()).size.cols,
  );
});

test("a signal goes to the job in front; one that ends, to the shell as well", async () => {
  const made = await terminal(["bash", "--norc", "--noprofile", "-i"], { env: { PATH: "/usr/bin:/bin", PS1: "$ " } });
  const { ear } = made;
  await ear.type("sleep 1000; echo code=$?\n");
  await until(
    "the job is in front",
    async () => (await jobs((await ear.status()).child?.pid ?? 0)) > 0,
    async () => await jobs((await ear.status()).child?.pid ?? 0),
  );
  ear.client.signal("SIGINT");
  await ear.type("echo on; sleep 2000\n");
  await ear.hears(/[\r\n]on\r\n/);
  ear.client.signal("SIGNOSUCH");
  await until(
    "an unknown signal is refused",
    () => ear.refusals.length === 1,
    () => ear.refusals.length,
  );
  ear.client.signal("SIGHUP");
  expect((await ear.hearsEnd()).signal).toBe("SIGHUP");
});

async function jobs(shell: number): Promise<number> {
  const found = await Bun.spawn(["ps", "--ppid", String(shell), "-o", "comm="], { stdout: "pipe" }).stdout.text();
  return found.split("\n").filter((name) => name === "sleep").length;
}
