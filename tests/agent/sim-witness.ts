// What programs and models know themselves, compared with the logs (FI-3).

import type { HoldfastMachine } from "../sim/holdfast/machine.ts";
import { keyOf } from "./sim-actor.ts";
import type { Asked } from "./sim-model.ts";
import { type Logged, type Logs, plainly } from "./sim-oracle.ts";

/** Holds at any moment of any life. */
export function wrongWithWords(machine: HoldfastMachine, logs: Logs): string[] {
  return [
    ...ofCalls(machine, logs),
    ...ofDeliveries(machine, logs),
    ...ofRecords(machine, logs),
    ...ofHangs(machine, logs),
  ];
}

/** What programs were told has happened is in the logs, once. */
function ofCalls({ agents: { acknowledged } }: HoldfastMachine, logs: Logs): string[] {
  const payloads = enqueued([...logs.values()].flat()).map(({ payload }) => payload);
  return acknowledged.flatMap(({ tool, args }) => {
    const payload = { send_message: args["text"], complete: args["result"], spawn_agent: args["instructions"] }[tool];
    const count = payload === undefined ? 1 : payloads.filter((one) => one === payload).length;
    return count === 1 ? [] : [`${tool} ${payload} was acknowledged, and is there ${count} times`];
  });
}

function enqueued(log: readonly Logged[]): { readonly id: unknown; readonly payload: unknown }[] {
  return log.flatMap(({ event, data }) =>
    event === "message.enqueued" ? [{ id: data["message_id"], payload: data["payload"] }] : [],
  );
}

/** AG-3: a delivered message was received by some process. */
function ofDeliveries({ agents: { told }, model }: HoldfastMachine, logs: Logs): string[] {
  const heard = [...told, ...model.asked.map((messages) => JSON.stringify(messages))].join("\n");
  return [...logs.values()].flatMap((log) => {
    const delivered = new Set(
      log.flatMap(({ event, data }) => (event === "message.delivered" ? [data["message_id"]] : [])),
    );
    return enqueued(log)
      .filter(({ id, payload }) => delivered.has(id) && !heard.includes(JSON.stringify(payload).slice(1, -1)))
      .map(({ payload }) => `delivered, and nobody was told: ${payload}`);
  });
}

/** The output read from each process, by its holder's name. */
function readOf(logs: Logs): Map<string, string[]> {
  const read = new Map<string, string[]>();
  for (const [id, log] of logs) {
    for (const { event, data } of log) {
      if (event !== "agent.read" || data["generation"] === 0) continue;
      const process = `${id}.${data["generation"]}`;
      const keys = [data["events"]].flat().map((one) => keyOf(Object(one)));
      read.set(process, [...(read.get(process) ?? []), ...keys]);
    }
  }
  return read;
}

/** The output read from a process is what it said, from the beginning: nothing missing, nothing twice. */
function ofRecords({ agents: { said } }: HoldfastMachine, logs: Logs): string[] {
  return [...readOf(logs)].flatMap(([process, read]) => {
    const { keys } = said.get(process) ?? { keys: [] };
    return read.every((key, at) => key === keys[at]) ? [] : [`${process} said ${keys}, and was read: ${read}`];
  });
}

/** At rest: unread output of a process whose record is whole and whose agent could have read it. */
export function unread({ agents: { said } }: HoldfastMachine, logs: Logs): string[] {
  const read = readOf(logs);
  return [...said].flatMap(([process, { keys, record }]) => {
    const log = logs.get(process.slice(0, process.indexOf("."))) ?? [];
    if (record === "harmed" || log.some(({ event }) => event === "agent.terminated")) return [];
    const missed = keys.slice(read.get(process)?.length ?? 0);
    return missed.map((key) => `${process} said ${key}, and nobody read it`);
  });
}

/** No process is wrongly treated as hung. */
function ofHangs({ agents: { hung } }: HoldfastMachine, logs: Logs): string[] {
  const stopped = [...logs].flatMap(([id, log]) =>
    log.flatMap(({ event, data }) =>
      event === "process.stopping" && data["reason"] === "hung" ? [`${id}.${data["generation"]}`] : [],
    ),
  );
  const taken = new Set(stopped).size;
  return taken <= hung ? [] : [`${hung} processes hung, and ${taken} were ended for it: ${stopped}`];
}

/**
 * Every request to a model continues its earlier ones, in any life, and omits nothing. Each agent has a distinct first
 * message.
 */
export function wrongWithRequests(asked: readonly (readonly Asked[])[]): string[] {
  const longest = new Map<string, readonly string[]>();
  return asked.flatMap((messages) => {
    const said = messages.map((message) => JSON.stringify(message));
    const before = longest.get(said[0] ?? "") ?? [];
    longest.set(said[0] ?? "", said);
    return said.slice(0, before.length).join() === before.join() ? [] : [`another past: ${said.join("\n")}`];
  });
}

/** The last request of the agent with these instructions, if it is a bare LLM. */
export function lastAsked(asked: readonly (readonly Asked[])[], instructions: string): { readonly asked?: string } {
  const last = asked.findLast(([first]) => String(first?.["content"]).includes(instructions));
  return last === undefined ? {} : { asked: plainly(JSON.stringify(last)) };
}
