// Bit rot: one byte of a home at rest is changed, at every meaningful byte and a sample of the empty ones. Whatever it
// hits, the log opens, reports what is gone, and continues (damage-check.ts has the claims).
// The gate tries a sample of these changes; `full` tries all.
import { describe, expect, test } from "bun:test";
import type { SimDisk } from "../disk.ts";
import { amount, sampleOf } from "../fuzz/profile.ts";
import { SimRandom } from "../random.ts";
import { examine } from "./damage-check.ts";
import { AWAIT, append, DRAIN, type Home, homeAfter, MID_LIFE, pathsOf } from "./damage-home.ts";
import { HISTORIES, randomHistory } from "./histories.ts";
import type { Memory, Step } from "./life.ts";

const HOMES: Readonly<Record<string, readonly Step[]>> = {
  "in the middle of things": MID_LIFE,
  "whose session logs have everything, though nothing says so yet": [...MID_LIFE, DRAIN],
  "with batches of many transactions": [
    append([1], 10),
    append([2], 10),
    append([1, 2], 10),
    AWAIT,
    append([1], 10),
    append([2], 10),
    append([3], 10),
    AWAIT,
    DRAIN,
    append([4], 10),
    AWAIT,
  ],
  "of several segments, some used again": (HISTORIES["segments filled and used again"] ?? []).map((step) =>
    step.kind === "append" ? { ...step, size: 250 } : step,
  ),
};

/** The fields at the start of a line, which identify it: each of their bits counts. */
const FIELDS = 26;
/** Empty bytes are many, and alike; so are most of the others. */
const EMPTY_ONE_IN = 61;
const OTHER_ONE_IN = 3;
const GATE_ONE_IN = 7;

/** What a byte may become: one bit flipped, all bits, or zero. None if it is left alone. */
function masksFor(bytes: Uint8Array, at: number): number[] {
  const byte = bytes[at] ?? 0;
  if (byte === 0) return at % EMPTY_ONE_IN === 0 ? [1 << (at % 8)] : [];
  const isField = byte >= 48 && byte <= 57 && at - bytes.lastIndexOf(10, at) <= FIELDS;
  if (isField) return [1, 2, 4, 8, byte];
  const masks = [1, 2, 4, 8, 16, 32, 64, 128, 255, byte];
  return at % OTHER_ONE_IN === 0 ? [masks[(at * 7) % masks.length] ?? 1] : [];
}

type Rot = { readonly path: string; readonly at: number; readonly mask: number };

function everyRot(disk: SimDisk, part: string): Rot[] {
  return pathsOf(disk, part).flatMap((path) => {
    const bytes = disk.peek(path) ?? new Uint8Array(0);
    return [...bytes.keys()].flatMap((at) => masksFor(bytes, at).map((mask) => ({ path, at, mask })));
  });
}

/** Returns how many changes there are; the gate tries one in `GATE_ONE_IN` of them. */
async function rotEverywhere({ disk, memory }: Home, part: string): Promise<number> {
  const all = everyRot(disk, part);
  for (const { path, at, mask } of sampleOf(all, GATE_ONE_IN)) {
    const harmed = disk.fork();
    harmed.rot(path, at, mask);
    await examineNamed(harmed, memory, `${path} at ${at} ^ ${mask}`);
  }
  return all.length;
}

async function examineNamed(disk: SimDisk, memory: Memory, what: string): Promise<void> {
  try {
    await examine(disk, memory);
  } catch (error) {
    throw new Error(`${what}: ${String(error)}`, { cause: error });
  }
}

describe("one rotten byte", () => {
  for (const [what, steps] of Object.entries(HOMES)) {
    test(`in the write-ahead log of a home ${what}: nothing vanishes silently`, async () => {
      expect(await rotEverywhere(await homeAfter(steps), "/wal/")).toBeGreaterThan(300);
    });

    test(`in the session logs of a home ${what}: nothing vanishes silently`, async () => {
      expect(await rotEverywhere(await homeAfter(steps), "events.jsonl")).toBeGreaterThan(200);
    });
  }

  test("and a stretch of zeros or noise, at a random place in each of 300 random homes: nothing vanishes in silence", async () => {
    const random = new SimRandom(11);
    for (let i = 0; i < amount(100, 300); i += 1) {
      const home = await homeAfter(randomHistory(random, 12));
      const path = random.pick(pathsOf(home.disk, random.chance(0.5) ? "/wal/" : "/"));
      const size = home.disk.peek(path)?.length ?? 0;
      const start = random.int(size);
      const end = Math.min(size, start + 1 + random.int(200));
      for (let at = start; at < end; at += 1) home.disk.rot(path, at, 1 + random.int(255));
      await examineNamed(home.disk, home.memory, `history ${i}, ${path} ${start} to ${end}`);
    }
  });
});
