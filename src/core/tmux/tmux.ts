// tmux sessions under our care, decided and folded. Pure, as terminals are (terminal.ts, T1 and T2).
// X1. A session is known by its server (pid, start time, boot) and the number tmux gave it; names are for people and may change.
// X2. One that its user closed while its server went on has ended, and is not re-created by itself. One whose server is gone is lost,
//     and is: at once where the policy is `auto`, when the operator says so where it is `ask`, never by itself where it is `never`.
// X3. tmux does not say whether its server ended because the last session was closed or because it was told to. So a server that
//     ended in order takes its sessions along for good only where they had been re-created shortly before: the user means it.
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import type { TmuxEvent } from "./events.ts";

export type TmuxPolicy = "auto" | "ask" | "never";
/** A server's process: its pid alone would be somebody else's one day. */
export type TmuxServer = { readonly pid: number; readonly startTime: number; readonly bootId: string };
/** X1. `session` is tmux's own id, such as `$3`: never given twice by one server. */
export type TmuxPlace = { readonly server: TmuxServer; readonly session: string };

export type TmuxState =
  | { readonly kind: "kept"; readonly place: TmuxPlace }
  /** Its server is gone. `wanted`: it is to be re-created. */
  | { readonly kind: "lost"; readonly reason: string; readonly at: string; readonly wanted: boolean }
  | { readonly kind: "ended"; readonly reason: string; readonly at: string }
  /** Its log cannot be trusted: seen, and left alone. */
  | { readonly kind: "uncertain"; readonly reason: string };

export type TmuxCare = {
  readonly id: string;
  readonly socket: string;
  readonly name: string;
  readonly policy: TmuxPolicy;
  readonly adoptedAt: string;
  readonly state: TmuxState;
  /** What the last re-creation could not bring back, and when it was. */
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

/** X3: who closes a session that has just come back by itself means it. */
const MEANT_MS = 10 * 60_000;

export function decideTmux(cares: TmuxCares, command: TmuxCommand, at: string): Result<TmuxEvent[]> {
  if (command.kind === "adopt") return adopt(cares, command, at);
  const care = cares.get(command.id);
  if (care === undefined || care.released) {
    return refused("unknown", `There is no adopted session ${command.id}.`, "holdfast adopt ls shows all.");
  }
  const { id } = care;
  if (command.kind === "release") return ok([{ event: "tmux.released", id, data: { at } }]);
  if (command.kind === "want") return want(care, at);
  if (care.state.kind === "uncertain") return ok([]);
  if (command.kind === "named") {
    return ok(command.name === care.name ? [] : [{ event: "tmux.named", id, data: { name: command.name } }]);
  }
  return ok(outcome(care, command, at));
}

function adopt(cares: TmuxCares, command: TmuxCommand & { kind: "adopt" }, at: string): Result<TmuxEvent[]> {
  const { id, socket, name, policy, place } = command;
  const known = [...cares.values()].find((care) => !care.released && isAt(care, place));
  if (known !== undefined && known.id !== id) {
    return refused("adopted", `${name} is under our care already.`, `holdfast adopt ls shows it as ${known.name}.`);
  }
  if (known !== undefined && known.policy === policy) return ok([]);
  return ok([{ event: "tmux.adopted", id, data: { socket, name, policy, at, ...stored(place) } }]);
}

function want({ id, name, state }: TmuxCare, at: string): Result<TmuxEvent[]> {
  if (state.kind === "lost" && state.wanted) return ok([]);
  if (state.kind === "lost" || state.kind === "ended") return ok([{ event: "tmux.wanted", id, data: { at } }]);
  const reason = state.kind === "kept" ? "it is there" : state.reason;
  return refused("not-lost", `${name} cannot be re-created: ${reason}.`, "holdfast adopt ls shows how each one is.");
}

type Outcome = Extract<TmuxCommand, { kind: "lost" | "closed" | "recreated" }>;

/** What the world reports is taken as it is; a repeat changes nothing. */
function outcome(care: TmuxCare, command: Outcome, at: string): TmuxEvent[] {
  const { id, policy, state } = care;
  if (command.kind === "recreated") {
    const { name, place, notes } = command;
    const event: TmuxEvent = { event: "tmux.recreated", id, data: { name, notes, at, ...stored(place) } };
    return isAt(care, place) ? [] : [event];
  }
  if (state.kind !== "kept") return [];
  const { reason } = command;
  if (command.kind === "closed" || (command.orderly && isMeant(care, at))) {
    return [{ event: "tmux.ended", id, data: { reason, at } }]; // X2, X3
  }
  return [{ event: "tmux.lost", id, data: { reason, at, wanted: policy === "auto" } }];
}

function isMeant({ recreated }: TmuxCare, at: string): boolean {
  return recreated !== undefined && Date.parse(at) - Date.parse(recreated.at) < MEANT_MS;
}

function stored({ server, session }: TmuxPlace) {
  return { session, server: { pid: server.pid, start_time: server.startTime, boot_id: server.bootId } };
}

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

/** The one that a person means: by name, by id, or by the beginning of an id. Those that are there come before those that were. */
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
  return refused("unknown", `There is no adopted session ${JSON.stringify(key)}.`, "holdfast adopt ls shows all.");
}

function ambiguous(key: string, cares: readonly TmuxCare[]): { readonly ok: false; readonly error: Refusal } {
  const ids = cares.map(({ id }) => id.slice(0, 8)).join(", ");
  return refused("ambiguous", `${JSON.stringify(key)} fits ${cares.length}: ${ids}.`, "Give the beginning of its id.");
}
