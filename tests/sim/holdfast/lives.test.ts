// Lives of the whole daemon (main.ts): each story has up to three deaths, and two quiet lives after them.
import { afterAll, expect, test } from "bun:test";
import { amount, PROFILE } from "../fuzz/profile.ts";
import { FOUND_BY_FAULTS } from "./found.ts";
import { FOUND_IN_FLEETS } from "./found-in-fleets.ts";
import { type Plan, planOf } from "./plan.ts";
import type { Told } from "./story.ts";
import { Teller } from "./teller.ts";

const LIVES = amount(2_000, 8_000);
const QUIET_LIVES = 2;
/** Many times what they take. */
const LIMIT_MS = LIVES * 300;

const teller = new Teller("main.ts");
afterAll(() => teller.close());

async function tell(plan: Plan): Promise<Told> {
  try {
    return await teller.live(plan);
  } catch (error) {
    throw new Error(`repeat it with its plan: ${JSON.stringify(plan)}\n${String(error)}`, { cause: error });
  }
}

test(
  "EL-2 the whole daemon: what was acknowledged is there after every crash, and nothing is done twice",
  async () => {
    const tried = { stories: 0, lives: 0, deaths: 0, moments: 0 };
    while (tried.lives < LIVES) {
      const { lives, deaths, moments } = await tell(planOf(PROFILE.seed + tried.stories));
      tried.stories += 1;
      tried.lives += lives;
      tried.deaths += deaths;
      tried.moments += moments;
    }
    console.log(`the whole daemon: ${JSON.stringify(tried)}`);
    expect(tried.deaths).toBeGreaterThan(tried.stories); // Otherwise the plans strike too late.
  },
  LIMIT_MS,
);

/** Stories that have failed, or that would if a certain line were missing. */
const FOUND: readonly (readonly [string, Plan])[] = [
  [
    "a fork that fails ends no terminal",
    { seed: 1, lives: [{ ending: { kind: "power", at: 464 }, wishes: 2, fork: 1 }] },
  ],
  [
    "a holder that dies before its claim ends no terminal",
    { seed: 1, lives: [{ ending: { kind: "power", at: 464 }, wishes: 2, fork: 0, slow: "never" }] },
  ],
  [
    "a disk that fails once while a resting agent is looked at does not end the daemon",
    {
      seed: 10701623501030,
      lives: [
        { ending: { kind: "EAGAIN", at: 106, whose: "holder" }, wishes: 5, fork: 0 },
        { ending: { kind: "EIO", at: 242 }, wishes: 3, fork: 1, slow: 19_335, jump: -3_600_000 },
        { ending: { kind: "sync", at: 260 }, wishes: 1, fork: 0 },
      ],
      watched: false,
    },
  ],
  [
    "a wait does not follow a clock that was set while its record could not be written before a stop",
    {
      seed: 9988908781102,
      lives: [
        { ending: { kind: "daemon", at: 34 }, wishes: 0, fork: 3 },
        {
          ending: { kind: "EROFS", at: 29 },
          wishes: 5,
          fork: 0,
          refused: { from: 1, times: 8, code: "EIO" },
          set: { at: 229, ms: -86_400_000 },
        },
        { ending: { kind: "EROFS", at: 49 }, wishes: 0, fork: 0 },
      ],
      watched: false,
      model: true,
    },
  ],
  [
    "a tmux server that ends in order has not taken along the sessions of the one before it",
    {
      seed: 209260510,
      lives: [
        { ending: { kind: "power", at: 117 }, wishes: 1, fork: 0, slow: 2702 },
        {
          ending: { kind: "tmux", at: 8 },
          wishes: 2,
          fork: 2,
          troubled: { from: 10, times: 6, how: 25_000 },
        },
        {
          ending: { kind: "daemon", at: 11 },
          wishes: 5,
          fork: 0,
          refused: { from: 1, times: 3, code: "EMFILE" },
        },
      ],
      watched: false,
      tmux: true,
    },
  ],
  [
    "a tmux session that is released while it is built does not stay half-built",
    {
      seed: 110048794,
      lives: [
        { ending: { kind: "tmux", at: 67 }, wishes: 5, fork: 0, slow: 2503 },
        {
          ending: { kind: "daemon", at: 256 },
          wishes: 5,
          fork: 0,
          troubled: { from: 10, times: 7, how: 25_000 },
        },
      ],
      tmux: true,
    },
  ],
  [
    "a tmux session is released although its checkpoint cannot be looked at for the reply",
    {
      seed: 3805376501732,
      lives: [
        {
          ending: { kind: "EIO", at: 104 },
          wishes: 2,
          fork: 0,
          refused: { from: 1, times: 8, code: "ENOMEM" },
        },
      ],
      watched: false,
      tmux: true,
    },
  ],
  [
    "a tmux session whose last call was carried out unheard is not made a second time",
    {
      seed: 4000142,
      lives: [
        {
          ending: { kind: "power", at: 97 },
          ...{ wishes: 3, fork: 0, sleep: { at: 77, ms: 28800000, stopped: false } },
          troubled: { from: 30, times: 3, how: "unheard" },
        },
        {
          ending: { kind: "EIO", at: 82, whose: "holder" },
          ...{ wishes: 4, fork: 0, troubled: { from: 5, times: 2, how: 500 } },
        },
        {
          ending: { kind: "tmux", at: 38 },
          ...{ wishes: 0, fork: 2, refused: { from: 3, times: 5, code: "EIO" }, jump: -3600000 },
          troubled: { from: 12, times: 8, how: 25000 },
        },
      ],
      ...{ watched: false, tmux: true },
    },
  ],
  [
    "a disk that fails once while a conversation is read sets no agent aside",
    {
      seed: 1000701,
      lives: [
        {
          ending: { kind: "watchdog", at: 255 },
          ...{ wishes: 5, fork: 0, sleep: { at: 85, ms: 300000, stopped: false } },
        },
        {
          ending: { kind: "watchdog", at: 22 },
          ...{ wishes: 5, fork: 0, sleep: { at: 262, ms: 28800000, stopped: true }, set: { at: 289, ms: 86400000 } },
        },
        { ending: { kind: "EIO", at: 63 }, wishes: 5, fork: 0, jump: 86400000 },
      ],
      ...{ watched: false, model: true },
    },
  ],
  [
    "a tmux server that is killed while its session is saved takes no command along",
    {
      seed: 800106,
      lives: [
        {
          ending: { kind: "power", at: 26 },
          ...{ wishes: 1, fork: 0, sleep: { at: 104, ms: 28800000, stopped: false } },
          troubled: { from: 20, times: 6, how: "unheard" },
        },
        { ending: { kind: "tmux", at: 213 }, wishes: 5, fork: 0 },
      ],
      ...{ watched: true, tmux: true },
    },
  ],
  [
    "a tmux session that is released before it was listed again is named incomplete by the reply",
    {
      seed: 148342451,
      lives: [
        {
          ending: { kind: "tmux", at: 6 },
          ...{ wishes: 0, fork: 0, slow: "never", set: { at: 31, ms: 86400000 } },
          troubled: { from: 25, times: 1, how: "unheard" },
        },
        {
          ending: { kind: "power", at: 115 },
          ...{ wishes: 0, fork: 2, troubled: { from: 29, times: 2, how: 25000 } },
        },
        {
          ending: { kind: "tmux", at: 110 },
          ...{ wishes: 5, fork: 0, troubled: { from: 19, times: 1, how: "fails" } },
        },
      ],
      ...{ watched: false, tmux: true },
    },
  ],
  [
    "a tmux server that takes the place of another while a session is built keeps its own sessions as they are",
    {
      seed: 910900024,
      lives: [
        {
          ending: { kind: "tmux", at: 243 },
          ...{ wishes: 5, fork: 4, slow: "never", sleep: { at: 26, ms: 300000, stopped: true } },
          troubled: { from: 30, times: 2, how: "fails" },
        },
      ],
      ...{ watched: true, tmux: true },
    },
  ],
  [
    "a tmux session that is released after its server hung while it was built does not stay half-built",
    {
      seed: 5329961,
      lives: [
        {
          ending: { kind: "holder", at: 88 },
          ...{ wishes: 4, fork: 0, jump: -1000, troubled: { from: 9, times: 5, how: 25000 } },
        },
      ],
      ...{ watched: false, tmux: true },
    },
  ],
  [
    "a tmux session that is adopted again while it is made again stays the same one",
    {
      seed: 199614820,
      lives: [
        {
          ending: { kind: "EIO", at: 92 },
          ...{ wishes: 5, fork: 0, jump: 86400000, set: { at: 69, ms: -86400000 } },
        },
        {
          ending: { kind: "tmux", at: 33 },
          ...{ wishes: 2, fork: 0, troubled: { from: 26, times: 8, how: "unheard" } },
        },
        {
          ending: { kind: "daemon", at: 8 },
          ...{ wishes: 4, fork: 0, slow: "never", refused: { from: 4, times: 5, code: "ENOMEM" } },
          troubled: { from: 29, times: 7, how: 500 },
        },
      ],
      ...{ watched: false, tmux: true },
    },
  ],
  [
    "a daemon whose log has stopped ends soon",
    { seed: 3, lives: [{ ending: { kind: "sync", at: 120 }, wishes: 5, fork: 0 }] },
  ],
];

test.each([...FOUND, ...FOUND_BY_FAULTS, ...FOUND_IN_FLEETS])("%s", async (_, plan) => {
  expect((await tell(plan)).lives).toBe(plan.lives.length + QUIET_LIVES);
});
