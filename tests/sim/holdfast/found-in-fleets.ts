// Stories of whole daemons in a fleet that have failed: each is told again by lives.test.ts.
import type { FleetPlan } from "./fleet.ts";
import type { LifePlan, Plan } from "./plan.ts";

const sync = (rate: number, ships: boolean): FleetPlan => ({ mode: "sync", rate, ships });
const async = (rate: number, ships: boolean): FleetPlan => ({ mode: "async", rate, ships });
const asleep = (at: number, ms: number, stopped: boolean) => ({ at, ms, stopped });
const life = (
  kind: LifePlan["ending"]["kind"],
  at: number,
  wishes: number,
  more: Partial<LifePlan> = {},
): LifePlan => ({
  ...{ ending: { kind, at }, wishes, fork: 0 },
  ...more,
});
const refused = (from: number, times: number, code: string) => ({ refused: { from, times, code } });

export const FOUND_IN_FLEETS: readonly (readonly [string, Plan])[] = [
  [
    "a machine that sleeps while its home is taken starts nothing when its lease has ended",
    {
      seed: 277,
      lives: [
        life("dead", 10, 3, refused(2, 7, "EMFILE")),
        life("power", 162, 4, { fork: 1, ...refused(1, 1, "ENOMEM"), jump: -1000, sleep: asleep(117, 5_000, true) }),
        life("holder", 87, 5, {
          fork: 2,
          slow: 29_538,
          sleep: asleep(24, 28_800_000, false),
          set: { at: 282, ms: -86_400_000 },
        }),
      ],
      fleet: sync(0, false),
    },
  ],
  [
    "a disk that fails once while the record of the take is read makes no follower of an owner",
    {
      seed: 291,
      lives: [
        life("robbed", 118, 0, { slow: 14_272 }),
        life("EIO", 16, 0, { jump: 1_000, sleep: asleep(8, 28_800_000, true), set: { at: 187, ms: -86_400_000 } }),
      ],
      fleet: sync(0, false),
    },
  ],
  [
    "a daemon that is stopped while the database is away ends in order",
    {
      seed: 72,
      lives: [
        life("watchdog", 207, 4, { slow: 27_703 }),
        life("dead", 3, 1),
        life("ENOMEM", 252, 5, { sleep: asleep(35, 28_800_000, false) }),
      ],
      fleet: sync(0.1, false),
    },
  ],
  [
    "a daemon that learns in its recovery that another host has the home is no crash, and fails no recovery",
    {
      seed: 786,
      lives: [
        life("EAGAIN", 73, 3, { fork: 1, ...refused(4, 3, "EAGAIN") }),
        life("power", 70, 4, { slow: "never" }),
        life("robbed", 23, 3, refused(1, 1, "ENOMEM")),
      ],
      fleet: sync(0.1, true),
    },
  ],
  [
    "a fail-over that loses a take fails no recovery",
    {
      seed: 987,
      lives: [
        life("watchdog", 12, 3, { sleep: asleep(37, 5_000, false) }),
        life("EROFS", 248, 3, { fork: 2, slow: "never" }),
      ],
      fleet: async(0.1, false),
    },
  ],
  [
    "a database that is away for longer than a stage of a recovery may be silent fails no recovery",
    {
      seed: 2168,
      lives: [
        life("daemon", 130, 3, { ...refused(4, 2, "EMFILE"), away: { at: 213, ms: 21_327 } }),
        life("EIO", 52, 3, refused(1, 3, "EMFILE")),
        life("EROFS", 58, 1, { slow: 1_714, away: { at: 44, ms: 32_157 } }),
      ],
      ...{ fleet: async(0.02, true), model: true },
    },
  ],
];
