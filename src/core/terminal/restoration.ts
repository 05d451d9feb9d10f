// The words of a restoration: what a terminal's owner wants done, what is known of its last moments, and how it was started again.

/** `auto`: it comes back by itself. `ask`: it waits for `holdfast restore`. `never`: it stays as it was found. */
export type RestorePolicy = "auto" | "ask" | "never";

export const POLICIES: readonly RestorePolicy[] = ["auto", "ask", "never"];

export function isPolicy(value: unknown): value is RestorePolicy {
  return POLICIES.some((policy) => policy === value);
}

/** The program in front of a shell. */
export type Foreground = {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly startedAt?: string;
};

/** What the last checkpoint says of a terminal. Everything works without it, from the log alone. */
export type Evidence = {
  readonly workingDirectory: string;
  readonly foreground: Foreground | null;
  /** The window it had last. */
  readonly size?: { readonly cols: number; readonly rows: number };
};

/** `doubt`: why what the checkpoint says is not used (TC-6); null where nothing is in doubt. */
export type Known = {
  readonly evidence: Evidence | undefined;
  readonly doubt: string | null;
  /** How far of its tape was seen, in doubt or not: a power cut may have taken the tape's end since. */
  readonly seenTo?: number;
};

/** How a generation is started where it is not by the terminal's recipe alone. */
export type RestoreStart = {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Typed into the program once it is ready; it ends with a return where it is to be run at once. Empty: nothing. */
  readonly typed: string;
  /** The line that says what happened. */
  readonly message: string;
  readonly reason: string;
  readonly notes: readonly string[];
  /** Where on the tape the old screen ends, and the next generation begins: never before what was seen of it. */
  readonly offset: number;
  /** How old that screen was when the terminal was started again; null where nobody knows. */
  readonly screenAgeMs: number | null;
  readonly evidence: Evidence | null;
};

/** A start that was made, until a person has accepted it. */
export type Restored = RestoreStart & { readonly at: string; readonly accepted: boolean };
