// System calls that fail, for real: strace makes one call of the exercise fail, and the run ends there without a false
// word.
// T1. Each fault is proved to have fired by strace's own trace; the sweep ends when it no longer does.
// T2. strace counts `when=` for each thread and call on its own, so a fault may fire once in several threads.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realWorld } from "../../src/world/world.ts";
import { amount, sampleOf } from "../sim/fuzz/profile.ts";
import { parseAcks } from "./acks.ts";
import { type Ended, exercise } from "./child.ts";
import { tryStrace } from "./strace.ts";
import { verify } from "./verify.ts";

const scratch = mkdtempSync(join(tmpdir(), "holdfast-faults-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const straceWorks = tryStrace();
if (!straceWorks.ok) console.error(`skipped: tests with injected system call failures: ${straceWorks.why}`);

/** `judged`: whether the fault's position determines which acknowledgements would have been false. */
type Traced = Ended & { readonly fired: boolean; readonly judged: boolean; readonly falseWords: readonly string[] };

let runs = 0;

async function runWithFault(home: string, inject: string): Promise<Traced> {
  runs += 1;
  const file = join(scratch, `trace-${runs}`);
  const calls = "fsync,fdatasync,write,pwrite64,ftruncate,rename,link,openat";
  const strace = ["strace", "-f", "-qq", "-y", "-o", file, "-e", `trace=${calls}`, "-e", `inject=${inject}`];
  const ended = await exercise(["run", home, "--events", "120"], { kind: "never" }, strace);
  return { ...ended, ...readTrace(readFileSync(file, "utf8").split("\n")) };
}

type Rule = { readonly path: RegExp; readonly silenced: RegExp; readonly threads: "any" | "printing" };

/**
 * What may not be printed any more once a call on such a file has failed. One batch is on its way at a time, so of the
 * write-ahead log this
 * is true whichever thread was hit. A tape's sync in the background may fail while the one before is still to be told,
 * and so with checkpoints.
 */
const RULES: readonly Rule[] = [
  { path: /\/wal\/\d+\.wal>/, silenced: /\bwrite\(1<[^>]*>, "transaction /, threads: "any" },
  { path: /\.seg>/, silenced: /\bwrite\(1<[^>]*>, "tape /, threads: "printing" },
];

function readTrace(trace: readonly string[]): Omit<Traced, keyof Ended> {
  const at = trace.findIndex((line) => line.includes("(INJECTED)"));
  const hit = trace[at] ?? "";
  const printing = trace.find((line) => line.includes("write(1<"))?.split(" ")[0] === hit.split(" ")[0];
  const rule = RULES.find(({ path, threads }) => path.test(hit) && (threads === "any" || printing));
  const falseWords = rule === undefined ? [] : trace.slice(at).filter((line) => rule.silenced.test(line));
  return { fired: at >= 0, judged: rule !== undefined, falseWords };
}

type Swept = { fired: number; ended: number; judged: number };

/** The larger, the more calls have a fault. */
const DENSITY = amount(1, 4);

/** Faults at the first such call and at later ones, with growing steps, until there is none left. */
async function sweep(calls: string, error: string): Promise<Swept> {
  const swept = { fired: 0, ended: 0, judged: 0 };
  for (let when = 1; ; when += 1 + Math.floor(when / DENSITY)) {
    const home = join(scratch, `${calls.replaceAll(",", "-")}-${error}-${when}`);
    const first = await runWithFault(home, `${calls}:error=${error}:when=${when}`);
    if (!first.fired) {
      expect({ when, ...first, out: "" }).toMatchObject({ code: 0 }); // T1
      return swept;
    }
    swept.fired += 1;
    if (first.judged) swept.judged += 1;
    // The record in the lock file and the ballast may fail: nothing depends on them.
    if (first.code !== 0) swept.ended += 1;
    if (first.code !== 0) expect({ when, ...first, out: "" }).toMatchObject(endedBy(error));
    check(home, first.out, when);
    const second = await exercise(["run", home, "--events", "150"]);
    expect({ when, ...second, out: "" }).toMatchObject({ code: 0 });
    check(home, first.out + second.out, when);
  }
}

function endedBy(error: string) {
  return { code: 1, falseWords: [], err: expect.stringMatching(new RegExp(`^stopped: .*${error}`, "m")) };
}

function check(home: string, acks: string, when: number): void {
  expect({ when, broken: verify({ ...realWorld(), home }, parseAcks(acks)) }).toEqual({ when, broken: [] });
}

const MINUTES = 3 * 60_000;

const SWEEPS = [
  { calls: "fdatasync", error: "EIO", judges: true },
  { calls: "fsync", error: "EIO", judges: false },
  { calls: "pwrite64", error: "EIO", judges: true },
  { calls: "pwrite64", error: "ENOSPC", judges: true },
];

for (const { calls, error, judges } of sampleOf(SWEEPS, 4)) {
  test.skipIf(!straceWorks.ok)(
    `EL-2 ${error} from sampled ${calls} calls ends the run without a false acknowledgement, and the next run recovers (needs strace)`,
    async () => {
      const { fired, ended, judged } = await sweep(calls, error);
      console.error(
        `${calls}: ${error} fired in ${fired} runs and ended ${ended} of them; the words of ${judged} were judged`,
      );
      expect(ended).toBeGreaterThan(amount(1, 5));
      if (judges) expect(judged).toBeGreaterThan(0);
    },
    MINUTES,
  );
}
