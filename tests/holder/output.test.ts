// Output: every byte once and in order, from wherever one attaches, however slowly one reads.
import { afterEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { until } from "../until.ts";
import { speak } from "./rude.ts";
import { attach, endAll, exitOf, memoryOf, newTerminal, startHolder, tapeOf, terminal } from "./terminal.ts";

afterEach(endAll);

test("NUL bytes and split UTF-8 come as they are", async () => {
  const bytes = Buffer.from([0, 1, 255, 0, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0, 0x98, 0x80, 0x80, 0xc3]);
  const script =
    "stty raw -echo; : > raw; read -r line; printf '\\000\\001\\377\\000\\342'; sleep 0.05; printf '\\202\\254\\360\\237\\000\\230\\200\\200\\303'";
  const made = await terminal(["sh", "-c", script]);
  const raw = join(made.spec.cwd, "raw");
  await until(
    "it echoes nothing",
    () => existsSync(raw),
    () => existsSync(raw),
  );
  await made.ear.type("\n");
  await made.ear.hearsEnd();
  expect(made.ear.bytes.toString("hex")).toBe(bytes.toString("hex"));
  expect(tapeOf(made).toString("hex")).toBe(bytes.toString("hex"));
});

test("a client that attaches while output flows, at any of six offsets, loses and duplicates nothing", async () => {
  const made = await terminal(["sh", "-c", "for i in $(seq 1 60); do seq $((i * 10000)) $((i * 10000 + 999)); done"]);
  await until(
    "some of it is there",
    () => (made.ear.client.offset ?? 0) > 20_000,
    () => made.ear.client.offset ?? 0,
  );
  const others = await Promise.all(
    [0, 1, 777, 20_000, -1, 1_000_000_000].map((from, at) => attach(made, { writer: `w${at}`, from })),
  );
  const { offset } = await made.ear.hearsEnd();
  await Promise.all(others.map((ear) => ear.hearsEnd()));
  const tape = tapeOf(made);
  expect(tape.length).toBe(offset);
  for (const ear of [made.ear, ...others]) {
    const start = ear.chunks[0]?.offset ?? offset;
    expect(ear.holes).toEqual([]);
    expect(ear.bytes.equals(tape.subarray(start))).toBe(true);
  }
  expect(others.slice(0, 4).map((ear) => ear.chunks[0]?.offset)).toEqual([0, 1, 777, 20_000]);
  expect(others[5]?.resyncs).toHaveLength(1); // It asked for a place that has never been.
});

test("a connection that wants no output gets none, and is still notified of the end", async () => {
  const made = newTerminal(["sh", "-c", "read -r line; echo $line; exit 9"]);
  startHolder(made);
  const ear = await attach(made);
  const control = await speak(made, { writer: "control" });
  await ear.type("done\n");
  expect((await ear.hearsEnd()).code).toBe(9);
  await until(
    "its connection is closed",
    () => control.closed,
    () => control.closed,
  );
  expect({ bytes: control.bytes, last: control.tags.at(-1) }).toEqual({ bytes: 0, last: 68 });
});

test("a client that does not read costs a bounded amount of memory, and delays no other", async () => {
  const made = newTerminal(["sh", "-c", "stty -opost; read -r go; head -c 60000000 /dev/zero; read -r go"]);
  const holder = startHolder(made);
  const ear = await attach(made);
  const deaf = await speak(made, { writer: "deaf", from: 0 });
  deaf.sleep();
  const before = memoryOf(holder.pid, "VmRSS");
  await ear.type("\n");
  await until(
    "the other client has everything",
    () => (ear.client.offset ?? 0) >= 60_000_000,
    () => ear.client.offset ?? 0,
  );
  expect(memoryOf(holder.pid, "VmRSS") - before).toBeLessThan(60_000);
  expect(deaf.bytes).toBeLessThan(4_000_000);
  expect(ear.holes).toEqual([]);
  deaf.wake();
  await until(
    "the slow client has everything too",
    () => deaf.bytes >= 60_000_000,
    () => deaf.bytes,
  );
  await ear.type("\n");
  await ear.hearsEnd();
  await until(
    "the client is notified of the end",
    () => deaf.tags.at(-1) === 68,
    () => deaf.tags.at(-1),
  );
  expect(deaf.tags).not.toContain(69);
});

test("a slow client whose place has left the bounded tape is resynced", async () => {
  const tape = { segmentBytes: 1 << 20, maxBytes: 4 << 20 };
  const made = newTerminal(["sh", "-c", "stty -opost; read -r go; head -c 30000000 /dev/zero; echo done; read -r go"], {
    tape,
  });
  startHolder(made);
  const ear = await attach(made);
  const deaf = await speak(made, { writer: "deaf", from: 0 });
  deaf.sleep();
  await ear.type("\n");
  await ear.hears("done");
  deaf.wake();
  await until(
    "the deaf client is resynchronised",
    () => deaf.tags.includes(69),
    () => deaf.tags,
  );
  const { tape: kept } = await ear.status();
  expect(kept.end - kept.start).toBeLessThanOrEqual(5 << 20);
  const late = await attach(made, { writer: "late", from: 0 });
  await until(
    "a late one gets what is left",
    () => late.client.offset === kept.end,
    () => late.client.offset,
  );
  expect(late.resyncs).toEqual([kept.start]);
  expect(late.holes).toEqual([]);
});

test("the tape is synced while output continues, and a second read finds it whole", async () => {
  const made = await terminal(["sh", "-c", "echo one; read -r go; echo two; exit 1"]);
  await made.ear.hears("one");
  expect(tapeOf(made).toString()).toBe("one\r\n");
  await made.ear.type("\n");
  const exit = await made.ear.hearsEnd();
  expect(tapeOf(made).length).toBe(exit.offset);
  expect(exitOf(made)?.offset).toBe(exit.offset);
  expect(made.directory).toBe(join(made.spec.cwd, "t"));
});

test("status reports everything there is to know", async () => {
  const made = await terminal(["sh", "-c", "printf hello; exec sleep 1000"], { generation: 3 });
  await made.ear.hears("hello");
  const other = await attach(made, { writer: "other" });
  const status = await other.status();
  expect(status).toMatchObject({ v: 1, generation: 3, mode: "pty", pid: made.holder.pid, clients: 2, consumed: 0 });
  expect(status).toMatchObject({ tape: { start: 0, end: 5, gaps: 0 }, writers: {}, exit: null, trouble: null });
  expect(status.child?.pid).toBeGreaterThan(0);
  expect(Date.parse(status.lastOutputAt ?? "")).toBeGreaterThanOrEqual(Date.parse(status.startedAt) - 1000);
});
