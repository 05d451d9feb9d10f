// Decides on a command about an adopted tmux session: events, or a refusal (T1 of core/terminal/terminal.ts).
// X2. A session that its user closed while its server kept running has ended, and is not recreated automatically. A
//     session whose server is gone is lost: it is recreated at once if the policy is `auto`, or at the operator's
//     request.
// X3. tmux does not say whether its server ended because the last session was closed or because it was told to. So a
//     server that ended in order takes its sessions along for good only if they had been recreated shortly before: the
//     user means it.
import { ok, type Result, refused } from "../../base/result.ts";
import type { TmuxEvent } from "./events.ts";
import { isAt, type TmuxCare, type TmuxCares, type TmuxCommand, type TmuxPlace } from "./tmux.ts";

/** X3: a user who closes a session that has just been recreated means it. */
const MEANT_MS = 10 * 60_000;

export function decideTmux(cares: TmuxCares, command: TmuxCommand, at: string): Result<TmuxEvent[]> {
  if (command.kind === "adopt") return adopt(cares, command, at);
  const care = cares.get(command.id);
  if (care === undefined || care.released) {
    return refused("unknown", `There is no adopted session ${command.id}.`, "`holdfast adopt ls` shows all.");
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
    return refused("adopted", `${name} is already adopted.`, `\`holdfast adopt ls\` shows it as ${known.name}.`);
  }
  if (known !== undefined && known.policy === policy) return ok([]);
  return ok([{ event: "tmux.adopted", id, data: { socket, name, policy, at, ...stored(place) } }]);
}

function want({ id, name, state }: TmuxCare, at: string): Result<TmuxEvent[]> {
  if (state.kind === "lost" && state.wanted) return ok([]);
  if (state.kind === "lost" || state.kind === "ended") return ok([{ event: "tmux.wanted", id, data: { at } }]);
  const reason = state.kind === "kept" ? "it exists" : state.reason;
  return refused(
    "not-lost",
    `${name} cannot be recreated: ${reason}.`,
    "`holdfast adopt ls` shows the state of each session.",
  );
}

type Outcome = Extract<TmuxCommand, { kind: "lost" | "closed" | "recreated" }>;

/** Reports from the world are taken as they are; a repeat changes nothing. */
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
  return recreated !== undefined && Math.abs(Date.parse(at) - Date.parse(recreated.at)) < MEANT_MS;
}

function stored({ server, session }: TmuxPlace) {
  return { session, server: { pid: server.pid, start_time: server.startTime, boot_id: server.bootId } };
}
