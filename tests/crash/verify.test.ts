// `exercise verify` and the edges of `exercise run`: what verify accepts, what it reports, and that it changes nothing.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { takeLock } from "../../src/log/file/lock.ts";
import { sha256 } from "../../src/world/hash.ts";
import { realWorld } from "../../src/world/world.ts";
import { type Ack, lineOf, parseAcks } from "./acks.ts";
import { type Ended, exercise } from "./child.ts";
import { lockPath } from "./home.ts";

const scratch = mkdtempSync(join(tmpdir(), "holdfast-verify-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const finished = join(scratch, "finished");
const killed = join(scratch, "killed");
let acks = "";
let acksOfKilled = "";

beforeAll(async () => {
  acks = (await exercise(["run", finished, "--events", "300", "--seed", "7"])).out;
  acksOfKilled = (await exercise(["run", killed, "--events", "300"])).out;
  acksOfKilled += (await exercise(["run", killed, "--events", "100000", "--seed", "9"], { kind: "lines", count: 150 }))
    .out;
});

let copies = 0;

/** A copy to be harmed. */
function copyOf(home: string): string {
  copies += 1;
  const copy = join(scratch, `copy-${copies}`);
  cpSync(home, copy, { recursive: true });
  return copy;
}

async function verify(home: string, lines: string): Promise<Ended> {
  copies += 1;
  const file = join(scratch, `acks-${copies}`);
  writeFileSync(file, lines);
  return exercise(["verify", home, file]);
}

function filesBelow(home: string, ending = ""): string[] {
  const entries = readdirSync(home, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return paths.filter((path) => path.endsWith(ending)).sort();
}

function sumOf(home: string): string {
  return sha256(
    filesBelow(home)
      .map((path) => `${path} ${statSync(path).mtimeMs} ${sha256(readFileSync(path))}`)
      .join("\n"),
  );
}

/** The largest of them: it has lines in the middle. */
function largest(paths: readonly string[]): string {
  return paths.toSorted((a, b) => statSync(b).size - statSync(a).size)[0] ?? "";
}

function changeLines(path: string, change: (lines: string[]) => string[]): void {
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  writeFileSync(
    path,
    change(lines)
      .map((line) => `${line}\n`)
      .join(""),
  );
}

function flip(path: string, offset: number): void {
  const bytes = readFileSync(path);
  bytes[offset] = (bytes[offset] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

describe("verify", () => {
  test("finds everything in a directory that was finished, and in one whose writer was killed, and changes neither", async () => {
    for (const [home, lines] of [
      [finished, acks],
      [killed, acksOfKilled],
    ] as const) {
      const before = sumOf(home);
      expect(await verify(home, lines)).toMatchObject({ code: 0, out: "" });
      expect(sumOf(home)).toBe(before);
    }
  });

  test("passes over a torn last line, and over nothing else", async () => {
    expect(await verify(finished, `${acks}transaction 99999 seed 7 se`)).toMatchObject({ code: 0 });
    const torn = await verify(finished, `transaction 1 se\n${acks}`);
    expect(torn).toMatchObject({ code: 2, out: "" });
    expect(torn.err).toContain('line 1 is no acknowledgement: "transaction 1 se"');
  });

  test("an empty or missing directory keeps every promise if none was made, and breaks each that was", async () => {
    expect(await verify(join(scratch, "nowhere"), "")).toMatchObject({ code: 0 });
    expect(await verify(join(scratch, "nowhere"), acks)).toMatchObject({ code: 3, out: "" });
    expect(existsSync(join(scratch, "nowhere"))).toBe(false);
  });

  const events = (home: string) => largest(filesBelow(home, "events.jsonl"));
  const checkpoint = (home: string) => join(home, "recovery/checkpoint.json");
  const tapes = (home: string) => filesBelow(home, ".seg");
  const harms: readonly { readonly what: string; readonly says: string; readonly harm: (home: string) => void }[] = [
    {
      what: "a line lost from the middle",
      says: "is missing",
      harm: (home) => changeLines(events(home), (lines) => lines.toSpliced(3, 1)),
    },
    {
      what: "the last line lost",
      says: "is missing",
      harm: (home) => changeLines(events(home), (lines) => lines.slice(0, -1)),
    },
    {
      what: "a line twice",
      says: "stands there twice",
      harm: (home) => changeLines(events(home), (lines) => lines.toSpliced(3, 0, lines[3] ?? "")),
    },
    {
      what: "lines in another order",
      says: "twice",
      harm: (home) => changeLines(events(home), (lines) => lines.toReversed()),
    },
    { what: "a bit of a line", says: "a harmed line", harm: (home) => flip(events(home), 900) },
    { what: "a whole log", says: "is missing", harm: (home) => unlinkSync(events(home)) },
    { what: "a bit of a checkpoint", says: "do not match their SHA-256", harm: (home) => flip(checkpoint(home), 300) },
    { what: "an empty checkpoint", says: "the file is empty", harm: (home) => truncateSync(checkpoint(home)) },
    {
      what: "an older checkpoint in its place",
      says: "but the newest is",
      harm: (home) => copyFileSync(join(home, "recovery/checkpoint.backup.json"), checkpoint(home)),
    },
    {
      what: "no older checkpoints",
      says: "older ones should be kept, 0 are",
      harm: (home) => rmSync(join(home, "state/rock/sessions/checkpointed/history"), { recursive: true }),
    },
    {
      what: "a shorter tape",
      says: "bytes were acknowledged, but it ends at",
      harm: (home) => unlinkSync(tapes(home).at(-1) ?? ""),
    },
    {
      what: "a hole in the tape",
      says: "were acknowledged and are gone",
      harm: (home) => unlinkSync(tapes(home)[1] ?? ""),
    },
    {
      what: "another byte on the tape",
      says: "is not what was acknowledged",
      harm: (home) => flip(tapes(home)[1] ?? "", 10),
    },
  ];
  for (const { what, says, harm } of harms) {
    test(`reports ${what}`, async () => {
      const copy = copyOf(finished);
      harm(copy);
      const told = await verify(copy, acks);
      expect(told).toMatchObject({ code: 3, out: "" });
      expect(told.err).toContain(says);
    });
  }

  test("tells of half a transaction, also of one that was never acknowledged", async () => {
    const shared = parseAcks(acks).find(
      (ack): ack is Ack & { kind: "transaction" } => ack.kind === "transaction" && ack.last > ack.first,
    );
    const copy = copyOf(finished);
    const upToHalf = (line: string): boolean => Number(/^\{"seq":(\d+),/.exec(line)?.[1]) <= (shared?.first ?? 0);
    for (const path of filesBelow(copy, "events.jsonl")) changeLines(path, (lines) => lines.filter(upToHalf));
    const told = await verify(copy, "");
    expect(told.code).toBe(3);
    expect(told.err).toContain("half a transaction");
  });

  test("reports what was acknowledged and never written, and what was acknowledged twice", async () => {
    const never = lineOf({ kind: "transaction", id: 5000, seed: 7, first: 9000, last: 9001 });
    expect((await verify(finished, acks + never)).err).toContain(
      "transaction 5000 was acknowledged, but seq 9000 of it is not there",
    );
    expect((await verify(finished, acks + acks.slice(0, acks.indexOf("\n") + 1))).err).toContain(
      "was acknowledged twice",
    );
    const newer = lineOf({ kind: "checkpoint", store: "history", number: 999, seed: 7 });
    expect((await verify(finished, acks + newer)).err).toContain(
      "checkpoint history 999 was acknowledged, but the newest is",
    );
  });
});

describe("run", () => {
  test("wrong usage is exit 2 with the usage, and nothing is touched", async () => {
    const somewhere = join(scratch, "untouched");
    const wrong = [
      [],
      ["walk", somewhere],
      ["run"],
      ["run", somewhere, "--events"],
      ["run", somewhere, "--events", "many"],
      ["run", somewhere, "--sed", "1"],
      ["verify", finished],
      ["verify", finished, join(scratch, "no-such-file")],
    ];
    for (const args of wrong) {
      const ended = await exercise(args);
      expect({ args, code: ended.code, out: ended.out, usage: ended.err.includes("usage:") }).toEqual({
        args,
        code: 2,
        out: "",
        usage: true,
      });
    }
    expect(existsSync(somewhere)).toBe(false);
  });

  test("continues where another run ended, also with another seed", async () => {
    const home = copyOf(killed);
    const more = await exercise(["run", home, "--events", "900", "--seed", "123456789"]);
    expect(more.code).toBe(0);
    expect(await verify(home, acksOfKilled + more.out)).toMatchObject({ code: 0 });
    const again = await exercise(["run", home, "--events", "900"]);
    expect(again.out).not.toContain("transaction");
    expect(await verify(home, acksOfKilled + more.out + again.out)).toMatchObject({ code: 0 });
  });

  test("a directory in use, or one that is none, is exit 1 with a reason and no acknowledgement", async () => {
    const home = copyOf(finished);
    const lock = takeLock(realWorld(), lockPath(home), { pid: process.pid, startTime: 0, bootId: "" });
    const held = expect.stringContaining(`exercise.lock is held by process ${process.pid}`);
    expect(await exercise(["run", home])).toMatchObject({ code: 1, out: "", err: held });
    if (lock.ok) lock.value.release();
    expect(await exercise(["run", home, "--events", "310"])).toMatchObject({ code: 0 });
    const none = expect.stringContaining("stopped: ");
    expect(await exercise(["run", lockPath(home)])).toMatchObject({ code: 1, out: "", err: none });
  });

  test("an acknowledgement that cannot be printed ends the run", async () => {
    const home = copyOf(finished);
    const full = Bun.spawn(
      ["sh", "-c", `exec "$0" "$@" >/dev/full`, process.execPath, join(import.meta.dir, "exercise.ts"), "run", home],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    expect(await full.exited).toBe(1);
    expect(await new Response(full.stderr).text()).toContain("ENOSPC");
    expect(await verify(home, acks)).toMatchObject({ code: 0 });
  });
});
