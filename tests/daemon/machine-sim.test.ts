// The machine goes down on a disk that forgets unsynced data, at every call of a terminal's life: its creation, its
// output, its checkpoints, its restoration and its next life. Then it comes back, and nothing that was synced is
// missing. All of it by the whole daemon, its holders and its screen program.
import { afterAll, expect, test } from "bun:test";
import { amount, PROFILE, sampleOf } from "../sim/fuzz/profile.ts";
import type { Blow, Lived, LivedTerminal } from "../sim/holdfast/script.ts";
import { Teller } from "../sim/holdfast/teller.ts";

/** The sampled calls at which the gate cuts the power, each with one ending; otherwise all, with every ending. */
const ONE_IN = 40;

/** Many times what they take. */
const LIMIT_MS = amount(600_000, 3_600_000);

const teller = new Teller("sweep-main.ts");
afterAll(() => teller.close());

async function live(...blows: readonly Blow[]): Promise<Lived & { readonly terminal: LivedTerminal }> {
  const { terminal, ...lived } = await teller.live([{ kind: "terminal" }, ...blows]);
  if (terminal === undefined) throw new Error("there is no terminal");
  expect(lived.struck).toBe(blows.length);
  check(terminal);
  return { ...lived, terminal };
}

function check({ generation, startAt, lines, facts, kept }: LivedTerminal): void {
  for (const [at, { tape, saved, claims, doubt, ...before }] of kept.entries()) {
    const next = kept[at + 1] ?? facts;
    expect(missing(linesIn(tape), next.tape)).toEqual([]);
    // What the tape has lost is on the screen of the next life; if the power is cut before that is saved, it is gone.
    const isRestoring = at > 0 && next === facts;
    expect(missing(linesIn(saved), isRestoring ? next.saved + lostBy(kept) : next.saved)).toEqual([]);
    expect(Math.max(generation, before.generation, ...claims)).toBe(generation);
    expect(facts.claims).toEqual(expect.arrayContaining([...claims]));
    expect(doubt).toBeNull();
  }
  expect(startAt).toBeGreaterThanOrEqual(kept.at(-1)?.savedAt ?? 0);
  expect(new Set(facts.claims).size).toBe(facts.claims.length);
  expect(facts.doubt).toBeNull();
  // The last life is on the tape from its first letter to its last, and the checkpoint lacks only the end of it.
  for (const line of lines) expect(facts.tape).toContain(`${line} \u001b[32m終端\u001b[0m\r\n`);
  const seen = lines.filter((line) => facts.saved.includes(`${line} \u001b[32m終端`));
  expect(seen).toEqual(lines.slice(0, seen.length));
  expect(seen.length).toBeGreaterThan(0);
}

function missing(lines: readonly string[], from: string): string[] {
  return lines.filter((line) => !from.includes(line));
}

/** What only a checkpoint had seen at the first power cut. */
function lostBy([first]: LivedTerminal["kept"]): string {
  return missing(linesIn(first?.saved ?? ""), first?.tape ?? "").join();
}

function linesIn(text: string): string[] {
  return text.match(/line-\d+-of-them/g) ?? [];
}

/** Cuts the power at each of these moments after `before`. */
async function everywhere(moments: readonly string[], ...before: readonly Blow[]): Promise<number> {
  let cuts = 0;
  for (const [after, moment] of sampleOf([...moments.entries()], ONE_IN)) {
    for (let nth = 0, endings = 1; nth < endings; nth += 1) {
      try {
        const keep = { nth: PROFILE.name === "ci" ? PROFILE.seed + after : nth };
        const lived = await live(...before, { kind: "power", after, keep });
        if (PROFILE.name !== "ci") ({ endings } = lived);
      } catch (error) {
        throw new Error(`cut ${after} (${nth}), before ${moment}: ${String(error)}`, { cause: error });
      }
      cuts += 1;
    }
  }
  return cuts;
}

const calm = live();

test(
  "TC-4 a power cut at sampled calls of a terminal's first life and of its checkpoints: the next boot brings it back",
  async () => {
    const { moments } = await calm;
    expect(moments.length).toBeGreaterThan(120);
    expect(await everywhere(moments)).toBeGreaterThanOrEqual(Math.floor(moments.length / ONE_IN));
    const { terminal } = await live({ kind: "power", after: moments.length - 1, keep: "nothing" });
    const [kept] = terminal.kept; // By then the holder has synced most lines, and two checkpoints have seen them.
    for (const text of [kept?.tape, kept?.saved]) expect(linesIn(text ?? "").length).toBeGreaterThan(3);
  },
  LIMIT_MS,
);

/** When a checkpoint is durable that has seen more than is synced of the tape. */
async function ahead(): Promise<Blow> {
  const { moments } = await calm;
  const renamed = moments.findLastIndex((what) => /^rename .*checkpoint\.json/.test(what));
  expect(renamed).toBeGreaterThan(0);
  return { kind: "power", after: renamed + 2, keep: "nothing" };
}

test(
  "TC-4 a power cut at sampled calls of a restoration, after the tape lost output that a checkpoint had seen",
  async () => {
    const first = await ahead();
    const moments = (await live(first)).moments.slice(first.after + 1);
    expect(moments.length).toBeGreaterThan(100);
    expect(await everywhere(moments, first)).toBeGreaterThanOrEqual(Math.floor(moments.length / ONE_IN));
  },
  LIMIT_MS,
);

test("a snapshot ahead of what is left of its tape: the next life begins after it, and is complete", async () => {
  const { terminal } = await live(await ahead());
  const [kept] = terminal.kept;
  const lost = missing(linesIn(kept?.saved ?? ""), kept?.tape ?? "");
  expect(lost).not.toEqual([]);
  expect(terminal.startAt).toBe(kept?.savedAt ?? 0);
  expect(terminal.facts.tape).toContain("started again");
  expect(missing(lost, terminal.facts.saved)).toEqual([]);
});
