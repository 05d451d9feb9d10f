// The person of a sweep's agents (SW1 and SW2 of sweep.ts): makes them, writes to them, answers their prompts, and
// continues those that wait for a person, over the daemon's socket.
// AU1. What was acknowledged is in the logs whenever a life begins, and so is all else that agent/sim-oracle.ts and
//      agent/sim-witness.ts ask for.
// AU2. A daemon shows what the logs say as soon as it is live, and when everything rests. What it shows is durable, and
//      the logs may be ahead: so before a rest only a difference that lasts from one look to the next is wrong.
// AU3. An agent that a life finds active is suspended before anything else happens to it (AG-4, FI-3).
// AU4. A full disk may refuse a request: it is made again if there is still a need. An answer may come too late, if the
//      process that asked dies while it is given.
import type { Result } from "../../../src/base/result.ts";
import { LogView } from "../../../src/log/inspect.ts";
import type { ListedAgent } from "../../../src/wire/rpc/agent.ts";
import {
  agentLogsOf,
  endsOf,
  foundActive,
  type Logs,
  type Shown,
  tooEarly,
  valuesOf,
  wrongOnDisk,
  wrongWithState,
} from "../../agent/sim-oracle.ts";
import { lastAsked, unread, wrongWithRequests, wrongWithWords } from "../../agent/sim-witness.ts";
import { HOME } from "../machine.ts";
import type { Client } from "./client.ts";
import type { HoldfastMachine } from "./machine.ts";
import { type AgentWish, type EndOfAgent, idOf } from "./script.ts";

const POLL_MS = 40;
/** Less than half of what a rest takes (REST_MS of sweep.ts). */
const AT_REST_MS = 200;
/** Some agents wait for minutes. */
const MAX_PAUSE_MS = 5_000;
const NEXT_ID = idOf(0xffff);
const FIRST_NEXT_MESSAGE = 0xe000;
const FIRST_ANSWER = 0xa000;
const PASSING = ["log.blocked", "stale"];
const AT_REST = ["idle", "suspended"];

export class AgentUser {
  readonly wishes: AgentWish[] = [];
  /** How long to wait before the next look: longer and longer while nothing changes. */
  pauseMs = POLL_MS;
  readonly #machine: HoldfastMachine;
  readonly #acknowledged = new Set<AgentWish>();
  /** The id of the answer to each prompt, however often it is given; and the prompts whose answer was acknowledged. */
  readonly #answers = new Map<string, string>();
  readonly #answered = new Set<string>();
  /** AU3: how long their logs were. */
  #active: ReadonlyMap<string, number> = new Map();
  /** AU2: what was shown last, and what is wrong with it; undefined before the first look at a life that finds some. */
  #shown: readonly Shown[] = [];
  #suspected: readonly string[] | undefined;
  #listed = "";
  /** As they were when a life began, or everything rested. */
  logs: Logs = new Map();

  constructor(machine: HoldfastMachine) {
    this.#machine = machine;
  }

  /** A daemon begins. */
  begin(): void {
    if (this.wishes.length === 0) return;
    this.#look();
    this.#active = foundActive(this.logs);
    this.#suspected = this.logs.size === 0 ? [] : undefined;
    this.pauseMs = POLL_MS;
  }

  /** Everything rests. */
  rest(): void {
    if (this.wishes.length === 0) return;
    this.#look();
    must([...unread(this.#machine, this.logs), ...wrongWithState(this.logs, this.#shown)]);
  }

  /** AU1 */
  #look(): void {
    const machine = this.#machine;
    const view = new LogView(machine.disk, HOME);
    const logs = agentLogsOf(view);
    must([...wrongOnDisk(machine.disk, view, logs), ...tooEarly(this.#active, logs), ...this.#lost(logs)]);
    must([...wrongWithWords(machine, logs), ...wrongWithRequests(machine.model.asked)]);
    this.logs = logs;
  }

  #lost(logs: Logs): string[] {
    const wishes = [...this.#acknowledged].filter((wish) => {
      const log = logs.get(wish.id) ?? [];
      if (wish.kind === "message") return !valuesOf(log, "message.enqueued", "message_id").includes(wish.message);
      return !log.some(({ event }) => event === (wish.kind === "agent" ? "agent.created" : "agent.terminated"));
    });
    const answered = [...logs.values()].flatMap((log) => valuesOf(log, "prompt.answered", "prompt_id"));
    const answers = [...this.#answered].filter((prompt) => !answered.includes(prompt));
    return [...wishes.map((wish) => JSON.stringify(wish)), ...answers].map((one) => `lost: ${one}`);
  }

  /** The same however often it was disturbed. */
  ends(): EndOfAgent[] {
    const { asked } = this.#machine.model;
    const logs = new Map([...this.logs].filter(([id]) => id !== NEXT_ID));
    return endsOf(logs).map(({ instructions, ...end }) => ({ ...end, ...lastAsked(asked, instructions) }));
  }

  /** Wishes for something new: another agent, and an answer of each that is left. Returns how many notes that makes. */
  wishNext(): number {
    const isLeft = (id: string) => this.logs.get(id)?.some(({ event }) => event === "agent.terminated") === false;
    const left = this.wishes.filter((wish) => wish.kind === "agent").filter(({ id }) => isLeft(id));
    this.wishes.push({ kind: "agent", id: NEXT_ID, provider: "actor", instructions: ">> note next" });
    for (const [at, { id }] of left.entries())
      this.wishes.push({ kind: "message", id, message: idOf(FIRST_NEXT_MESSAGE + at), text: `>> note next-${id}` });
    return 1 + left.filter(({ provider }) => provider === "actor").length;
  }

  /** Returns whether all is over. */
  async attend(client: Client): Promise<boolean> {
    if (this.wishes.length === 0) return true;
    const open = this.wishes.filter((wish) => !this.#acknowledged.has(wish));
    const first = open.filter(({ kind }) => kind !== "termination");
    const isAsked = await this.#askAll(client, first);
    const agents = await client.ask("agent.list", {});
    for (const agent of agents) await this.#help(client, agent);
    const seemsToRest = isAsked && agents.every(isQuiet);
    if (seemsToRest || this.#suspected?.length !== 0) this.#shown = await shownOf(client, agents);
    if (this.#suspected?.length !== 0) this.#compare();
    const waitsForNothing = seemsToRest && this.#shown.every(({ reminders }) => reminders.length === 0);
    const rests = waitsForNothing && this.#haveLeft(agents) && (await isSame(client, agents));
    const isOver = rests && (await this.#askAll(client, open)) && open.length === first.length;
    this.#pause(isOver, JSON.stringify(agents));
    return isOver;
  }

  /** No program of an agent that was terminated still runs. */
  #haveLeft(agents: readonly ListedAgent[]): boolean {
    const living = agents.map(({ id }) => id);
    return [...this.#machine.agents.running.keys()].every((name) => living.includes(name.slice(0, name.indexOf("."))));
  }

  #pause(isOver: boolean, listed: string): void {
    const waits = !isOver && listed === this.#listed;
    this.pauseMs = waits ? Math.min(2 * this.pauseMs, MAX_PAUSE_MS) : isOver ? AT_REST_MS : POLL_MS;
    this.#listed = listed;
  }

  /** AU2 */
  #compare(): void {
    const wrong = wrongWithState(agentLogsOf(new LogView(this.#machine.disk, HOME)), this.#shown);
    const lasting = wrong.filter((one) => this.#suspected?.includes(one));
    if (lasting.length > 0) this.#look(); // If the logs are wrong themselves, that is the reason.
    must(lasting);
    this.#suspected = wrong;
  }

  /** In order; returns whether all are acknowledged. */
  async #askAll(client: Client, wishes: readonly AgentWish[]): Promise<boolean> {
    for (const wish of wishes) {
      if (!this.#acknowledged.has(wish) && !(await this.#isDone(ask(client, wish)))) return false;
      this.#acknowledged.add(wish);
    }
    return true;
  }

  async #answer(client: Client, prompt: string): Promise<void> {
    if (this.#answered.has(prompt)) throw new Error(`${prompt} is open again`);
    const answer = this.#answers.get(prompt) ?? idOf(FIRST_ANSWER + this.#answers.size);
    this.#answers.set(prompt, answer);
    const answered = client.call("prompt.answer", { prompt, answer, decision: "allow" });
    if (await this.#isDone(answered)) this.#answered.add(prompt);
  }

  async #help(client: Client, { id, state, note, prompts }: ListedAgent): Promise<void> {
    for (const prompt of prompts) await this.#answer(client, prompt.id);
    const isHeld = state === "crashed" || (state === "suspended" && note !== null);
    if (isHeld) await this.#isDone(client.call("agent.retry", { id }));
  }

  /** AU4 */
  async #isDone(asked: Promise<Result<unknown>>): Promise<boolean> {
    const answer = await asked;
    if (!answer.ok && !PASSING.includes(answer.error.code)) throw new Error(answer.error.message);
    return answer.ok;
  }
}

function ask(client: Client, wish: AgentWish) {
  const { id } = wish;
  if (wish.kind === "message") return client.call("agent.send", { id, message: wish.message, text: wish.text });
  if (wish.kind === "termination") return client.call("agent.terminate", { id, reason: "enough" });
  const { provider, instructions } = wish;
  const settings = provider === "actor" ? { recovery_prompt: "Go on." } : {};
  const nothing = {
    parent: null,
    model: null,
    systemPrompt: "",
    env: {},
    command: [],
    flags: [],
    permissionMode: null,
  };
  return client.call("agent.new", {
    ...nothing,
    id,
    name: id.slice(0, 4),
    cwd: "/u",
    settings,
    instructions,
    provider,
  });
}

async function shownOf(client: Client, agents: readonly ListedAgent[]): Promise<Shown[]> {
  const shown: Shown[] = [];
  for (const { id } of agents) {
    const inbox = (await client.ask("agent.inbox", { id })).map(({ message_id }) => message_id);
    shown.push({ ...(await client.ask("agent.show", { id })), inbox });
  }
  return shown;
}

/** A reminder may have become a message, or a turn, while its agent was shown. */
async function isSame(client: Client, agents: readonly ListedAgent[]): Promise<boolean> {
  return JSON.stringify(await client.ask("agent.list", {})) === JSON.stringify(agents);
}

function isQuiet({ state, turnStartedAt, inbox }: ListedAgent): boolean {
  return AT_REST.includes(state) && turnStartedAt === null && inbox === 0;
}

function must(wrong: readonly string[]): void {
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
}
