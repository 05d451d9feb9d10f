// The door to whoever started us: what we print, what they set, and when they want us to stop.
// C1. A write resolves when the system has taken all of it: whoever prints much waits, and nothing piles up in memory.
// C2. A reader that went away is a Fault (EPIPE), like every other failure.

export interface Output {
  /** Whether a person looks at it. */
  readonly tty: boolean;
  /** How wide their window is, in cells. */
  columns(): number;
  write(text: string): Promise<void>;
}

/** Ctrl-C; a polite request; the window was closed. */
export const END_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type EndSignal = (typeof END_SIGNALS)[number];

export interface Console {
  readonly out: Output;
  readonly err: Output;
  /** A variable of the environment; one that is set to nothing counts as not set. */
  env(name: string): string | undefined;
  /** The full path of what they named, seen from where they stand. */
  absolute(path: string): string;
  /** How many cells of a terminal the text takes. */
  widthOf(text: string): number;
  /** Resolves at Ctrl-C. Until it is asked for, Ctrl-C ends the process as always. */
  interrupted(): Promise<void>;
  /** Resolves when somebody wants us to end. From the call on nothing of this ends the process any more: there is something to clear up. */
  told(): Promise<EndSignal>;
  /** Whoever watches something that goes on without them: Ctrl-C and a polite request interrupt it, `Ctrl-\\` and a closed window only
   *  leave. From the call on nothing of this ends the process. */
  watching(ear: (wish: "interrupt" | "leave") => void): void;
  /** Keeps the process alive until `work` has ended: the clock's timers alone do not. */
  staying<T>(work: Promise<T>): Promise<T>;
}
