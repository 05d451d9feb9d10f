// Stories of the whole daemon that have failed, with faults, slow holders and machines that stop: each is told again by
// lives.test.ts.
import type { Plan } from "./plan.ts";

function stopped(at: number) {
  return { at, ms: 5 * 60_000, stopped: true } as const;
}

export const FOUND_BY_FAULTS: readonly (readonly [string, Plan])[] = [
  [
    "a fault that passes ends no recovery, however long its stage waited for a holder before",
    {
      seed: 1_541_092_490_159,
      lives: [
        { ending: { kind: "power", at: 114 }, wishes: 4, fork: 1, slow: 8443, jump: -3_600_000 },
        {
          ending: { kind: "EMFILE", at: 55 },
          ...{ wishes: 4, fork: 1, slow: 20_229, refused: { from: 3, times: 3, code: "ENOMEM" } },
        },
        { ending: { kind: "EIO", at: 5 }, wishes: 4, fork: 2 },
      ],
    },
  ],
  [
    "a watchdog that once cannot look at the file of safe mode puts no daemon into it",
    {
      seed: 700_109,
      lives: [{ ending: { kind: "EIO", at: 32, whose: "watchdog" }, wishes: 3, fork: 1, sleep: stopped(230) }],
      ...{ watched: true, tmux: true, model: true },
    },
  ],
  [
    "a program that is started while a tmux session is saved is not saved with the title and the screen from before it",
    {
      seed: 9_689_606,
      lives: [
        {
          ending: { kind: "ENOSPC", at: 8, whose: "watchdog" },
          ...{ wishes: 5, fork: 0, slow: 16_095, set: { at: 151, ms: -86_400_000 } },
        },
        { ending: { kind: "holder", at: 69 }, wishes: 3, fork: 0, troubled: { from: 26, times: 4, how: 500 } },
        { ending: { kind: "EIO", at: 5 }, wishes: 3, fork: 1 },
      ],
      ...{ watched: true, tmux: true, model: true },
    },
  ],
  [
    "a disk that fails once while a step is started fails no run",
    {
      seed: 508,
      lives: [
        { ending: { kind: "power", at: 248 }, wishes: 3, fork: 0 },
        { ending: { kind: "EIO", at: 280 }, wishes: 5, fork: 3, slow: 3047 },
      ],
    },
  ],
  [
    "a disk that fails once while a holder is started ends no terminal",
    { seed: 2022, lives: [{ ending: { kind: "EIO", at: 80 }, wishes: 5, fork: 0 }] },
  ],
  [
    "a disk that fails once while an agent is started leaves it to no person",
    {
      seed: 30_387,
      lives: [
        { ending: { kind: "ENOSPC", at: 40, whose: "holder" }, wishes: 2, fork: 0 },
        { ending: { kind: "EIO", at: 88 }, wishes: 4, fork: 1, slow: 10_760 },
      ],
    },
  ],
  [
    "a holder of steps that is killed before its first order fails no run",
    {
      seed: 111,
      lives: [
        { ending: { kind: "ENOMEM", at: 207 }, wishes: 1, fork: 0 },
        { ending: { kind: "holder", at: 64 }, wishes: 5, fork: 0, slow: "never" },
      ],
    },
  ],
  [
    "a holder that takes fourteen seconds to start ends no terminal",
    {
      seed: 34,
      lives: [
        { ending: { kind: "holder", at: 20 }, wishes: 5, fork: 0, jump: -3_600_000, slow: 14_246 },
        { ending: { kind: "EAGAIN", at: 23 }, wishes: 3, fork: 0, jump: 86_400_000, slow: 14_277 },
      ],
    },
  ],
  [
    "a holder that finds no room after ten seconds ends no terminal",
    {
      seed: 410_266,
      lives: [
        { ending: { kind: "EROFS", at: 11, whose: "holder" }, wishes: 3, fork: 0, slow: 13_702 },
        { ending: { kind: "ENOSPC", at: 66, whose: "holder" }, wishes: 3, fork: 0, slow: 9_922 },
      ],
    },
  ],
  [
    "a machine that is stopped during a recovery becomes live by itself",
    {
      seed: 710_182,
      lives: [
        { ending: { kind: "ENOMEM", at: 270, whose: "holder" }, wishes: 3, fork: 0, sleep: stopped(59) },
        { ending: { kind: "holder", at: 5 }, wishes: 4, fork: 0, sleep: stopped(59) },
      ],
    },
  ],
  [
    "a machine that is stopped while a holder starts ends no terminal",
    {
      seed: 710_132,
      lives: [
        {
          ending: { kind: "EROFS", at: 85, whose: "holder" },
          ...{ wishes: 2, fork: 2, slow: 3_723, sleep: stopped(109) },
        },
      ],
    },
  ],
  [
    "a file of safe mode that cannot be looked at when the daemon goes live does not end it",
    {
      seed: 5262,
      lives: [
        { ending: { kind: "daemon", at: 21 }, wishes: 3, fork: 4 },
        {
          ending: { kind: "ENOMEM", at: 59 },
          ...{ wishes: 3, fork: 0, sleep: { at: 1, ms: 5_000, stopped: true }, set: { at: 37, ms: 86_400_000 } },
        },
      ],
    },
  ],
  [
    "a socket that cannot be looked at when it changes does not end the daemon",
    {
      seed: 722_161,
      lives: [
        { ending: { kind: "EIO", at: 69, whose: "holder" }, wishes: 0, fork: 2 },
        {
          ending: { kind: "ENOMEM", at: 107 },
          ...{ wishes: 4, fork: 3, jump: 1_000, sleep: { at: 33, ms: 28_800_000, stopped: true } },
        },
      ],
    },
  ],
  [
    "the prompt of a process that went down with the machine is not offered once the full disk has room again",
    {
      seed: 77_002_343,
      lives: [
        {
          ending: { kind: "EAGAIN", at: 291 },
          ...{ wishes: 3, fork: 0, slow: 11_754, sleep: { at: 36, ms: 28_800_000, stopped: true } },
        },
        { ending: { kind: "power", at: 29 }, wishes: 5, fork: 0 },
        {
          ending: { kind: "ENOSPC", at: 40 },
          ...{ wishes: 5, fork: 0, refused: { from: 1, times: 2, code: "ENOMEM" } },
        },
      ],
      tmux: true,
    },
  ],
];
