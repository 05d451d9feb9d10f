// Access to our own process: its arguments, its signals, and its exit.

/** The signals that our programs handle. SIGCHLD: a child, or a process that was given to us, has ended. */
export type OwnSignal = "SIGTERM" | "SIGINT" | "SIGHUP" | "SIGCHLD";

export interface Program {
  /** The arguments after the program's own name. */
  readonly args: readonly string[];
  /** A variable of our environment. */
  variable(name: string): string | undefined;
  /** All of them, for a program that we run in our place. */
  environment(): Readonly<Record<string, string>>;
  /** From now on the signal does not end us; `fn` runs instead. */
  onSignal(signal: OwnSignal, fn: () => void): void;
  /** Called once, with the exit code, however the process ends, unless a signal ends it. It cannot wait. */
  onExit(fn: (code: number) => void): void;
  /** Returns unused memory to the system, in two steps; resolves after the second one, a moment later. */
  rest(): Promise<void>;
  exit(code: number): never;
}
