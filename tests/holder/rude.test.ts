// Bad clients, and files that disappear: the holder and all other clients continue.
import { afterEach, expect, test } from "bun:test";
import { existsSync, unlinkSync, writeFileSync } from "node:fs";
import { encodeFrame } from "../../src/wire/holder/frames.ts";
import * as protocol from "../../src/wire/holder/protocol.ts";
import { until } from "../until.ts";
import { Rude, speak } from "./rude.ts";
import { attach, endAll, newTerminal, startHolder, terminal } from "./terminal.ts";

afterEach(endAll);

const hello = (changes: object): Uint8Array =>
  protocol.jsonFrame(protocol.HELLO, { v: 1, token: "a token of the tests", writer: "w", ...changes });

const RUBBISH: readonly (readonly [string, Uint8Array])[] = [
  ["text of another protocol", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
  ["a frame without a tag", Buffer.from([0, 0, 0, 0, 0])],
  ["a frame that is too large", Buffer.from([0, 16, 0, 1, 1])],
  ["something else before the hello", protocol.jsonFrame(protocol.STATUS, {})],
  ["a hello that is no JSON", encodeFrame(protocol.HELLO, Buffer.from("{"))],
  ["a hello that is no object", encodeFrame(protocol.HELLO, Buffer.from("7"))],
  ["a hello without a writer", protocol.jsonFrame(protocol.HELLO, { v: 1, token: "a token of the tests" })],
  ["a hello with a size of nothing", hello({ size: { cols: 0, rows: 24 } })],
  ["a hello with an offset that is none", hello({ from: -2 })],
  ["a hello and then a cut-off input", Buffer.concat([hello({}), encodeFrame(protocol.INPUT, Buffer.from("abc"))])],
  [
    "a hello and then a size that is none",
    Buffer.concat([hello({}), protocol.jsonFrame(protocol.RESIZE, { cols: "x" })]),
  ],
  [
    "a hello and then a signal that is none",
    Buffer.concat([hello({}), protocol.jsonFrame(protocol.SIGNAL, { signal: "9" })]),
  ],
];

test("garbage closes the connection it came from, and no other", async () => {
  const made = await terminal(["cat"]);
  for (const [what, bytes] of RUBBISH) {
    const rude = await Rude.connect(made);
    rude.say(bytes);
    await until(
      `${what} is closed`,
      () => rude.closed,
      () => rude.closed,
    );
  }
  await made.ear.type("fine\n");
  await made.ear.hears("fine");
  expect((await made.ear.status()).clients).toBe(1);
});

test("a wrong token is refused and closed, without any information", async () => {
  const made = await terminal(["cat"]);
  for (const token of ["", "a token of the tests ", "A TOKEN OF THE TESTS", "x".repeat(100_000)]) {
    const rude = await Rude.connect(made);
    rude.say(hello({ token, from: 0 }));
    rude.say(protocol.inputFrame(1, 1, Buffer.from("stolen\n")));
    await until(
      "it is closed",
      () => rude.closed,
      () => rude.closed,
    );
    expect({ answers: rude.answers, tags: rude.tags }).toEqual({
      answers: [{ refused: "holder.token", number: undefined }],
      tags: [protocol.REFUSED],
    });
  }
  await made.ear.type("mine\n");
  await made.ear.hears("mine");
  expect(made.ear.text).not.toContain("stolen");
});

test("unknown tags and fields are ignored: a newer client may know more", async () => {
  const made = await terminal(["cat"]);
  const rude = await Rude.connect(made);
  rude.say(hello({ v: 2, colour: "green" }));
  rude.say(encodeFrame(33, Buffer.from("anything")));
  rude.say(protocol.jsonFrame(protocol.STATUS, {}));
  await until(
    "it is answered",
    () => rude.tags.includes(protocol.STATUS_IS),
    () => rude.tags,
  );
  expect(rude.closed).toBe(false);
});

test("a frame that comes byte by byte is a frame", async () => {
  const made = await terminal(["cat"]);
  const rude = await Rude.connect(made);
  for (const byte of hello({})) {
    rude.say(Uint8Array.of(byte));
    await Promise.resolve();
  }
  await until(
    "it is welcomed",
    () => rude.tags.includes(protocol.WELCOME),
    () => rude.tags,
  );
});

test("the largest frame there is fits", async () => {
  const made = await terminal(["sh", "-c", "stty raw -echo; echo ready; head -c 1000000 | wc -c"]);
  await made.ear.hears("ready");
  const rude = await speak(made, { writer: "large" });
  rude.say(protocol.inputFrame(1, 1, Buffer.alloc(1_000_000, 65)));
  await made.ear.hears("1000000");
});

test("a nudge restores a deleted socket at once; attached clients notice nothing", async () => {
  const made = await terminal(["cat"]);
  await made.ear.type("one\n");
  unlinkSync(made.spec.socket);
  made.holder.kill("SIGHUP");
  await until(
    "it is there again",
    () => existsSync(made.spec.socket),
    () => `${made.spec.socket} exists: ${existsSync(made.spec.socket)}`,
  );
  const other = await attach(made, { writer: "other" });
  await made.ear.type("two\n");
  await other.hears("two");
  expect(made.ear.losses).toBe(0);
});

test("a holder that ends does not remove the socket of its successor", async () => {
  const made = await terminal(["sh", "-c", "read -r line"]);
  unlinkSync(made.spec.socket);
  writeFileSync(made.spec.socket, "a successor's");
  await made.ear.type("\n");
  await made.ear.hearsEnd();
  await made.holder.exited;
  expect(existsSync(made.spec.socket)).toBe(true);
});

test("a socket that a dead holder left behind is taken over", async () => {
  const made = newTerminal(["cat"]);
  const dead = Bun.spawn([
    process.execPath,
    "-e",
    "Bun.listen({ unix: process.argv[1], socket: { data() {} } }); process.kill(process.pid, 9)",
    made.spec.socket,
  ]);
  await dead.exited;
  expect(existsSync(made.spec.socket)).toBe(true);
  startHolder(made);
  await until(
    "a client is welcomed",
    () =>
      attach(made).then(
        () => true,
        () => false,
      ),
    () =>
      attach(made).then(
        () => true,
        () => false,
      ),
  );
});
