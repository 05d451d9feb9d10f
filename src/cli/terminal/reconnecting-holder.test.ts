import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault } from "../../base/fault.ts";
import { type HeldDirectory, tapeDirectory } from "../../home/held/holder-files.ts";
import { Tape } from "../../log/tape/tape.ts";
import { ENDED, type HolderStatus, jsonFrame, outputFrame, WELCOME } from "../../wire/holder/protocol.ts";
import { realSockets } from "../../world/real/socket.ts";
import type { ConnectionEvents, Sockets } from "../../world/socket.ts";
import { realWorld } from "../../world/world.ts";
import { ReconnectingHolder } from "./reconnecting-holder.ts";

const world = realWorld();
const scratch = mkdtempSync(join(tmpdir(), "holder-line-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const EXIT = { v: 1, generation: 1, code: 3, signal: null, bootId: "b", offset: 10, at: "2026-01-02T03:04:05.678Z" };
const SPEC = {
  v: 1,
  id: "3f2a9c0d11224e55a6677889900aabbc",
  generation: 1,
  mode: "pty",
  argv: ["sh"],
  cwd: "/",
  env: {},
  size: { cols: 80, rows: 24 },
  token: "t",
  socket: join(scratch, "nobody.sock"),
  tape: { segmentBytes: 1 << 16, maxBytes: 1 << 20 },
};
const STATUS: HolderStatus = {
  v: 1,
  generation: 1,
  mode: "pty",
  pid: 1,
  child: null,
  startedAt: EXIT.at,
  tape: { start: 0, end: 10, gaps: 0 },
  consumed: 0,
  size: SPEC.size,
  clients: 1,
  lastOutputAt: EXIT.at,
  writers: {},
  exit: EXIT,
  trouble: null,
};

/** A terminal whose program has printed "0123456789" and exited with 3. */
function endedPlace(name: string): HeldDirectory {
  const place = { disk: world.disk, directory: join(scratch, name) };
  const tape = Tape.open(world.disk, tapeDirectory(place), { ...SPEC.tape, home: scratch });
  tape.append(Buffer.from("0123456789"));
  tape.close();
  writeFileSync(join(place.directory, "holder.json"), JSON.stringify(SPEC));
  writeFileSync(join(place.directory, "exit.json"), JSON.stringify(EXIT));
  return place;
}

async function heard(sockets: Sockets, place: HeldDirectory, from: number) {
  let said = "";
  const line = new ReconnectingHolder(
    { ...world, sockets },
    place,
    { writer: "w", from },
    {
      output: (offset, bytes) => {
        said += `${offset}:${Buffer.from(bytes).toString()} `;
      },
    },
  );
  line.open();
  const end = await line.ended;
  return { said, code: end.kind === "ended" ? end.exit.code : undefined };
}

/** A holder that sends this, piece by piece, and disconnects. */
function holderSaying(...pieces: readonly Uint8Array[]): Sockets {
  let events: ConnectionEvents | undefined;
  const speak = ([piece, ...rest]: readonly Uint8Array[]): void => {
    if (piece === undefined) events?.closed();
    else events?.bytes(piece);
    if (piece !== undefined) world.clock.soon(() => speak(rest));
  };
  const nothing = () => undefined;
  return {
    ...realSockets(),
    connect: async (path, theirs) => {
      if (events !== undefined) throw new Fault({ code: "ECONNREFUSED", operation: "connect", path });
      events = theirs;
      world.clock.soon(() => speak(pieces));
      const wire = { waiting: 0, send: nothing, flush: nothing, pause: nothing, resume: nothing };
      return { ...wire, end: nothing, destroy: nothing };
    },
  };
}

const welcome = jsonFrame(WELCOME, STATUS);
const first = outputFrame(0, Buffer.from("0123"));
const rest = outputFrame(4, Buffer.from("456789"));

describe("all output of a program is delivered before its end (HL4)", () => {
  test("from the tape if its holder was already gone", async () => {
    const place = endedPlace("gone");
    expect(await heard(realSockets(), place, 0)).toEqual({ said: "0:0123456789 ", code: 3 });
    expect(await heard(realSockets(), place, 7)).toEqual({ said: "7:789 ", code: 3 });
  });

  test("the rest, and nothing twice, if its holder disappears while sending", async () => {
    const sockets = holderSaying(welcome, first);
    expect(await heard(sockets, endedPlace("going"), 0)).toEqual({ said: "0:0123 4:456789 ", code: 3 });
  });

  test("also the output that a holder sends after it has reported the end", async () => {
    const sockets = holderSaying(welcome, first, rest, jsonFrame(ENDED, EXIT));
    expect(await heard(sockets, endedPlace("welcome"), 0)).toEqual({ said: "0:0123 4:456789 ", code: 3 });
  });
});

test("HL2 output is delivered after `joined`, even if both arrive together", async () => {
  const told: string[] = [];
  const sockets = holderSaying(Buffer.concat([welcome, first]), jsonFrame(ENDED, EXIT));
  const line = new ReconnectingHolder(
    { ...world, sockets },
    endedPlace("together"),
    { writer: "w", from: 0 },
    { joined: () => void told.push("joined"), output: (offset) => void told.push(`output ${offset}`) },
  );
  line.open();
  await line.ended;
  expect(told.slice(0, 2)).toEqual(["joined", "output 0"]);
});

test("HL3 a holder that is gone without an exit may be followed by another: its end is waited for", async () => {
  const place = endedPlace("followed");
  rmSync(join(place.directory, "exit.json"));
  const claim = { v: 1, generation: 1, by: "holder", pid: 2 ** 22 + 1, startTime: 1, bootId: "b", at: EXIT.at };
  writeFileSync(join(place.directory, "claim.json"), JSON.stringify(claim));
  let tries = 0;
  const connect: Sockets["connect"] = async (path) => {
    tries += 1;
    if (tries === 3) writeFileSync(join(place.directory, "exit.json"), JSON.stringify(EXIT));
    throw new Fault({ code: "ECONNREFUSED", operation: "connect", path });
  };
  expect(await heard({ ...realSockets(), connect }, place, 0)).toEqual({ said: "0:0123456789 ", code: 3 });
});
