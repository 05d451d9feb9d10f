// Whole files gone, emptied or replaced, and lines of a session's log removed, duplicated or swapped: the log opens,
// reports what is gone, keeps what it set aside, and every other session is complete (damage-check.ts has the claims).
import { describe, expect, test } from "bun:test";
import { removeTree } from "../../../src/log/file/file.ts";
import { QUARANTINE_DIRECTORY } from "../../../src/log/file/quarantine.ts";
import { readWal, type WalFile } from "../../../src/log/wal/wal-files.ts";
import type { SimDisk } from "../disk.ts";
import { SimRandom } from "../random.ts";
import { examine, expectedOf, looksLikeTheEnd, type Outcome, openOn } from "./damage-check.ts";
import { AWAIT, append, DRAIN, type Home, homeAfter, MID_LIFE, pathsOf } from "./damage-home.ts";
import { HISTORIES } from "./histories.ts";
import { HOME, type Memory, type Step } from "./life.ts";
import { ensure } from "./oracle.ts";

/** More in the session logs than in the write-ahead log; sessions 1 to 4 have entries in both. */
const LONG: readonly Step[] = [
  ...(HISTORIES["segments filled and used again"] ?? []),
  DRAIN,
  append([1, 2], 10),
  append([3, 4], 10),
  AWAIT,
  DRAIN,
  ...MID_LIFE,
];

const GARBAGE: Readonly<Record<string, Uint8Array>> = {
  "is empty": new Uint8Array(0),
  "is noise": new SimRandom(3).bytes(1500),
  "is one long line of text": new TextEncoder().encode("what is this? ".repeat(200)),
  "is nothing but newlines": new Uint8Array(40).fill(10),
  "is zeros": new Uint8Array(2048),
};

/** Every session but `harmed` has all that was acknowledged for it, and none of them is frozen. */
function othersAreWhole({ log, missing }: Outcome, harmed: string): void {
  expect(missing.filter(({ session }) => session !== harmed)).toEqual([]);
  expect(log.report.frozen.map(({ session }) => session).filter((session) => session !== harmed)).toEqual([]);
}

const sessionOf = (path: string): string => path.slice(HOME.length + 1, path.lastIndexOf("/"));

/** The segment that was written last. */
function newestSegment(disk: SimDisk): string {
  const newest = readWal(disk.fork(), HOME).files.toSorted((a, b) => genOf(b) - genOf(a))[0];
  ensure(newest !== undefined, "there is a segment");
  return newest.path;
}

const genOf = ({ scan }: WalFile): number => scan.frames.reduce((top, { gen }) => Math.max(top, gen), 0);

describe("a file of the write-ahead log", () => {
  for (const [what, bytes] of Object.entries(GARBAGE)) {
    test(`that ${what}: the log opens, and nothing vanishes silently`, async () => {
      for (const steps of [MID_LIFE, LONG]) {
        const { disk, memory } = await homeAfter(steps);
        const leavesNoTrace = bytes.every((byte) => byte === 0);
        for (const path of pathsOf(disk, "/wal/")) {
          if (leavesNoTrace && path === newestSegment(disk)) continue; // See the limits below.
          const harmed = disk.fork();
          harmed.plant(path, bytes);
          await examine(harmed, memory);
        }
      }
    });
  }

  test("that does not belong there is harmless, and its content is set aside", async () => {
    const { disk, memory } = await homeAfter(MID_LIFE);
    disk.plant(`${HOME}/wal/99999999.wal`, GARBAGE["is noise"] ?? new Uint8Array(1));
    disk.plant(`${HOME}/wal/notes.txt`, new TextEncoder().encode("mine"));
    disk.plant(`${HOME}/wal/00000009.wal.12345678-0.tmp`, new TextEncoder().encode("half"));
    const { missing, log } = await examine(disk, memory);
    expect(missing).toEqual([]);
    expect(log.report.quarantined.length).toBeGreaterThan(0);
    expect(disk.peek(`${HOME}/wal/notes.txt`)).toBeDefined();
    expect(disk.peek(`${HOME}/wal/00000009.wal.12345678-0.tmp`)).toBeUndefined();
  });

  test("that is gone: nothing vanishes in silence", async () => {
    for (const steps of [MID_LIFE, LONG]) {
      const { disk, memory } = await homeAfter(steps);
      for (const path of pathsOf(disk, "/wal/")) {
        if (path === newestSegment(disk)) continue; // See the limits below.
        const harmed = disk.fork();
        harmed.unlink(path);
        await examine(harmed, memory);
      }
    }
  });

  test("that is zeros behind its first line: reported, because the session logs reach further", async () => {
    const { disk, memory } = await homeAfter([append([1, 2], 10), AWAIT, DRAIN, append([3], 10), AWAIT]);
    for (const path of pathsOf(disk, "/wal/")) {
      const bytes = Buffer.from(disk.peek(path) ?? []);
      disk.plant(path, bytes.fill(0, bytes.indexOf("\n") + 1));
    }
    const { log, missing } = await examine(disk, memory);
    expect(missing.map(({ seq }) => seq)).toEqual([3]);
    expect(log.report.walMissing).toBe(true);
  });

  test("all of them gone, or their directory: reported, and everything in the session logs is there", async () => {
    for (const steps of [MID_LIFE, LONG]) {
      const { disk, memory } = await homeAfter(steps);
      for (const path of pathsOf(disk, "/wal/")) disk.unlink(path);
      const gone = disk.fork();
      gone.removeDirectory(`${HOME}/wal`);
      for (const harmed of [disk, gone]) {
        const { log } = await examine(harmed, memory);
        expect(log.report.walMissing).toBe(true);
      }
    }
  });
});

/** Sessions whose last entries the write-ahead log still has. */
const FOLLOWED = ["agents/0001", "agents/0002", "agents/0003", "agents/0004"];
const followed = (disk: SimDisk): string[] =>
  pathsOf(disk, "/events").filter((path) => FOLLOWED.includes(sessionOf(path)));

describe("a session's log", () => {
  for (const [what, bytes] of Object.entries(GARBAGE)) {
    test(`that ${what}: that session is reported, and every other one is whole`, async () => {
      for (const steps of [MID_LIFE, LONG, [...LONG, DRAIN]]) {
        const { disk, memory } = await homeAfter(steps);
        for (const path of bytes.length === 0 ? followed(disk) : pathsOf(disk, "/events")) {
          const harmed = disk.fork();
          harmed.plant(path, bytes);
          othersAreWhole(await examine(harmed, memory), sessionOf(path));
        }
      }
    });
  }

  test("that is gone, or its directory: that session is reported, and every other one is whole", async () => {
    for (const steps of [MID_LIFE, LONG, [...LONG, DRAIN]]) {
      const { disk, memory } = await homeAfter(steps);
      for (const path of followed(disk)) {
        const harmed = disk.fork();
        const directory = path.slice(0, path.lastIndexOf("/"));
        harmed.unlink(path);
        await harmed.syncDirectory(directory); // It does not come back.
        const bare = harmed.fork();
        removeTree(bare, directory);
        othersAreWhole(await examine(harmed, memory), sessionOf(path));
        othersAreWhole(await examine(bare, memory), sessionOf(path));
      }
    }
  });
});

describe("thousands of harmed lines", () => {
  for (const part of ["/wal/", "/events"]) {
    test(`in ${part} are set aside together, and do not keep the log from coming up`, async () => {
      const { disk } = await homeAfter(MID_LIFE);
      for (const path of pathsOf(disk, part)) disk.plant(path, new TextEncoder().encode("?\n\n".repeat(2000)));
      const log = await openOn(disk);
      expect(log.report.quarantined.length).toBeGreaterThan(0);
      expect(log.report.quarantined.length).toBeLessThan(10);
    });
  }
});

describe("known limits: what nothing on disk can tell of", () => {
  async function inSilence(disk: SimDisk, memory: Memory): Promise<void> {
    await expect(examine(disk, memory)).rejects.toThrow("is missing, and nothing tells of it");
  }

  test("the newest segment gone or empty, with entries above every mark that is left", async () => {
    const { disk, memory } = await homeAfter([...LONG, append([1], 400), AWAIT, append([2], 400), AWAIT]);
    const newest = newestSegment(disk);
    for (const bytes of [new Uint8Array(0), new Uint8Array(2048)]) {
      const harmed = disk.fork();
      harmed.plant(newest, bytes);
      await inSilence(harmed, memory);
    }
    disk.unlink(newest);
    await inSilence(disk, memory);
  });

  test("zeros in place of the last batch, or of its last frames", async () => {
    const { disk, memory } = await homeAfter([
      ...LONG,
      append([1], 40),
      AWAIT,
      append([2], 200),
      append([3], 200),
      AWAIT,
    ]);
    const frames = readWal(disk.fork(), HOME).view.live;
    for (const first of [-2, -1]) {
      const harmed = disk.fork();
      for (const { path, start, line } of frames.slice(first))
        for (const [at, byte] of [...line, 10].entries()) harmed.rot(path, start + at, byte);
      await inSilence(harmed.fork(), memory);
      const { path, start } = frames.at(first) ?? { path: "", start: 0 };
      expect(looksLikeTheEnd(harmed.peek(path), start)).toBe(true);
      expect((await examine(harmed, memory, "wiped")).missing.length).toBe(-first);
    }
  });

  test("a session's log gone, empty, or without its last lines, if the write-ahead log has nothing more of that session", async () => {
    const { disk, memory } = await homeAfter(LONG);
    const path = `${HOME}/agents/0000/events.jsonl`;
    for (const lines of [[], linesOf(disk, path).slice(0, -1)]) {
      const harmed = disk.fork();
      harmed.plant(path, new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")));
      await inSilence(harmed, memory);
    }
    disk.unlink(path);
    await inSilence(disk, memory);
  });
});

/** The lines of a session's log, without their framing. */
function linesOf(disk: SimDisk, path: string): string[] {
  return new TextDecoder().decode(disk.peek(path)).trimEnd().split("\n");
}

type Edit = (lines: readonly string[], at: number) => string[];
const EDITS: Readonly<Record<string, Edit>> = {
  removed: (lines, at) => lines.toSpliced(at, 1),
  doubled: (lines, at) => lines.toSpliced(at, 0, lines[at] ?? ""),
  "swapped with the next": (lines, at) => lines.toSpliced(at, 2, ...lines.slice(at, at + 2).toReversed()),
  "cut in the middle": (lines, at) => lines.toSpliced(at, 1, (lines[at] ?? "").slice(0, 40)),
  "joined with the next": (lines, at) => lines.toSpliced(at, 2, lines.slice(at, at + 2).join("")),
};

async function editEverywhere({ disk, memory }: Home, edit: Edit): Promise<number> {
  let edited = 0;
  for (const path of pathsOf(disk, "/events")) {
    const lines = linesOf(disk, path);
    const last = FOLLOWED.includes(sessionOf(path)) ? lines.length : lines.length - 1; // See the limits above.
    for (let at = 0; at < last; at += 1) {
      const harmed = disk.fork();
      harmed.plant(path, new TextEncoder().encode(`${edit(lines, at).join("\n")}\n`));
      try {
        othersAreWhole(await examine(harmed, memory, "moved"), sessionOf(path));
      } catch (error) {
        throw new Error(`${path}, line ${at + 1} of ${lines.length}: ${String(error)}`, { cause: error });
      }
      edited += 1;
    }
  }
  return edited;
}

describe("a line of a session's log", () => {
  for (const [what, edit] of Object.entries(EDITS)) {
    test(`that was ${what}: reading reports it, and every other session is whole`, async () => {
      for (const steps of [MID_LIFE, LONG, [...LONG, DRAIN]]) {
        expect(await editEverywhere(await homeAfter(steps), edit)).toBeGreaterThan(5);
      }
    });
  }
});

describe("what was set aside", () => {
  test("is in quarantine, byte by byte, with a note of where it was", async () => {
    const { disk, memory } = await homeAfter(LONG);
    const path = `${HOME}/agents/0001/events.jsonl`;
    const before = Buffer.from(disk.peek(path) ?? []);
    const at = before.lastIndexOf("tested");
    disk.rot(path, at, 1);
    const { log, missing } = await examine(disk.fork(), memory);
    const opened = await openOn(disk);
    expect(log.report.frozen.map(({ session }) => session)).toEqual(["agents/0001"]);
    expect(missing.length).toBeLessThan(expectedOf(memory).length);
    const kept = opened.report.quarantined.map((aside) => Buffer.from(disk.peek(aside) ?? []));
    const harmed = Buffer.from(before);
    harmed[at] = (harmed[at] ?? 0) ^ 1;
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.every((bytes) => harmed.includes(bytes))).toBe(true);
    const notes = disk.list(`${HOME}/${QUARANTINE_DIRECTORY}`).filter((name) => name.endsWith(".note.json"));
    expect(notes.length).toBe(kept.length);
  });
});
