// The door to ourselves: the words we were started with, the signals we get, and the way out.

/** Signals a program of ours makes something of. */
export type OwnSignal = "SIGTERM" | "SIGINT" | "SIGHUP";

export interface Program {
  /** What stands behind the program's own name. */
  readonly args: readonly string[];
  /** A variable that we were started with. */
  variable(name: string): string | undefined;
  /** From now on the signal does not end us; `fn` runs instead. */
  onSignal(signal: OwnSignal, fn: () => void): void;
  /** Gives back to the system what memory can be given back. */
  rest(): void;
  exit(code: number): never;
}
