// The door to the user's own terminal, for whoever takes it over for a while: keys as they come, bytes as they are.
// UT1. It is given back in whatever way the process ends, except by SIGKILL: cooked again, with the farewell written.
// UT2. A write resolves when the terminal has taken all of it: whoever floods it waits.
import type { Size } from "./children.ts";

export type TerminalEvents = {
  /** Keys, and whatever the terminal itself answers. */
  typed(bytes: Uint8Array): void;
  resized(): void;
  /** The window closed, or somebody wants us to leave; nothing ends by itself any more. */
  told(signal: "SIGHUP" | "SIGTERM" | "SIGINT"): void;
};

export interface UserTerminal {
  /** Whether a person sits at both ends: they type, and they see. */
  readonly there: boolean;
  size(): Size;
  write(bytes: Uint8Array): Promise<void>;
  /** Takes it over. `farewell` is asked for once, when it is given back (UT1). Returns how to give it back; once is enough. */
  take(events: TerminalEvents, farewell: () => string): () => void;
}
