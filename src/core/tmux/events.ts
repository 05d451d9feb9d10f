// The events of an adopted tmux session and how they fold. Names and fields are on disk: added to, never changed.
import type { TmuxCare, TmuxPolicy, TmuxState } from "./tmux.ts";

type StoredPlace = {
  readonly session: string;
  readonly server: { readonly pid: number; readonly start_time: number; readonly boot_id: string };
};

type Adopted = StoredPlace & {
  readonly socket: string;
  readonly name: string;
  readonly policy: TmuxPolicy;
  readonly at: string;
};
type Recreated = StoredPlace & { readonly name: string; readonly notes: readonly string[]; readonly at: string };

export type TmuxEvent =
  | { readonly event: "tmux.adopted"; readonly id: string; readonly data: Adopted }
  | { readonly event: "tmux.recreated"; readonly id: string; readonly data: Recreated }
  | {
      readonly event: "tmux.lost";
      readonly id: string;
      readonly data: { readonly reason: string; readonly at: string; readonly wanted: boolean };
    }
  | {
      readonly event: "tmux.ended";
      readonly id: string;
      readonly data: { readonly reason: string; readonly at: string };
    }
  | { readonly event: "tmux.wanted"; readonly id: string; readonly data: { readonly at: string } }
  | { readonly event: "tmux.named"; readonly id: string; readonly data: { readonly name: string } }
  | { readonly event: "tmux.released"; readonly id: string; readonly data: { readonly at: string } };

/** The session after the event; `before` is undefined for its first one. */
export function applyTmux(before: TmuxCare | undefined, { event, id, data }: TmuxEvent): TmuxCare {
  if (event === "tmux.adopted") {
    const { socket, name, policy, at } = data;
    const adoptedAt = before?.adoptedAt ?? at;
    const recreated = before?.recreated;
    return { id, socket, name, policy, adoptedAt, state: kept(data), recreated, released: false };
  }
  if (before === undefined) throw new Error(`${event} of tmux session ${id}, which was never adopted`);
  if (event === "tmux.named") return { ...before, name: data.name };
  if (event === "tmux.released") return { ...before, released: true };
  if (event === "tmux.ended") return { ...before, state: { kind: "ended", ...data } };
  if (event === "tmux.lost") return { ...before, state: { kind: "lost", ...data } };
  if (event === "tmux.wanted") {
    return { ...before, state: { kind: "lost", reason: "you want it back", at: data.at, wanted: true } };
  }
  const { name, notes, at } = data;
  return { ...before, name, state: kept(data), recreated: { at, notes } };
}

function kept({ session, server }: StoredPlace): TmuxState {
  const { pid, start_time: startTime, boot_id: bootId } = server;
  return { kind: "kept", place: { server: { pid, startTime, bootId }, session } };
}
