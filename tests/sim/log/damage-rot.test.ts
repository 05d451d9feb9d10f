// Bit rot: one byte of a home at rest is changed, at every meaningful byte and a sample of the empty ones; or the ends
// of two neighbouring frames; or a stretch of bytes becomes noise or zeros. Whatever it hits, the log opens, reports
// what is gone, and continues (damage-check.ts has the claims).
// The gate tries a sample of these changes; `full` tries all.
import { describe, expect, test } from "bun:test";
import type { SimDisk } from "../disk.ts";
import { amount, sampleOf, seeded } from "../fuzz/profile.ts";
import type { SimRandom } from "../random.ts";
import { examine, looksLikeTheEnd } from "./damage-check.ts";
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
  "whose last batch begins a segment that holds whole frames of an earlier use": [
    append([0, 2], 288),
    DRAIN,
    append([1, 2], 16),
    AWAIT,
    append([1], 38),
    AWAIT,
    DRAIN,
    append([4], 25),
    append([1, 3], 171),
    append([1], 277),
    AWAIT,
    append([2, 3, 4], 38),
    AWAIT,
  ],
  "whose last batch has two transactions, behind one that is not drained": [
    append([1, 2, 3, 4], 18),
    AWAIT,
    DRAIN,
    append([2], 20),
    AWAIT,
    append([3], 10),
    append([1, 4], 10),
    AWAIT,
  ],
  "whose last batch has two transactions, behind drained ones": [
    append([4], 22),
    append([1, 2, 3], 18),
    AWAIT,
    DRAIN,
    append([1, 4], 30),
    append([3, 4], 27),
    AWAIT,
  ],
};

const NEWLINE = 10;
/** The fields at the start of a line, which identify it: each of their bits counts. */
const FIELDS = 26;
/** Empty bytes are many, and alike; so are most of the others. */
const EMPTY_ONE_IN = 61;
const OTHER_ONE_IN = 3;
const GATE_ONE_IN = 67;

/** What a byte may become: one bit flipped, all bits, or zero. None if it is left alone. */
function masksFor(bytes: Uint8Array, at: number): number[] {
  const byte = bytes[at] ?? 0;
  if (byte === NEWLINE) return [1];
  if (byte === 0) return at % EMPTY_ONE_IN === 0 ? [1 << (at % 8)] : [];
  const isField = byte >= 48 && byte <= 57 && at - bytes.lastIndexOf(NEWLINE, at) <= FIELDS;
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

type How = Parameters<typeof examine>[2];

async function examineNamed(disk: SimDisk, memory: Memory, what: string, how: How = "strict"): Promise<void> {
  try {
    await examine(disk, memory, how);
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
      expect(await rotEverywhere(await homeAfter(steps), "/events")).toBeGreaterThan(200);
    });
  }
});

describe("more than one rotten byte", () => {
  for (const [what, steps] of Object.entries(HOMES)) {
    test(`the end of a frame and the start of the next, in a home ${what}: nothing vanishes silently`, async () => {
      const { disk, memory } = await homeAfter(steps);
      for (const { path, at } of everyRot(disk, "/wal/").filter((rot) => disk.peek(rot.path)?.[rot.at] === NEWLINE)) {
        const harmed = disk.fork();
        harmed.rot(path, at, 1);
        if (at + 1 < (disk.peek(path)?.length ?? 0)) harmed.rot(path, at + 1, 0x80);
        await examineNamed(harmed, memory, `${path} at ${at} and ${at + 1}`);
      }
    });
  }

  for (const [kind, purpose] of [
    ["noise", 3],
    ["zeros", 9],
  ] as const) {
    test(`a stretch of ${kind}, at a random place in each of 300 random homes: nothing vanishes in silence`, async () => {
      const random = seeded(purpose);
      for (let i = 0; i < amount(50, 300); i += 1) {
        const { disk, memory } = await homeAfter(randomHistory(random, 12));
        const path = random.pick(pathsOf(disk, random.chance(0.5) ? "/wal/" : "/"));
        const { start, end } = harmStretch(disk, path, kind, random);
        const wiped = path.endsWith(".wal") && looksLikeTheEnd(disk.peek(path), start);
        await examineNamed(disk, memory, `history ${i}, ${path} ${start} to ${end}`, wiped ? "wiped" : "strict");
      }
    });
  }
});

type Stretch = { readonly start: number; readonly end: number };

function harmStretch(disk: SimDisk, path: string, kind: "noise" | "zeros", random: SimRandom): Stretch {
  const bytes = Uint8Array.from(disk.peek(path) ?? []);
  const start = random.int(bytes.length);
  const end = Math.min(bytes.length, start + 1 + random.int(200));
  for (let at = start; at < end; at += 1) disk.rot(path, at, kind === "zeros" ? (bytes[at] ?? 0) : 1 + random.int(255));
  return { start, end };
}
