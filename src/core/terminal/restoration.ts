// The types of a restoration: the owner's policy, what is known of the terminal's last moments, and how it was
// restarted.

import type { AgentName } from "./agent-names.ts";

/** `auto`: it is restored automatically. `ask`: it waits for `holdfast restore`. `never`: it stays as it was found. */
export const RESTORE_POLICIES = ["auto", "ask", "never"] as const;

export type RestorePolicy = (typeof RESTORE_POLICIES)[number];

/** The foreground program of a shell. */
export type Foreground = {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly startedAt?: string;
  /** It ran in another namespace, or below another root (RC3 of restore-commands.ts). */
  readonly elsewhere?: boolean;
  /** It was not what its PATH finds by its name (RC3). */
  readonly notOnPath?: boolean;
};

/** The agent CLI in front of a terminal, and the conversation that it is in, if that is certain. */
export type SeenAgent = { readonly name: AgentName; readonly session?: string };

/** What the last checkpoint says about a terminal. Everything works without it, from the log alone. */
export type Evidence = {
  readonly workingDirectory: string;
  readonly foreground: Foreground | null;
  /** Also if it is the terminal's own program. */
  readonly agent?: SeenAgent;
  /** Its last window size. */
  readonly size?: { readonly cols: number; readonly rows: number };
};

/** A look at a running terminal, between two checkpoints. `at`: when. */
export type Sighting = Pick<Evidence, "workingDirectory" | "foreground" | "agent"> & {
  readonly generation: number;
  readonly at: string;
};

/** `doubt`: why the checkpoint's information is not used (TC-6); null if there is no doubt. */
export type Known = {
  readonly evidence: Evidence | undefined;
  readonly doubt: string | null;
  /** How far its tape was seen, in doubt or not: a power cut may have lost the tape's end since. */
  readonly seenTo?: number;
  /** When its directory and its foreground program were last looked at. */
  readonly lookedAt?: string;
};

/** How a generation is started, if not by the terminal's recipe alone. */
export type RestoreStart = {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Typed into the program once it is ready; ends with a return if it is to be run at once. Empty: nothing. */
  readonly typed: string;
  /** The line that says what happened. */
  readonly message: string;
  readonly reason: string;
  readonly notes: readonly string[];
  /** Where on the tape the old screen ends and the next generation starts: never before what was seen of it. */
  readonly offset: number;
  /** How old that screen was when the terminal was restarted; null if unknown. */
  readonly screenAgeMs: number | null;
  readonly evidence: Evidence | null;
  /** When what is in `evidence` was seen, if that is known. */
  readonly lookedAt?: string;
  /** A person chose only the shell, and that holds for later restorations too (RE6 of restore.ts). */
  readonly way?: "shell";
};

/** A start that was made, until a person has accepted it. */
export type Restored = RestoreStart & { readonly at: string; readonly accepted: boolean };
