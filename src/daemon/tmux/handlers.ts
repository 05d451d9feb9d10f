// The requests that clients may make about tmux sessions. Nothing is changed before the daemon is live (PB3 of
// part.ts).
import { newId } from "../../base/ids.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { Caller } from "../../core/principal.ts";
import type { SeenSession } from "../../core/tmux/judge.ts";
import { findCare, isAt, type TmuxCare } from "../../core/tmux/tmux.ts";
import type { AdoptParams, ListedTmux } from "../../wire/rpc/rpc.ts";
import type { Processes } from "../../world/process.ts";
import type { Random } from "../../world/random.ts";
import { listOf, living } from "../pages.ts";
import type { PartBorder } from "../part.ts";
import type { Handlers } from "../rpc-server.ts";
import type { TmuxRun, TmuxSocket } from "./client.ts";
import type { TmuxKeeper } from "./keeper.ts";
import { lookAt, sessionsIn } from "./look.ts";
import type { TmuxStore } from "./store.ts";

export type TmuxSessions = { readonly store: TmuxStore; readonly keeper: TmuxKeeper };
export type TmuxHandlerPorts = TmuxSessions & {
  readonly border: PartBorder;
  readonly random: Random;
  readonly processes: Processes;
};

export function tmuxHandlers(ports: TmuxHandlerPorts): Handlers {
  const { border } = ports;
  return {
    ...border.listing("tmux.list", () => cares(ports)),
    ...border.changing("tmux.adopt", (params, by) => adopt(ports, params, by)),
    ...border.changing("tmux.release", ({ session }, by) => release(ports, session, by)),
    ...border.changing("tmux.recreate", ({ session }, by) => recreate(ports, session, by)),
  };
}

/** Where the rows come from: those in our care. */
function cares(parts: TmuxSessions) {
  return living(parts.store, false, (care) => (care.released ? undefined : listed(parts, care)));
}

function listed({ keeper }: TmuxSessions, care: TmuxCare): ListedTmux {
  return { ...care, ...keeper.stateOf(care.id) };
}

async function release(parts: TmuxSessions, session: string, by: Caller | undefined): Promise<Result<ListedTmux>> {
  const found = findCare(parts.store.states.values(), session);
  if (!found.ok) return found;
  const released = await parts.store.submit({ kind: "release", id: found.value.id }, by);
  return released.ok ? ok(listed(parts, released.value)) : released;
}

/** Looks first: a session closed a moment ago may not be known as closed yet, and a lost one may already be back. */
async function recreate(parts: TmuxSessions, session: string, by: Caller | undefined): Promise<Result<ListedTmux>> {
  const found = findCare(parts.store.states.values(), session);
  if (!found.ok) return found;
  const { id, recreated } = found.value;
  await parts.keeper.round();
  const looked = parts.store.settled(id);
  if (looked?.state.kind === "kept" && looked.recreated?.at !== recreated?.at) return ok(listed(parts, looked));
  const wanted = await parts.store.submit({ kind: "want", id }, by);
  if (!wanted.ok) return wanted;
  parts.keeper.attend(id, true);
  await parts.keeper.round(); // Queued after the request: by then it is built, or there is a reason.
  return ok(listed(parts, parts.store.settled(id) ?? wanted.value));
}

async function adopt(
  ports: TmuxHandlerPorts,
  params: AdoptParams,
  by: Caller | undefined,
): Promise<Result<ListedTmux[]>> {
  const path = await socketPath(ports.keeper.run, params);
  if (!path.ok) return path;
  const seen = await lookAt(ports.keeper.run, ports, { path: path.value });
  if (!seen.ok) return seen;
  const chosen = choose(sessionsIn(seen.value), params);
  if (!chosen.ok) return chosen;
  const ids: string[] = [];
  for (const { session, name, mark } of chosen.value) {
    const place = { server: seen.value.server, session };
    // The mark counts before the log: a session that was just made again may not be recorded as such yet.
    const isKnown = (care: TmuxCare) => !care.released && (care.id === mark || isAt(care, place));
    const known = [...ports.store.states.values()].find(isKnown);
    const id = known?.id ?? newId(ports.random.bytes(16));
    const policy = params.policy ?? known?.policy ?? "auto";
    const taken = await ports.store.submit({ kind: "adopt", id, socket: path.value, name, policy, place }, by);
    if (!taken.ok) return taken;
    ids.push(id);
  }
  await ports.keeper.round(); // So that what is acknowledged is also saved once, if that is possible now.
  for (const id of ids) ports.keeper.attend(id);
  return ok(listOf(cares(ports)).filter(({ id }) => ids.includes(id)));
}

/** tmux itself knows where its sockets are. */
async function socketPath(run: TmuxRun, { path, name, directory }: AdoptParams): Promise<Result<string>> {
  if (path !== null) return ok(path);
  const socket: TmuxSocket = { name: name ?? "default", directory: directory ?? undefined };
  const told = await run({ socket, commands: [["list-sessions", "-F", "#{socket_path}"]] });
  return told.ok ? ok(told.value.split("\n")[0] ?? "") : told;
}

function choose(
  sessions: readonly SeenSession[],
  { sessions: keys, all }: AdoptParams,
): Result<readonly SeenSession[]> {
  const names = sessions.map(({ name }) => name).join(", ");
  if (all) return ok(sessions);
  if (keys.length === 0) {
    if (sessions.length === 1) return ok(sessions);
    return refused("which", `There are ${sessions.length} sessions: ${names}.`, "Name those you mean, or give --all.");
  }
  const found = keys.map((key) => sessions.find(({ name, session }) => name === key || session === key));
  const missing = keys.find((_, at) => found[at] === undefined);
  if (missing === undefined) return ok(found.filter((session) => session !== undefined));
  return refused("unknown", `tmux has no session ${JSON.stringify(missing)}.`, `It has: ${names}.`);
}
