// Judges what was seen of a tmux server. Pure.
// G1. Only two things prove that a session is gone: its server's process is gone, or that same server answers and does
//     not know it any more. A failed probe, a removed socket and an answer that is not understood prove nothing.
import { isAt, sameServer, type TmuxCare, type TmuxPlace, type TmuxServer } from "./tmux.ts";

export type SeenSession = { readonly session: string; readonly name: string; readonly mark: string };

export type Evidence = {
  /** The server that answers at the socket, and its sessions; undefined if there is no reply in time. */
  readonly answer: { readonly server: TmuxServer; readonly sessions: readonly SeenSession[] } | undefined;
  /** Whether the process that the session was last seen with lives. */
  readonly alive: boolean;
  /** Whether its server was seen to end in order. */
  readonly orderly: boolean;
};

export type TmuxVerdict =
  | { readonly kind: "there"; readonly place: TmuxPlace; readonly name: string }
  | { readonly kind: "closed"; readonly reason: string }
  | { readonly kind: "lost"; readonly reason: string; readonly orderly: boolean }
  /** Nothing is known for certain: look again later. */
  | { readonly kind: "unknown"; readonly reason: string };

export function judgeTmux(care: TmuxCare, { answer, alive, orderly }: Evidence): TmuxVerdict {
  const found = answer?.sessions.find((seen) => isOurs(care, answer.server, seen));
  if (answer !== undefined && found !== undefined) {
    return { kind: "there", place: { server: answer.server, session: found.session }, name: found.name };
  }
  if (!alive) {
    const how = orderly ? "tmux's server ended" : "tmux's server is gone";
    return { kind: "lost", reason: how, orderly };
  }
  if (answer === undefined) return { kind: "unknown", reason: "its server lives but does not answer" }; // G1
  const same = care.state.kind === "kept" && sameServer(care.state.place.server, answer.server);
  return same
    ? { kind: "closed", reason: "it was closed while its server went on" }
    : { kind: "unknown", reason: "its server lives, but another one answers at its socket" };
}

/** The mark is ours alone: set on sessions we recreated, by the same command that named them. */
function isOurs(care: TmuxCare, server: TmuxServer, { session, mark }: SeenSession): boolean {
  return mark === care.id || isAt(care, { server, session });
}
