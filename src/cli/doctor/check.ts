// The result of a check of `doctor`: what was checked, its status, the reason, and what to do next.
// K1. A check only looks. If it can repair something safely it returns a `mend`, which runs only with --fix and checks
//     again before it changes anything.

import type { Terminal } from "../../core/terminal/terminal.ts";
import type { Machine } from "../../world/machine.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";

export type Status = "ok" | "warning" | "problem";

/** As `--json` prints it. */
export type Check = {
  readonly name: string;
  readonly status: Status;
  readonly what: string;
  readonly why: string | null;
  readonly next: string | null;
};

export type Finding = Check & {
  /** Returns what it did, one sentence each (K1). */
  readonly mend?: () => Promise<readonly string[]>;
};

/** What every check gets. */
export type Site = {
  readonly world: DaemonCommandWorld;
  readonly machine: Machine;
  readonly home: string;
  readonly deep: boolean;
  /** The terminals as they are on disk, read once for all checks. */
  readonly terminals: Promise<readonly Terminal[]>;
  /** Every file of the home, listed once for all checks. */
  readonly files: readonly Listed[];
  /** Shows progress to a waiting person. */
  progress(words: string): Promise<void>;
};

export type Listed = {
  readonly path: string;
  readonly kind: "file" | "directory" | "socket" | "link" | "other";
  readonly mode: number;
  readonly uid: number;
  readonly changedAt: number;
};

export type Checker = (site: Site) => Promise<readonly Finding[]>;

export function fine(name: string, what: string): Finding {
  return { name, status: "ok", what, why: null, next: null };
}

type Trouble = { readonly what: string; readonly why: string; readonly next: string };

export function warning(name: string, trouble: Trouble, mend?: Finding["mend"]): Finding {
  return { name, status: "warning", ...trouble, ...(mend && { mend }) };
}

export function problem(name: string, trouble: Trouble, mend?: Finding["mend"]): Finding {
  return { name, status: "problem", ...trouble, ...(mend && { mend }) };
}

/** The first few of many names. */
export function some(names: readonly string[], most = 3): string {
  const more = names.length - most;
  return names.slice(0, most).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
