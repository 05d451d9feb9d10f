// Claims about the fuzzer itself: it finds a failure, shrinks it, saves it, and starts with it the next time.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { Found, type Fuzzed, fuzz, type Plan } from "./fuzzer.ts";
import { profileOf } from "./profile.ts";

type Count = { readonly add: number };

/** A system that breaks once its sum reaches `limit`; it counts the lives it is given. */
function sums(directory: string, limit: number): Plan<Count> & { readonly lives: number[][] } {
  const lives: number[][] = [];
  const start = async (): Promise<Fuzzed<Count>> => {
    const added: number[] = [];
    lives.push(added);
    return {
      async step({ add }) {
        added.push(add);
        if (added.reduce((sum, one) => sum + one, 0) >= limit) throw new Error("too much");
      },
      async finish() {
        added.push(0);
      },
    };
  };
  return { name: "sums", directory, steps: [fc.record({ add: fc.nat(9) })], start, lives };
}

const SMALL = { name: "ci", runs: 50, commands: 30, seed: 5 } as const;
const made: string[] = [];

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "holdfast-fuzz-"));
  made.push(path);
  return path;
}

afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true });
});

describe("FI-4(c,f) a failure", () => {
  test("is shrunk to few steps, reported with its seed, and saved one step per line", async () => {
    const plan = sums(directory(), 20);
    const failure = await fuzz(plan, SMALL).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Found);
    expect(String(failure)).toContain("too much\nafter these steps (seed 5, path ");
    const [file = "none"] = readdirSync(plan.directory);
    const text = readFileSync(join(plan.directory, file), "utf8");
    const { steps, seed } = JSON.parse(text);
    expect(seed).toBe(5);
    expect(steps.reduce((sum: number, { add }: Count) => sum + add, 0)).toBe(20);
    expect(text.split("\n").filter((line) => line.startsWith('    {"add":')).length).toBe(steps.length);
  });

  test("is run first by the next run, as long as it fails; then it is forgotten", async () => {
    const where = directory();
    await expect(fuzz(sums(where, 20), SMALL)).rejects.toThrow("too much");
    const [saved] = readdirSync(where);
    const again = sums(where, 20);
    await expect(fuzz(again, SMALL)).rejects.toThrow(`it still fails: ${join(where, saved ?? "none")}`);
    expect(again.lives.length).toBe(1);
    const mended = sums(where, 1000);
    await fuzz(mended, SMALL);
    expect(mended.lives.length).toBe(1 + SMALL.runs);
    expect(readdirSync(where)).toEqual([]);
  });

  test("of a fixed seed comes every time", async () => {
    const paths = await Promise.all(
      [1, 2].map(async () => String(await fuzz(sums(directory(), 40), SMALL).catch((error: unknown) => error))),
    );
    const [first, second] = paths.map((text) => text.replaceAll(/saved as \S+/g, ""));
    expect(first).toBe(second ?? "");
  });
});

describe("FI-4(c,d,e) the profiles", () => {
  test("`ci` is small and the default, `full` is larger, `nightly` is long", () => {
    expect(profileOf({}, 7)).toEqual({ name: "ci", runs: 50, commands: 30, seed: 20_260_101 });
    expect(profileOf({ HOLDFAST_FUZZ: "ci" }, 7)).toEqual(profileOf({}, 7));
    expect(profileOf({ HOLDFAST_FUZZ: "full" }, 7)).toEqual({ name: "full", runs: 200, commands: 30, seed: 7 });
    expect(profileOf({ HOLDFAST_FUZZ: "nightly" }, 7)).toEqual({ name: "nightly", runs: 5000, commands: 50, seed: 7 });
  });

  test("a seed that is asked for is the seed of every profile, and a name that is none is an error", () => {
    for (const HOLDFAST_FUZZ of ["ci", "full", "nightly"])
      expect(profileOf({ HOLDFAST_FUZZ, HOLDFAST_SEED: "9" }, 7).seed).toBe(9);
    expect(() => profileOf({ HOLDFAST_FUZZ: "weekly" }, 7)).toThrow("weekly");
  });
});
