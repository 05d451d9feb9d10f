// The part of the daemon that calls people, put together: the book, the senders, the desk, and the requests about them.
// NO1. It has no sessions: what it is about is in the logs of agents, and what it needs beside them in its book.
import type { Agent } from "../../core/agent/agent.ts";
import { matches, patternOf } from "../../core/agent/pattern.ts";
import type { Device } from "../../core/devices.ts";
import { quietHoursOf } from "../../core/notify/quiet.ts";
import type { Caller } from "../../core/principal.ts";
import type { Config } from "../../wire/files/config-schema.ts";
import { NO_SESSIONS, type Part, type PartPorts } from "../part.ts";
import type { Handler, Handlers } from "../rpc-server.ts";
import { Book } from "./book.ts";
import { NotifyDesk, type NotifyPorts } from "./desk.ts";
import { notifyHandlers } from "./handlers.ts";
import { PushKey } from "./push-key.ts";
import { senderOf, type Target } from "./senders.ts";

export type NotifyPart = Part & {
  heard(agent: Agent): void;
  /** Answers through these handlers are known by whom they were given. */
  answering(handlers: Handlers): Handlers;
};

export type NotifyLinks = Pick<NotifyPorts, "agents" | "agent" | "devices">;

/** More answers than are ever given at once. */
const MAX_ANSWERS = 256;
const ID_BYTES = 16;

export function openNotify({ world, live, say }: PartPorts, links: NotifyLinks): NotifyPart {
  const { clock, disk, home, random, subtle } = world;
  const book = new Book(disk, home);
  const key = new PushKey({ disk, home, subtle });
  const answers = new Map<string, Caller | undefined>();
  const running = { children: world.children, home, environment: () => world.self.environment() };
  const send = senderOf({
    ...{ network: world.network, clock, ...running, random, subtle, key: () => key.get() },
    get allow() {
      return live.current.push.allow;
    },
    get contact() {
      return live.current.push.contact;
    },
  });
  const desk = new NotifyDesk({
    ...{ clock, random, book, send, say, ...links },
    get quiet() {
      return quietHoursOf(live.current.notify.quiet);
    },
    get own() {
      return ownTargets(live.current.notify);
    },
    isMuted: (name) => isMuted(live.current.notify, name),
    answeredBy: (answer) => (answers.has(answer) ? wordsFor(answers.get(answer), links.devices()) : undefined),
  });
  const handlers = notifyHandlers({
    ...{ network: world.network, clock, desk, book, key, send, subtle, agent: links.agent },
    idBytes: () => random.bytes(ID_BYTES),
    get allow() {
      return live.current.push.allow;
    },
    get settings() {
      const { quiet, mute } = live.current.notify;
      return { quiet, mute };
    },
  });
  return {
    handlers,
    heard: (agent) => desk.heard(agent),
    answering: ({ "prompt.answer": answer, ...others }) =>
      answer === undefined ? others : { ...others, "prompt.answer": remembering(answers, answer) },
    goLive: () => desk.goLive(),
    tick: () => desk.tick(),
    stop: () => desk.stop(),
    ...NO_SESSIONS, // NO1
  };
}

function isMuted({ mute }: Config["notify"], name: string): boolean {
  const patterns = mute.map(patternOf);
  return patterns.some((pattern) => pattern !== undefined && matches(pattern, name, "wide"));
}

function ownTargets({ command, url }: Config["notify"]): Target[] {
  const [program, ...rest] = command;
  return [
    ...(program === undefined
      ? []
      : [{ kind: "command", id: "command", name: program, argv: [program, ...rest] } as const]),
    ...(url === "" ? [] : [{ kind: "url", id: "url", name: new URL(url).host, url } as const]),
  ];
}

/** By the id of the answer, which the prompt keeps: of two answers only one counts. */
function remembering(answers: Map<string, Caller | undefined>, handler: Handler): Handler {
  return (given, by) => {
    const { answer } = given;
    if (typeof answer === "string") answers.set(answer, by);
    for (const [oldest] of answers) {
      if (answers.size <= MAX_ANSWERS) break;
      answers.delete(oldest);
    }
    return handler(given, by);
  };
}

function wordsFor(by: Caller | undefined, devices: readonly Device[]): string {
  if (by?.host !== undefined) return `at ${by.host}`;
  const device = devices.find(({ id }) => id === by?.device);
  return device === undefined ? "in a shell" : `on ${device.name}`;
}
