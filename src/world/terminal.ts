// Access to the user's terminal, for commands that take it over for a while: keys as they are typed, bytes unchanged.
// UT1. It is restored however the process ends, except by SIGKILL: cooked mode again, with the farewell written.
// UT2. A write resolves when the terminal has accepted all of it: a flood of output waits.
import type { Size } from "./children.ts";

export type TerminalEvents = {
  /** Keys, and the terminal's own replies. */
  typed(bytes: Uint8Array): void;
  resized(): void;
  /** The window closed, or we are asked to leave; these signals no longer end the process. */
  told(signal: "SIGHUP" | "SIGTERM" | "SIGINT"): void;
};

export interface UserTerminal {
  /** Whether both input and output are a terminal. */
  readonly there: boolean;
  size(): Size;
  write(bytes: Uint8Array): Promise<void>;
  /**
   * Takes it over. `farewell` is called once, when it is restored (UT1). Returns a function that restores it; more
   * calls do nothing.
   */
  take(events: TerminalEvents, farewell: () => string): () => void;
}
