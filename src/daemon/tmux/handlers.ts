// What clients may ask about tmux sessions. As handlers.ts: changing waits until the daemon is live.
import { newId } from "../../base/ids.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { SeenSession } from "../../core/tmux/judge.ts";
import { findCare, isAt, type TmuxCare } from "../../core/tmux/tmux.ts";
import { paramsOf } from "../../wire/rpc/params.ts";
import type { AdoptParams, ListedTmux } from "../../wire/rpc/rpc.ts";
import type { Processes } from "../../world/process.ts";
import type { Random } from "../../world/random.ts";
import type { Handlers } from "../rpc-server.ts";
import type { TmuxRun, TmuxSocket } from "./client.ts";
import type { TmuxKeeper } from "./keeper.ts";
import { lookAt, sessionsIn } from "./look.ts";
import type { TmuxStore } from "./store.ts";

export type TmuxParts = { readonly store: TmuxStore; readonly keeper: TmuxKeeper };
export type TmuxHandlerPorts = {
  readonly random: Random;
  readonly processes: Processes;
  /** Undefined until the daemon takes changes. */
  live(): TmuxParts | undefined;
  /** Undefined until the log is open. */
  parts(): TmuxParts | undefined;
};

export function tmuxHandlers(ports: TmuxHandlerPorts): Handlers {
  const changing = async <T>(change: (parts: TmuxParts) => Promise<Result<T>>): Promise<Result<T>> => {
    const parts = ports.live();
    return parts === undefined ? NOT_LIVE : change(parts);
  };
  return {
    "tmux.adopt": (params) => changing((parts) => adopt(ports, parts, params)),
    "tmux.list": async () => ok(list(ports.parts())),
    "tmux.release": (params) => changing((parts) => release(parts, params)),
    "tmux.recreate": (params) => changing((parts) => recreate(parts, params)),
  };
}

const NOT_LIVE = refused("not-live", "The daemon is still recovering.", "Try again in a moment.");

function list(parts: TmuxParts | undefined): ListedTmux[] {
  if (parts === undefined) return [];
  const open = [...parts.store.allSettled()].filter(({ released }) => !released); // U6 of session-store.ts
  return open.map((care) => listed(parts, care));
}

function listed({ keeper }: TmuxParts, care: TmuxCare): ListedTmux {
  return { ...care, ...keeper.stateOf(care.id) };
}

type Params = Readonly<Record<string, unknown>>;

function careOf({ store }: TmuxParts, method: "tmux.release" | "tmux.recreate", given: Params): Result<TmuxCare> {
  const params = paramsOf(method, given);
  return params.ok ? findCare(store.states.values(), params.value.session) : params;
}

async function release(parts: TmuxParts, params: Params): Promise<Result<ListedTmux>> {
  const found = careOf(parts, "tmux.release", params);
  if (!found.ok) return found;
  const released = await parts.store.submit({ kind: "release", id: found.value.id });
  return released.ok ? ok(listed(parts, released.value)) : released;
}

/** Looks first: what was closed a moment ago may not be known yet, and what was lost may be back by then. */
async function recreate(parts: TmuxParts, params: Params): Promise<Result<ListedTmux>> {
  const found = careOf(parts, "tmux.recreate", params);
  if (!found.ok) return found;
  const { id, recreated } = found.value;
  await parts.keeper.round();
  const looked = parts.store.settled(id);
  if (looked?.state.kind === "kept" && looked.recreated?.at !== recreated?.at) return ok(listed(parts, looked));
  const wanted = await parts.store.submit({ kind: "want", id });
  if (!wanted.ok) return wanted;
  parts.keeper.attend(id, true);
  await parts.keeper.round(); // Behind what was just asked for: by then it is made, or there is a reason.
  return ok(listed(parts, parts.store.settled(id) ?? wanted.value));
}

async function adopt(ports: TmuxHandlerPorts, parts: TmuxParts, given: Params): Promise<Result<ListedTmux[]>> {
  const params = paramsOf("tmux.adopt", given);
  if (!params.ok) return params;
  const path = await socketPath(parts.keeper.run, params.value);
  if (!path.ok) return path;
  const seen = await lookAt(parts.keeper.run, ports, { path: path.value });
  if (!seen.ok) return seen;
  const chosen = choose(sessionsIn(seen.value), params.value);
  if (!chosen.ok) return chosen;
  const ids: string[] = [];
  for (const { session, name } of chosen.value) {
    const place = { server: seen.value.server, session };
    const known = [...parts.store.states.values()].find((care) => !care.released && isAt(care, place));
    const id = known?.id ?? newId(ports.random.bytes(16));
    const policy = params.value.policy ?? known?.policy ?? "auto";
    const taken = await parts.store.submit({ kind: "adopt", id, socket: path.value, name, policy, place });
    if (!taken.ok) return taken;
    ids.push(id);
  }
  await parts.keeper.round(); // So that what is acknowledged is also saved once, where that can be done now.
  for (const id of ids) parts.keeper.attend(id);
  return ok(list(parts).filter(({ id }) => ids.includes(id)));
}

/** tmux itself knows where it keeps its sockets. */
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
