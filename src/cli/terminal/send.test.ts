// What `send` reports if the program ends meanwhile, with a scripted holder.
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { holderSocket } from "../../home/held/holder-files.ts";
import { FrameReader } from "../../wire/holder/frames.ts";
import * as protocol from "../../wire/holder/protocol.ts";
import { realSockets } from "../../world/real/socket.ts";
import { realWorld } from "../../world/world.ts";
import { typeInto } from "./send.ts";

const EXIT = { v: 1, generation: 1, code: 9, signal: null, bootId: "b", offset: 0, at: "2026-01-01T00:00:00.000Z" };
const STATUS = {
  ...{ v: 1, generation: 1, mode: "pty", pid: 1, child: null, startedAt: EXIT.at, consumed: 0, clients: 1 },
  ...{ tape: { start: 0, end: 0, gaps: 0 }, size: { cols: 80, rows: 24 }, lastOutputAt: null, writers: {} },
  ...{ exit: null, trouble: null },
};
const cleanups: (() => void)[] = [];
/** The names under which each `send` numbered its input. */
const writers: string[] = [];
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean();
});

/** A holder that welcomes, and answers the first input with these frames in one piece. */
function holderSaying(...frames: readonly Uint8Array[]): string {
  const home = mkdtempSync("/tmp/hfs-");
  const directory = join(home, "terminals/t");
  mkdirSync(directory, { recursive: true });
  mkdirSync(join(home, "run"));
  const readers = new WeakMap<object, FrameReader>();
  const server = Bun.listen({
    unix: holderSocket(home, "t"),
    socket: {
      open: (socket) => void readers.set(socket, new FrameReader()),
      data: (socket, bytes) => {
        for (const { tag, payload } of readers.get(socket)?.push(bytes) ?? []) {
          if (tag === protocol.HELLO) writers.push(JSON.parse(Buffer.from(payload).toString()).writer);
          if (tag === protocol.HELLO) socket.write(protocol.jsonFrame(protocol.WELCOME, STATUS));
          if (tag === protocol.INPUT) socket.write(Buffer.concat(frames));
        }
      },
    },
  });
  const spec = { v: 1, id: "t", generation: 1, mode: "pty", argv: ["sh"], cwd: "/", env: {}, token: "x".repeat(32) };
  const more = { size: STATUS.size, socket: holderSocket(home, "t"), tape: { segmentBytes: 4096, maxBytes: 65_536 } };
  writeFileSync(join(directory, "holder.json"), JSON.stringify({ ...spec, ...more }));
  cleanups.push(() => {
    server.stop(true);
    rmSync(home, { recursive: true });
  });
  return home;
}

const typed = (home: string) =>
  typeInto({ ...realWorld(), sockets: realSockets() }, { home, id: "t", name: "t" }, Buffer.from("go\r"));
const taken = protocol.numberFrame(protocol.INPUT_TAKEN, 1);
const over = protocol.jsonFrame(protocol.ENDED, EXIT);

test("SD3 input taken before the program ended was sent, even if both arrive together", async () => {
  expect(await typed(holderSaying(taken, over))).toEqual({ ok: true, value: undefined });
});

test("SD2 input that was taken counts as sent; input that was not taken does not", async () => {
  expect(await typed(holderSaying(taken))).toEqual({ ok: true, value: undefined });
  expect(await typed(holderSaying(over))).toMatchObject({ ok: false, error: { code: "not-running" } });
});

test("SD1 each call has a name of its own: a later text is not taken for a repeat of an earlier one", async () => {
  writers.length = 0;
  const home = holderSaying(taken);
  await typed(home);
  await typed(home);
  expect(writers.map((name) => name.startsWith("send-"))).toEqual([true, true]);
  expect(new Set(writers).size).toBe(2);
});
