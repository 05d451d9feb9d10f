// The door to other programs: starting them, talking to them, hearing how they ended.
// C1. Nothing is interpreted by a shell: a command is a list of words.
// C2. A child's environment is exactly what is given; nothing of ours leaks into it.
// C3. How a child ended is told once, after its last output that came through us. Whoever else still holds its terminal or its
//     pipes is not waited for.
// C4. A child on a terminal or on pipes is a user's program: when memory runs out, the system takes it before us.

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
  /** Types bytes. What the terminal does not take now waits in memory. */
  write(bytes: Uint8Array): void;
  /** Whether whoever is in front reads keys as they come, as line editors do, rather than whole lines. */
  readonly readsKeys: boolean;
  /** Bytes that may still wait. The sender decides how much is too much. */
  readonly waiting: number;
  resize(size: Size): void;
  /**
   * What is meant to end it (SIGHUP, SIGTERM, SIGKILL) goes to the child's group and to the job in front; any other signal, like
   * one from the keyboard, to the job in front alone. False where nobody was there, or no signal has this name.
   */
  signal(name: string): boolean;
}

export interface PipeChild {
  readonly pid: number;
  /** Resolves when the child's pipe has taken them: that is the pressure. */
  write(bytes: Uint8Array): Promise<void>;
  closeInput(): void;
  /** To the child's group. False where nobody was there, or no signal has this name. */
  signal(name: string): boolean;
}

/** A program that outlives us, and listens to us for as long as we are there. */
export interface ToldChild {
  readonly pid: number;
  /** Whether it heard it is not known here: it may have ended. */
  tell(bytes: Uint8Array): void;
  /** Its input ends. */
  release(): void;
}

export type PtyEvents = {
  output(bytes: Uint8Array): void;
  /** No input waits any more. */
  drained?(): void;
  ended(ending: Ending): void;
};
/** In pipe mode a promise from `output` stops the reading until it resolves, or the child has ended: then little can follow. */
export type PipeEvents = {
  output(bytes: Uint8Array, from: "stdout" | "stderr"): void | Promise<void>;
  ended(ending: Ending): void;
};

export interface Children {
  /** Starts a command on a terminal of its own, as leader of its own session. Fault ENOENT, EACCES … where it cannot be started. */
  pty(command: Command, size: Size, events: PtyEvents): PtyChild;
  /** Starts a command on pipes, in a process group of its own. */
  pipes(command: Command, events: PipeEvents): PipeChild;
  /** Starts a program that outlives us: own session, no stdio of ours, except `log` where its words go. Returns its pid. */
  detached(command: Command, log?: string): number;
  /** As `detached`, with an input that ends when we do; `ended` is told when it has ended before us. */
  told(command: Command, ended: () => void): ToldChild;
  /** Starts a program that we watch and that inherits our stderr; `ended` is told at once. Returns its pid. */
  watched(command: Command, ended: (ending: Ending) => void): number;
}
