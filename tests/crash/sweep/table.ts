// The table of the sweep: which call of which program fails, with which error, at which of its occurrences, and when in
// the life of that program.
// FT1. `when=N` lets the N-th call fail, and `when=N+` every call from the N-th on: a fault that stays.
// FT2. How often a program makes a call was counted; beyond that nothing fires. The steps between occurrences grow.
// FT3. A row is what one home goes through: few enough that what one point leaves behind is not carried on for long.

export type Program = "daemon" | "watchdog" | "holder" | "screen" | "web";
/** `starting`: from its first call on. `working`: in the middle of its life. */
export type Moment = "starting" | "working";

export type Point = {
  readonly program: Program;
  readonly moment: Moment;
  readonly calls: string;
  /** As strace's `inject=` takes it. */
  readonly fault: string;
  readonly when: number;
  readonly stays: boolean;
};

/** All names of one call, as strace knows them. */
const CALLS = {
  fsync: "fsync",
  fdatasync: "fdatasync",
  rename: "rename",
  ftruncate: "ftruncate",
  open: "openat",
  mkdir: "mkdir",
  write: "pwrite64",
  link: "link",
  unlink: "unlink",
  fork: "clone,clone3,vfork,fork",
} as const;
type Call = keyof typeof CALLS;

const DISK_ERRORS = ["EIO", "EROFS", "ENOSPC", "EDQUOT"];
/** Beside the disk's, or instead of them. */
const OTHERS: { readonly [call in Call]?: readonly string[] } = {
  open: [...DISK_ERRORS, "EMFILE"],
  fork: ["EAGAIN", "ENOMEM"],
};
/** At these calls it is also killed, once. */
const KILLED_AT: readonly Call[] = ["fdatasync", "open", "write"];
const CALL_NAMES = [
  "fsync",
  "fdatasync",
  "rename",
  "ftruncate",
  "open",
  "mkdir",
  "write",
  "link",
  "unlink",
  "fork",
] as const;
const MOMENTS = ["starting", "working"] as const;

/** FT2: up to which occurrence. */
type Counted = { readonly [call in Call]?: number };

const COUNTED: { readonly [program in Program]: { readonly [moment in Moment]: Counted } } = {
  daemon: {
    starting: { fsync: 21, fdatasync: 3, rename: 13, ftruncate: 2, open: 610, write: 21, link: 1, unlink: 5, fork: 3 },
    working: { fsync: 21, fdatasync: 5, rename: 8, open: 233, mkdir: 5, write: 21, link: 1, fork: 5 },
  },
  watchdog: {
    starting: { rename: 1, ftruncate: 1, open: 21, write: 1, link: 1, unlink: 1, fork: 1 },
    working: { fsync: 3, rename: 2, open: 13, write: 2, fork: 1 },
  },
  holder: {
    starting: { fsync: 3, fdatasync: 1, open: 13, mkdir: 1, write: 3, link: 3, unlink: 8, fork: 2 },
    working: { fdatasync: 2, open: 3, write: 5 },
  },
  screen: {
    starting: { open: 21, fork: 2 },
    working: {}, // It ends when nothing is asked of it.
  },
  web: {
    starting: { rename: 1, ftruncate: 1, open: 34, mkdir: 2, write: 1, fork: 1 },
    working: { open: 2, mkdir: 3 },
  },
};

/** FT2: 1, 2, 3, 5, 8 and so on. */
function occurrences(most: number): number[] {
  const all = [1, 2];
  for (let next = 3; next <= most; next = (all.at(-1) ?? 0) + (all.at(-2) ?? 0)) all.push(next);
  return all.filter((when) => when <= most);
}

function pointsOf(place: Pick<Point, "program" | "moment">, call: Call, most: number): Point[] {
  const errors = OTHERS[call] ?? DISK_ERRORS;
  const point = { ...place, calls: CALLS[call], stays: false };
  const once = occurrences(most).map((when) => ({ ...point, when }));
  const failing = [...once, { ...point, when: 1, stays: true }];
  const killed = KILLED_AT.includes(call) ? [...new Set([...once.slice(0, 2), ...once.slice(-1)])] : [];
  return [
    ...errors.flatMap((error) => failing.map((one) => ({ ...one, fault: `error=${error}` }))),
    ...killed.map((one) => ({ ...one, fault: "signal=KILL" })),
  ];
}

export type Row = { readonly name: string; readonly points: readonly Point[] };

/** FT3 */
const ROW_POINTS = 12;

/** The points of each program, moment and call, in rows (FT3). */
export function rowsOf(programs: readonly Program[]): Row[] {
  return programs.flatMap((program) =>
    MOMENTS.flatMap((moment) =>
      CALL_NAMES.flatMap((call) => {
        const most = COUNTED[program][moment][call] ?? 0;
        return most === 0 ? [] : inRows(`${program}, ${moment}: ${call}`, pointsOf({ program, moment }, call, most));
      }),
    ),
  );
}

function inRows(name: string, points: readonly Point[]): Row[] {
  const rows = Math.ceil(points.length / ROW_POINTS);
  return Array.from({ length: rows }, (_, row) => ({
    name: `${name}, ${row + 1} of ${rows}`,
    points: points.slice(row * ROW_POINTS, (row + 1) * ROW_POINTS),
  }));
}

export function injectionOf({ calls, fault, when, stays }: Point): string {
  return `${calls}:${fault}:when=${when}${stays ? "+" : ""}`; // FT1
}
