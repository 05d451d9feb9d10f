// A desk with its book on a simulated disk, agents as facts, and phones that show what they are sent.
import type { Agent, Prompt, PromptState } from "../../src/core/agent/agent.ts";
import type { Device } from "../../src/core/devices.ts";
import type { Message } from "../../src/core/notify/message.ts";
import { quietHoursOf } from "../../src/core/notify/quiet.ts";
import { Book } from "../../src/daemon/notify/book.ts";
import { NotifyDesk, type NotifyPorts } from "../../src/daemon/notify/desk.ts";
import type { Reply } from "../../src/daemon/notify/reply.ts";
import type { Send, Target } from "../../src/daemon/notify/senders.ts";
import { SimClock } from "../sim/clock.ts";
import type { SimDisk } from "../sim/disk.ts";
import { SimRandom } from "../sim/random.ts";

const HOME = "/h";
const DEADLINE = "2026-01-08T00:00:00.000Z";
export const COMMAND: Target = { kind: "command", id: "command", name: "call-me", argv: ["call-me"] };

/** What became of a prompt; everything else of it is the same for all. */
export type Facts = ReadonlyMap<string, "open" | "again" | "allow" | "deny" | "stale">;

/** What each tag shows on each target, and what was sent there in all. */
export class Phones {
  readonly shown = new Map<string, Message["kind"]>();
  readonly sent: string[] = [];
  readonly #ended = new Set<string>();

  constructor(from?: Phones) {
    for (const [tag, kind] of from?.shown ?? []) this.shown.set(tag, kind);
    this.sent.push(...(from?.sent ?? []));
  }

  /** As a browser does: no question after its end (NW2 of src/page/worker/notices.ts). */
  take(target: string, { tag, kind }: Message): void {
    this.sent.push(`${kind} ${tag} ${target}`);
    if (kind === "end") this.#ended.add(`${tag} ${target}`);
    this.shown.set(`${tag} ${target}`, this.#ended.has(`${tag} ${target}`) ? "end" : kind);
  }

  /** What a phone shows for a prompt. */
  at(prompt: string, target = "command"): Message["kind"] | undefined {
    return this.shown.get(`${prompt} ${target}`);
  }
}

export function agentOf(facts: Facts, name = "builder", lane?: string): Agent {
  const prompts = [...facts].map(([id, became]): Partial<Prompt> => {
    const again = became === "again" && { again: 1 };
    return { id, tool: "Bash", input: { command: "ls" }, deadline: DEADLINE, ...again, state: stateOf(became) };
  });
  return { kind: "agent", id: name, name, lane, created: true, prompts } as unknown as Agent;
}

function stateOf(became: string): PromptState {
  if (became === "open" || became === "again") return { kind: "open" };
  if (became === "stale") return { kind: "stale", reason: "its process is gone" };
  const decision = became === "allow" ? "allow" : "deny";
  return { kind: "answered", decision, by: "user", answer_id: "answer", at: "2026-01-01T00:00:00.000Z" };
}

export type Given = {
  readonly disk: SimDisk;
  readonly phones?: Phones;
  readonly reply?: (target: Target, message: Message, stopped: Promise<void>) => Reply | Promise<Reply>;
  /** Called when a phone has shown something, and nobody has heard its reply yet. */
  readonly taken?: () => void;
  readonly own?: readonly Target[];
  readonly quiet?: string;
  readonly muted?: string;
  readonly devices?: readonly string[];
};

export class DeskLife {
  readonly clock: SimClock;
  readonly book: Book;
  readonly desk: NotifyDesk;
  readonly phones: Phones;
  readonly said: string[] = [];
  devices: readonly string[];
  readonly #agents = new Map<string, Agent>();

  constructor({ disk, phones = new Phones(), reply = () => ({ kind: "accepted" }), own = [COMMAND], ...given }: Given) {
    this.clock = new SimClock();
    this.book = new Book(disk, HOME);
    this.phones = phones;
    this.devices = given.devices ?? [];
    const send: Send = async (target, { message, stopped }) => {
      const answer = await reply(target, message, stopped);
      if (answer.kind === "accepted" || answer.kind === "lost") phones.take(target.id, message);
      given.taken?.();
      return answer;
    };
    const ports: NotifyPorts = {
      ...{ clock: this.clock, random: new SimRandom(7), book: this.book, send, own },
      quiet: quietHoursOf(given.quiet ?? ""),
      isMuted: (name) => name === given.muted,
      agents: () => this.#agents.values(),
      agent: (id) => this.#agents.get(id),
      devices: () => this.devices.map((id) => ({ id, name: id }) as unknown as Device),
      answeredBy: () => "in a shell",
      say: (words) => void this.said.push(words),
    };
    this.desk = new NotifyDesk(ports);
  }

  /** The agent is so from now on. */
  become(facts: Facts, name = "builder", lane?: string): void {
    this.#agents.set(name, agentOf(facts, name, lane));
  }

  async hear(facts: Facts, name = "builder", lane?: string): Promise<void> {
    const agent = agentOf(facts, name, lane);
    this.#agents.set(name, agent);
    this.desk.heard(agent);
    await this.settled();
  }

  forget(name = "builder"): void {
    this.#agents.delete(name);
  }

  /** Everything that can happen without time passing has happened. */
  async settled(): Promise<void> {
    for (let turns = 0; turns < 60; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await this.settled();
  }

  states(): string[] {
    return [...this.book.now.outbox.values()].map(({ state }) => state);
  }
}
