// Access to the user who started us: what we print, what they set, and when they want us to stop.
// C1. A write resolves when the system has accepted all of it: long output waits instead of piling up in memory.
// C2. If the reader has gone away, the write fails with a Fault (EPIPE), like every other failure.

export interface Output {
  /** Whether the output is a terminal. */
  readonly tty: boolean;
  /** The width of the window, in cells. */
  columns(): number;
  write(text: string): Promise<void>;
}

/** Ctrl-C; a polite request to stop; the window was closed. */
export const END_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type EndSignal = (typeof END_SIGNALS)[number];

export interface Console {
  readonly out: Output;
  readonly err: Output;
  /** An environment variable; an empty one counts as not set. */
  env(name: string): string | undefined;
  /** The full path of what the user named, relative to their current directory. */
  absolute(path: string): string;
  /** How many minutes the user's clock is ahead of UTC at this time, which is in milliseconds since 1970. */
  minutesAhead(at: number): number;
  /** How many terminal cells the text takes. */
  widthOf(text: string): number;
  /** Resolves at Ctrl-C. Before the first call, Ctrl-C ends the process as usual. */
  interrupted(): Promise<void>;
  /**
   * Resolves at the first end signal. From the call on, these signals no longer end the process, so that it can clean
   * up.
   */
  told(): Promise<EndSignal>;
  /**
   * For commands that watch something which continues without them: Ctrl-C and SIGTERM interrupt it, `Ctrl-\\` and a
   * closed window only leave. From the call on, these signals no longer end the process.
   */
  watching(ear: (wish: "interrupt" | "leave") => void): void;
  /** Keeps the process alive until `work` has finished: the clock's timers alone do not. */
  staying<T>(work: Promise<T>): Promise<T>;
}
