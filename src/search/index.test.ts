// Claims about the index, on a simulated disk: what is found with it, without it, and after every crash.
import { expect, test } from "bun:test";
import { SimClock } from "../../tests/sim/clock.ts";
import { SimDisk } from "../../tests/sim/disk.ts";
import { everyCrash } from "../../tests/sim/every-crash.ts";
import { everything } from "../../tests/sim/survive.ts";
import { writeAtomic } from "../log/file/atomic-file.ts";
import { Tape } from "../log/tape/tape.ts";
import { TimeLog } from "../log/tape/time-log.ts";
import type { IndexOrder } from "../wire/search.ts";
import type { Disk } from "../world/disk.ts";
import { crc32 } from "../world/hash.ts";
import { Finder } from "./finder.ts";
import { GroupFile } from "./group-file.ts";
import { indexPath, listIndex } from "./index-files.ts";
import { Indexer } from "./indexer.ts";

const HOME = "/h";
const ORDER: IndexOrder = { home: HOME, maxBytes: 64 << 20, check: 0, skip: [] };
const LIMITS = { segmentBytes: 100_000, maxBytes: 10 << 20, home: HOME };
const LINE = 50;

/** A terminal that printed lines with a number, one a second. */
class Printed {
  readonly #tape: Tape;
  readonly #times: TimeLog;
  #lines = 0;

  constructor(disk: Disk, id: string) {
    if (disk.stat(HOME) === undefined) disk.makeDirectory(HOME);
    const directory = `${HOME}/terminals/${id}/tape`;
    this.#tape = Tape.open(disk, directory, LIMITS);
    this.#times = new TimeLog(disk, directory, this.#tape.end);
  }

  /** `atOnce`: as many lines have the same time. */
  print(count: number, word = "line", atOnce = 1): void {
    for (let n = 0; n < count; n += atOnce) {
      const lines = Array.from({ length: atOnce }, () => {
        this.#lines += 1;
        return `${`\u001b[32m${word}${this.#lines}end\u001b[m`.padEnd(LINE - 2, ".")}\r\n`;
      });
      const offset = this.#tape.append(Buffer.from(lines.join("")));
      this.#times.note({ offset, time: this.#lines * 1000 }, this.#tape.lastSegment, this.#tape.start);
    }
  }

  async close(): Promise<void> {
    await this.#tape.sync();
    this.#tape.close();
    this.#times.close();
  }
}

async function printed(disk: Disk, id: string, count: number, word?: string, atOnce?: number): Promise<void> {
  const terminal = new Printed(disk, id);
  terminal.print(count, word, atOnce);
  await terminal.close();
}

async function index(disk: Disk, more: Partial<IndexOrder> = {}): Promise<readonly string[]> {
  const damaged: string[] = [];
  const indexer = new Indexer(
    { disk, clock: new SimClock(), collect: () => undefined },
    { ...ORDER, ...more },
    (said) => {
      damaged.push(...said.damaged);
    },
  );
  await indexer.run();
  return damaged;
}

function find(disk: Disk, words: readonly string[], skip: readonly string[] = []) {
  const finder = new Finder({ disk, home: HOME }, { op: "find", words, kinds: [], limit: 10, skip });
  const hits = [...finder.lines()].flatMap((hit) => hit ?? []);
  return { hits, damaged: finder.damaged(), texts: hits.map(({ text }) => text.replace(/\.+$/, "")) };
}

const files = (disk: Disk) => listIndex(disk, HOME).files;
const bytesOf = (disk: Disk) =>
  files(disk).reduce((sum, { name }) => sum + (disk.stat(indexPath(HOME, name))?.size ?? 0), 0);

test("FD1 lines of several terminals come newest first, the same with an index, with a part of one, and without", async () => {
  const disk = new SimDisk();
  await printed(disk, "a", 3000);
  await printed(disk, "b", 4000);
  const bare = find(disk, ["LINE", "99end"]);
  expect(bare.hits.map(({ at }) => at)).toEqual(
    bare.hits
      .map(({ at }) => at)
      .toSorted()
      .reverse(),
  );
  expect(bare.hits).toHaveLength(70);
  await index(disk);
  expect(files(disk).reduce((sum, { from, to }) => sum + to - from, 0)).toBe(7000 * LINE);
  expect(find(disk, ["line", "99end"]).hits).toEqual(bare.hits);
  disk.unlink(indexPath(HOME, files(disk)[0]?.name ?? ""));
  await index(disk);
  expect(find(disk, ["line", "99end"]).hits).toEqual(bare.hits);
  expect(find(disk, ["line", "nothing"]).hits).toEqual([]);
  expect(find(disk, ["line"], ["b"]).hits.every(({ id }) => id === "a")).toBe(true);
});

/** A run whose attempts printed these lines; each has ended, unless it is the last and `isRunning`. */
async function ran(disk: Disk, attempts: readonly (readonly string[])[], isRunning = false): Promise<void> {
  if (disk.stat(HOME) === undefined) disk.makeDirectory(HOME);
  const session = `${HOME}/state/repo/sessions/r1`;
  const entries: readonly (readonly [event: string, data: object])[] = [
    ["workflow.created", { name: "story" }],
    ...attempts
      .slice(0, isRunning ? -1 : undefined)
      .map((_, at) => ["workflow.attempt.ended", { attempt: `r1.${at + 1}`, output: `the end of ${at + 1}` }] as const),
  ];
  for (const [at, lines] of attempts.entries()) {
    const directory = `${session}/attempts/${at + 1}`;
    for (const [name, text] of [
      ["tape", lines.join("\n")],
      ["stderr-tape", `complaint of ${at + 1}\n`],
    ] as const) {
      const tape = Tape.open(disk, `${directory}/${name}`, LIMITS);
      tape.append(Buffer.from(`${text}\n`));
      await tape.sync();
      tape.close();
    }
    if (at < entries.length - 1) await writeAtomic(disk, `${directory}/exit.json`, Buffer.from("{}"));
  }
  const lines = entries.map(([event, data], at) => {
    const head = { seq: at + 1, prev: at, session_id: "r1", ts: new Date(at * 1000).toISOString(), event, data };
    const text = JSON.stringify(head).slice(0, -1);
    return `${text},"sum":"${crc32(Buffer.from(text)).toString(16).padStart(8, "0")}"}\n`;
  });
  await writeAtomic(disk, `${session}/events.jsonl`, Buffer.from(lines.join("")));
}

test("ST1 all that steps printed is found with the attempt, once, with an index or without; so is what still runs", async () => {
  const disk = new SimDisk();
  const long = Array.from({ length: 9000 }, (_, n) => `line ${n} of the build`); // Three blocks.
  await ran(disk, [["needle one", ...long, "the end of 1"], ["needle two", "the end of 2"], ["needle three"]], true);
  const looks = () => ({
    needles: find(disk, ["needle"]).hits.map(({ text, attempt, kind, id }) => [kind, id, attempt, text]),
    middle: find(disk, ["line 4500 of"]).texts,
    ends: find(disk, ["the end of"]).texts.toSorted(),
    stderr: find(disk, ["complaint"])
      .hits.map(({ attempt }) => attempt)
      .toSorted(),
  });
  const bare = looks();
  expect(bare.needles.toSorted()).toEqual([
    ["run", "r1", 1, "needle one"],
    ["run", "r1", 2, "needle two"],
    ["run", "r1", 3, "needle three"],
  ]);
  expect(bare).toMatchObject({ middle: ["line 4500 of the build"], ends: ["the end of 1", "the end of 2"] });
  expect(bare.stderr).toEqual([1, 2, 3]);
  await index(disk);
  expect(
    files(disk)
      .map(({ kind }) => kind)
      .toSorted(),
  ).toEqual(["runs", "steps"]);
  expect(looks()).toEqual(bare);
  const blocks = files(disk).filter(({ kind }) => kind === "steps");
  expect(blocks).toHaveLength(1);
  expect(find(disk, ["needle"], ["r1"]).hits).toEqual([]);
});

test("a hit names the offset behind its line, and the time at which that came", async () => {
  const disk = new SimDisk();
  await printed(disk, "a", 3000);
  await index(disk);
  expect(find(disk, ["line1234end"]).hits).toMatchObject([
    { kind: "terminal", id: "a", position: 1234 * LINE - 1, at: new Date(1_234_000).toISOString() },
  ]);
});

test("FD2 only blocks that may have the word are read", async () => {
  const disk = new SimDisk();
  await printed(disk, "a", 20_000);
  await index(disk);
  let read = 0;
  disk.onCall = ({ operation, path, length }) => {
    if (operation === "read" && path.endsWith(".seg")) read += length;
  };
  expect(find(disk, ["line7777end"]).texts).toEqual(["line7777end"]);
  disk.onCall = undefined;
  expect(read).toBeLessThan(300_000);
});

test("IN2 the index stays below its limit, the oldest goes first, and is not made again with every run", async () => {
  const disk = new SimDisk();
  const limit = { maxBytes: 400_000 };
  await printed(disk, "a", 200_000, "line", 500);
  await printed(disk, "b", 200_000, "line", 250);
  await index(disk, limit);
  expect(bytesOf(disk)).toBeLessThanOrEqual(limit.maxBytes);
  expect(bytesOf(disk)).toBeGreaterThan(limit.maxBytes / 4);
  const kept = files(disk);
  expect(Math.max(...kept.map(({ to }) => to))).toBe(200_000 * LINE);
  expect(kept.reduce((sum, { from, to }) => sum + to - from, 0)).toBeLessThan(300_000 * LINE);
  let writes = 0;
  disk.onCall = ({ operation }) => {
    if (operation === "write") writes += 1;
  };
  await index(disk, limit);
  disk.onCall = undefined;
  expect([writes, files(disk)]).toEqual([0, kept]);
  await index(disk, { maxBytes: 0 });
  expect(files(disk)).toEqual([]);
});

test("IN3 if a tape lost its end and was written on, its new lines are found", async () => {
  const disk = new SimDisk();
  await printed(disk, "a", 3000);
  await index(disk);
  const [segment = ""] = disk.list(`${HOME}/terminals/a/tape`).sort().reverse();
  const file = disk.open(`${HOME}/terminals/a/tape/${segment}`, "write");
  file.truncate(10_000);
  file.close();
  await printed(disk, "a", 2000, "other");
  await index(disk);
  for (const word of ["other500end", "other1500end"]) expect(find(disk, [word]).texts).toEqual([word]);
  expect(find(disk, ["line2999end"]).texts).toEqual([]);
});

test("GF2 a damaged byte is noticed wherever it is: the line is still found, and the file is made again", async () => {
  const start = new SimDisk();
  await printed(start, "a", 3000);
  await index(start);
  const [{ name } = { name: "" }] = files(start);
  const path = indexPath(HOME, name);
  const size = start.stat(path)?.size ?? 0;
  for (let at = 0; at < size; at += Math.max(1, Math.floor(size / 29))) {
    const disk = start.fork();
    const file = disk.open(path, "write");
    const byte = new Uint8Array(1);
    file.read(byte, at);
    file.write(Uint8Array.of((byte[0] ?? 0) ^ 0x41), at);
    file.close();
    expect(find(disk, ["line", "1234end"]).texts).toEqual(["line1234end"]);
    expect(await index(disk, { check: 1 })).toEqual([name]);
    expect(find(disk, ["line", "1234end"]).damaged).toEqual([]);
    expect(files(disk)).toEqual(files(start));
  }
});

test("IN2 what is gone takes its index along, and so does what is not to be searched", async () => {
  const disk = new SimDisk();
  await printed(disk, "a", 3000);
  await printed(disk, "b", 3000);
  await index(disk);
  await index(disk, { skip: ["a"] });
  expect(new Set(files(disk).map(({ id }) => id))).toEqual(new Set(["b"]));
});

test("IN1 killed or without power at any call, everything is found, in this life and after the next run", async () => {
  const start = new SimDisk();
  await printed(start, "a", 3000);
  await printed(start, "b", 1500);
  await index(start);
  await printed(start, "a", 2000, "later");
  const check = async (disk: SimDisk) => {
    expect(find(disk, ["later", "77end"]).texts.length).toBe(20);
    await index(disk, { check: 1 });
    await printed(disk, "a", 10, "second");
    await index(disk);
    expect(find(disk, ["later", "77end"]).texts.length).toBe(20);
    expect([find(disk, ["second7end"]).texts, find(disk, ["line1499end"]).texts.length]).toEqual([["second7end"], 2]);
    expect(listIndex(disk, HOME).useless).toEqual(["lock"]);
  };
  const live = async (disk: SimDisk) => void (await index(disk));
  const calm = start.powerCut(everything);
  const survived = await everyCrash({
    start: calm,
    nothingPromised: 0,
    randomEndings: 3,
    takesLong: true,
    live,
    check,
  });
  expect(survived).toBeGreaterThan(20);
});

test("GF2 no bytes make a file of the index that is believed", () => {
  const disk = new SimDisk();
  disk.makeDirectory("/x");
  const contents = [
    "",
    "holdfast-search 1 512 0 00000000\n",
    "holdfast-search 2 512 2 00000000\n{}",
    "\0".repeat(5000),
  ];
  for (const [number, content] of contents.entries()) {
    const file = disk.open(`/x/${number}`, "create");
    if (content !== "") file.write(Buffer.from(content), 0);
    file.close();
    expect(GroupFile.open(disk, `/x/${number}`)).toBeUndefined();
  }
  expect(GroupFile.open(disk, "/x/none")).toBe("gone");
});
