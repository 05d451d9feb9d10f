// What the engine of held programs (held-programs.ts) knows about a kind of them: terminals, agents' processes,
// attempts of workflows; and what it reports.
import type { Result } from "../../base/result.ts";
import type { Child, Ending } from "../../core/terminal/terminal.ts";
import type { HolderExit } from "../../wire/holder/protocol.ts";
import type { HolderConnection, HolderPeer } from "./holder-connections.ts";

/** Where the files and the socket of a program are. */
export type HeldPlace = { readonly directory: string; readonly generation: number; readonly socket: string };

export type HeldNews =
  | { readonly kind: "running"; readonly child: Child; readonly holder: number }
  | ({ readonly kind: "ended"; readonly bootId?: string } & Ending)
  /** Nothing of it has run. `passing`: not for anything about the program. `code`: that of the adapter's refusal. */
  | { readonly kind: "prevented"; readonly reason: string; readonly passing?: true; readonly code?: string }
  /** `generation`: the one that was looked at; the next one may have been decided meanwhile. */
  | { readonly kind: "lost"; readonly reason: string; readonly generation?: number };

/** What an earlier daemon recorded of a program that ran. */
export type HeldRecord = { readonly child: Child; readonly holder: number };

/** What was found when a program was examined; if it is not news, the program is examined again. */
export type HeldFound =
  | HeldNews
  | { readonly kind: "unstarted" }
  /** Its holder cannot start it yet, and tries again. */
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "unreachable"; readonly reason: string };

export type HeldAdapter<C extends HolderConnection> = {
  /** Undefined if it is over or unknown: then it is left alone. */
  place(name: string): HeldPlace | undefined;
  connection(name: string, peer: HolderPeer): C | undefined;
  /** Whether it is to be started. */
  isWanted(name: string): boolean;
  /** Called before it is examined for a start. */
  prepare?(name: string): Promise<void>;
  /** Writes its spec, and has a holder started. */
  launch(name: string): Promise<Result<void>>;
  /** Called repeatedly while it is launched but not claimed: its holder may have died before it got its order. */
  relaunch?(name: string): void;
  /** Whether the holder that it was launched with lives: then no other is launched. */
  isStarting(name: string): boolean;
  /** Whether that holder makes us look again (`lookAgain`) when there is something to see. */
  tells?(name: string): boolean;
  /** Whether `stir` is called as soon as that holder has bound its socket. */
  isWatched?(): boolean;
  /** Kills that holder: it has claimed nothing, and cannot any more. */
  dismiss(name: string): void;
  /** What it means if there is neither a claim nor a holder. */
  unclaimed?(name: string): HeldFound;
  /** Before it counts as lost: makes files again that its holder has recorded elsewhere. True if it made any. */
  salvage?(name: string): Promise<boolean>;
  ending(exit: HolderExit): HeldNews;
  /** HE3 */
  stopRest(name: string): Promise<void>;
  /** Resolves when it is recorded. */
  report(name: string, news: HeldNews): Promise<void>;
  /** Whether an end may be reported while the start is still being recorded, so that they share a sync. */
  readonly recordsStartLazily?: boolean;
  /** An error that is not a Fault, in the work on this program. */
  onBug(error: unknown, name: string): void;
};
