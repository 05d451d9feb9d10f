// The fleet's queue as a part of the daemon: what this home asks for, and what it does for others.
// FP1. A run or an agent of the queue works in a directory of its own below the home, in which the workflow's file is:
//      no path of the home that asked means anything here.
// FP2. It is made by the same requests as any other, with the environment of this daemon.

import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import { type Result, refused } from "../../base/result.ts";
import { type Work, workOf } from "../../core/fleet/queue.ts";
import { terminalEnvironment } from "../../home/environment.ts";
import { QUEUED } from "../../home/layout.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { makeDirectories } from "../../log/file/file.ts";
import type { QueuedRequest } from "../../wire/fleet/queued.ts";
import { isObject } from "../../wire/lines.ts";
import { NO_SESSIONS, type Part, type PartPorts } from "../part.ts";
import type { Handler, Handlers } from "../rpc-server.ts";
import { Answers } from "./answers.ts";
import { FleetQueue } from "./queue.ts";
import { askingHandlers } from "./queue-asking.ts";

export type FleetLinks = {
  /** Of workflows and agents. */
  handlers(): Handlers;
  /** Whether a run was removed by a person. */
  isRemoved(run: string): boolean;
  /** Says where the things of its agents are that are outside of the home. */
  tellOutside(): void;
};

const TERM = "dumb";
const FILE = /^[\w][\w.-]{0,100}\.ya?ml$/;

export function openFleetQueue(ports: PartPorts, links: FleetLinks): Part {
  const { world, fleet, safeMode, say, onBug } = ports;
  const desk = fleet?.desk();
  const queue =
    desk &&
    new FleetQueue({
      ...{ desk, clock: world.clock, say },
      isOff: () => safeMode.isActive() || !ports.isLive(),
      make: (id, request) => make(ports, links, id, request),
      work: (id, kind) => workNow(links, id, kind),
    });
  const answers = desk && new Answers({ desk, isLive: () => ports.isLive(), answer: answerer(links) });
  desk?.onAsked(() => answers?.heard());
  return {
    ...NO_SESSIONS,
    handlers: askingHandlers(desk, world.random),
    goLive: () => queue?.tick(),
    tick: () => {
      queue?.tick();
      if (fleet !== undefined) links.tellOutside();
    },
    stop: async () => {
      await answers?.close().catch(onBug);
      await queue?.close().catch(onBug);
    },
  };
}

/** As everybody's answer to a prompt. */
function answerer(links: FleetLinks): Handler {
  return (params, by) => handlerOf(links, "prompt.answer")(params, by);
}

/** FP1 */
async function make(ports: PartPorts, links: FleetLinks, id: string, request: QueuedRequest): Promise<Result<unknown>> {
  const { disk, home, self } = ports.world;
  const cwd = joinPath(home, `${QUEUED}/${id}`);
  try {
    for (const parent of makeDirectories(disk, cwd, home)) await disk.syncDirectory(parent);
    const env = terminalEnvironment(self.environment(), TERM);
    if (request.kind === "agent") return await ask(links, "agent.new", agentOf(request, { id, cwd, env }));
    const path = joinPath(cwd, FILE.test(request.name) ? request.name : "workflow.yml");
    await writeAtomic(disk, path, Buffer.from(request.source));
    const { texts, values } = request;
    return await ask(links, "workflow.run", { id, path, cwd, texts, values, env });
  } catch (error) {
    if (!isFault(error)) throw error;
    return refused("disk", error.message, error.hint);
  }
}

type Place = { readonly id: string; readonly cwd: string; readonly env: Readonly<Record<string, string>> };

/** FP2 */
function agentOf({ kind: _, ...wish }: Extract<QueuedRequest, { kind: "agent" }>, place: Place) {
  return { ...wish, ...place, parent: null, command: [], flags: [], permissionMode: null, settings: {} };
}

function ask(links: FleetLinks, method: string, params: Readonly<Record<string, unknown>>): Promise<Result<unknown>> {
  return handlerOf(links, method)(params);
}

function handlerOf(links: FleetLinks, method: string): Handler {
  const handler = links.handlers()[method];
  if (handler === undefined) throw new Error(`there is no ${method}`);
  return handler;
}

async function workNow(links: FleetLinks, id: string, kind: string): Promise<Work> {
  if (links.isRemoved(id)) return workOf("cancelled");
  const found = await (kind === "agent"
    ? ask(links, "agent.show", { id })
    : ask(links, "workflow.show", { id, from: 0 }));
  if (!found.ok) return found.error.code === "unknown" ? workOf(undefined) : { kind: "unknown" };
  const state = isObject(found.value) ? found.value["state"] : undefined;
  return typeof state === "string" ? workOf(state) : { kind: "unknown" };
}
