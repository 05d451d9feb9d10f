// The interface to other programs: starting them, sending input, and learning how they ended.
// C1. No shell interprets a command: it is a list of words.
// C2. A child's environment is what is given, without what would change how Bun runs (BN2 of base/bun.ts); nothing of
//     ours leaks into it.
// C3. The end of a child is reported once, after its last output. Other processes that still have its terminal or its
//     pipes open are not waited for.
// C4. A child on a terminal or on pipes is a user's program: when memory runs out, the system kills it before us.

export type Command = {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

/** How a process ended: by itself with a code, or by a signal. */
export type Ending =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "signalled"; readonly signal: string };

export type Size = { readonly cols: number; readonly rows: number };

export interface PtyChild {
  readonly pid: number;
  /** Types bytes. What the terminal does not accept yet is queued in memory. */
  write(bytes: Uint8Array): void;
  /** Whether the foreground program reads single keys, as line editors do, rather than whole lines. */
  readonly readsKeys: boolean;
  /** The number of queued bytes. The caller decides how much is too much. */
  readonly waiting: number;
  resize(size: Size): void;
  /**
   * Signals that should end it (SIGHUP, SIGTERM, SIGKILL) go to the child's group and to the foreground job; all others
   * go to the foreground job alone, as from a keyboard. Returns false if there was no process, or the name is unknown.
   */
  signal(name: string): boolean;
}

export interface PipeChild {
  readonly pid: number;
  /** Resolves when the child's pipe has accepted them: this is the backpressure. */
  write(bytes: Uint8Array): Promise<void>;
  closeInput(): void;
  /** Signals the child's group. Returns false if there was no process, or the name is unknown. */
  signal(name: string): boolean;
}

/** A program that outlives us, and reads from us while we run. */
export interface ToldChild {
  readonly pid: number;
  /** Sends bytes. Delivery is not confirmed: it may have ended. */
  tell(bytes: Uint8Array): void;
  /** Closes its input. */
  release(): void;
}

export type PtyEvents = {
  output(bytes: Uint8Array): void;
  /** No input is queued any more. */
  drained?(): void;
  ended(ending: Ending): void;
};
/**
 * A promise from `output` pauses reading until it resolves or the child has ended: after that, little output can
 * follow.
 */
export type PipeEvents = {
  output(bytes: Uint8Array, from: "stdout" | "stderr"): void | Promise<void>;
  ended(ending: Ending): void;
};

/** What a program says on its standard output, and that it ended before us. */
export type ToldEvents = { said?(bytes: Uint8Array): void; ended(): void };

export interface Children {
  /**
   * Starts a command on its own terminal, as the leader of its own session. Throws a Fault (ENOENT, EACCES …) if it
   * cannot be started.
   */
  pty(command: Command, size: Size, events: PtyEvents): PtyChild;
  /** Starts a command on pipes, in its own process group. */
  pipes(command: Command, events: PipeEvents): PipeChild;
  /**
   * Starts a program that outlives us, in its own session. Its output goes to the file `log`, if given. Returns its
   * pid.
   */
  detached(command: Command, log?: string): number;
  /** Like `detached`, with an input, and an output if `said` is given, that close when we end. */
  told(command: Command, events: ToldEvents): ToldChild;
  /** Starts a program that we watch and that inherits our stderr; calls `ended` as soon as it ends. Returns its pid. */
  watched(command: Command, ended: (ending: Ending) => void): number;
}
