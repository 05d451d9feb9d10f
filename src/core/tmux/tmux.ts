// Adopted tmux sessions: their states, commands and effects (decide.ts and events.ts change them). Pure, like
// terminals.
// X1. A session is known by its server (pid, start time, boot) and the number tmux gave it; names are for people.
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";

export type TmuxPolicy = "auto" | "ask" | "never";
/** A server's process: a pid alone may be reused. */
export type TmuxServer = { readonly pid: number; readonly startTime: number; readonly bootId: string };
/** X1. `session` is tmux's own id, such as `$3`: never used twice by one server. */
export type TmuxPlace = { readonly server: TmuxServer; readonly session: string };

export type TmuxState =
  | { readonly kind: "kept"; readonly place: TmuxPlace }
  /** Its server is gone. `wanted`: it is to be recreated. */
  | { readonly kind: "lost"; readonly reason: string; readonly at: string; readonly wanted: boolean }
  | { readonly kind: "ended"; readonly reason: string; readonly at: string }
  /** Its log cannot be trusted: it is listed, and left alone. */
  | { readonly kind: "uncertain"; readonly reason: string };

export type TmuxCare = {
  readonly id: string;
  readonly socket: string;
  readonly name: string;
  readonly policy: TmuxPolicy;
  readonly adoptedAt: string;
  readonly state: TmuxState;
  /** What the last recreation could not restore, and when it was. */
  readonly recreated: { readonly at: string; readonly notes: readonly string[] } | undefined;
  readonly released: boolean;
};

export type TmuxCares = ReadonlyMap<string, TmuxCare>;

export type TmuxCommand =
  | {
      readonly kind: "adopt";
      readonly id: string;
      readonly socket: string;
      readonly name: string;
      readonly policy: TmuxPolicy;
      readonly place: TmuxPlace;
    }
  | { readonly kind: "release"; readonly id: string }
  /** The operator wants it back, whatever the policy says. */
  | { readonly kind: "want"; readonly id: string }
  | { readonly kind: "named"; readonly id: string; readonly name: string }
  | { readonly kind: "lost"; readonly id: string; readonly reason: string; readonly orderly: boolean }
  | { readonly kind: "closed"; readonly id: string; readonly reason: string }
  | {
      readonly kind: "recreated";
      readonly id: string;
      readonly name: string;
      readonly place: TmuxPlace;
      readonly notes: readonly string[];
    };

export type TmuxEffect = { readonly kind: "recreate"; readonly id: string };

export function isAt({ state }: TmuxCare, { server, session }: TmuxPlace): boolean {
  return state.kind === "kept" && state.place.session === session && sameServer(state.place.server, server);
}

export function sameServer(a: TmuxServer, b: TmuxServer): boolean {
  return a.pid === b.pid && a.startTime === b.startTime && a.bootId === b.bootId;
}

/** What has no outcome yet (T2 of terminal.ts). */
export function tmuxEffectsOf({ id, state, released }: TmuxCare): TmuxEffect[] {
  return !released && state.kind === "lost" && state.wanted ? [{ kind: "recreate", id }] : [];
}

/** The session that a person means: by name, id, or prefix of an id. Existing sessions come before lost ones. */
export function findCare(cares: Iterable<TmuxCare>, key: string): Result<TmuxCare> {
  const open = [...cares].filter(({ released }) => !released);
  const named = open.filter(({ name, id }) => name === key || id === key);
  const [only, ...others] = preferKept(named.length > 0 ? named : open.filter(({ id }) => key && id.startsWith(key)));
  if (only === undefined) return unknown(key);
  return others.length === 0 ? ok(only) : ambiguous(key, [only, ...others]);
}

function preferKept(cares: readonly TmuxCare[]): readonly TmuxCare[] {
  const kept = cares.filter(({ state }) => state.kind === "kept");
  return kept.length > 0 ? kept : cares;
}

function unknown(key: string): { readonly ok: false; readonly error: Refusal } {
  return refused("unknown", `There is no adopted session ${JSON.stringify(key)}.`, "`holdfast adopt ls` shows all.");
}

function ambiguous(key: string, cares: readonly TmuxCare[]): { readonly ok: false; readonly error: Refusal } {
  const ids = cares.map(({ id }) => id.slice(0, 8)).join(", ");
  return refused("ambiguous", `${JSON.stringify(key)} matches ${cares.length}: ${ids}.`, "Give a prefix of its id.");
}
