// What the end of a program on pipes means.
import type { HolderExit } from "../../wire/holder/protocol.ts";
import type { HeldNews } from "./held-adapter.ts";

/** If its holder was told to leave, it ended the program early: the work is not done. */
export function pipeEnding({ code, signal, stopped, unstarted }: HolderExit): HeldNews {
  if (stopped === true && unstarted === true)
    return { kind: "prevented", reason: "its holder was stopped before it could be started", passing: true };
  if (stopped === true) return { kind: "lost", reason: "its holder was stopped while it ran" };
  return { kind: "ended", code, signal };
}
