// Drives agents on the simulated machine until everything rests, through crashes at given moments.
// SV1. A simulated person retries unacknowledged requests under the same id, answers prompts, and continues agents that
//      wait for a person.
// SV2. What was acknowledged is there in every later life, and the disk is sound at the beginning of each
//      (sim-oracle.ts).
// SV3. After the end there is one more life, which finds the same and does something new.
import { isFault } from "../../src/base/fault.ts";
import { itemsOf } from "../../src/base/vector.ts";
import { type Agent, isLive, openPrompts } from "../../src/core/agent/agent.ts";
import type { AgentCommand } from "../../src/core/agent/commands.ts";
import type { AgentEvent } from "../../src/core/agent/events.ts";
import { HoldfastMachine } from "../sim/holdfast/machine.ts";
import { HOME } from "../sim/machine.ts";
import type { Life } from "../sim/mortal.ts";
import type { Chooser } from "../sim/survive.ts";
import { planFor } from "./house.ts";
import { SimDaemon } from "./sim-daemon.ts";
import { isQuiet, logsOf, plainly, wrongOnDisk, wrongWithState } from "./sim-oracle.ts";
import { unread, wrongWithRequests, wrongWithWords } from "./sim-witness.ts";

/**
 * At the moment of this number the daemon dies; or the machine, with a chosen part of its unsynced writes; or one
 * program, or one holder, alone.
 */
export type SimCrash = {
  readonly at: number;
  readonly machine?: Chooser;
  readonly program?: number;
  readonly holder?: number;
};
export type Wish = Extract<AgentCommand, { readonly kind: "create" | "send" | "terminate" }>;
/** One moment, and how many events were durable then. */
export type SimMoment = { readonly what: string; readonly events: number; readonly ended: number };

export type End = { readonly agents: readonly (readonly unknown[])[]; readonly notes: readonly string[] };

const MAX_TURNS = 10_000;
const REST_MS = 500;
const NEAR_MS = 50;
const MAX_IN_A_ROW = 30;
const FULL_PAUSE_MS = 100;

export function creation(id: string, provider: "scripted" | "openai", instructions: string): Wish {
  const settings = provider === "scripted" ? { recovery_prompt: "Go on." } : {};
  return {
    kind: "create",
    id,
    name: id.slice(0, 4),
    parent: undefined,
    instructions,
    plan: planFor(provider),
    settings,
  };
}

export class AgentSimulation {
  readonly machine = new HoldfastMachine(1);
  readonly moments: SimMoment[] = [];
  /** Everything that became durable while a life could see it. */
  readonly heard: AgentEvent[] = [];
  crashed = 0;
  /** The number of moments when everything rested for the first time. */
  calls = 0;
  readonly #wishes: Wish[] = [];
  readonly #acknowledged = new Set<Wish>();
  /** Prompts whose answer was acknowledged. */
  readonly #answered = new Set<string>();
  /** What the person has said in this life. */
  readonly #said = new Set<string>();
  #next: SimCrash | undefined;
  #life: Life | undefined;
  #daemon: SimDaemon | undefined;

  constructor() {
    this.machine.disk.plant(`${HOME}/run/made`, Buffer.from(""));
    this.machine.moment = (what) => this.#moment(what);
  }

  /** Adds a wish; a termination is carried out once everything rests. */
  wish(...wishes: readonly Wish[]): void {
    this.#wishes.push(...wishes);
  }

  /** Lives until then, and dies; or until everything rests, if that comes first. */
  async crash(crash: SimCrash): Promise<void> {
    const before = this.crashed;
    this.#next = crash;
    await this.#liveUntil(() => this.crashed > before);
    this.#next = undefined;
  }

  /** Fills the disk up to this many bytes, and frees it again after a while. */
  fill(room: number, ms: number): void {
    this.machine.fill(room);
    this.machine.clock.after(ms, () => this.machine.makeRoom());
  }

  /** Lives until this many moments have passed. */
  pass(moments: number): Promise<void> {
    return this.#liveUntil(() => this.moments.length >= moments);
  }

  /** Runs to the end, and one more life (SV3). */
  async finish(): Promise<End> {
    await this.rest();
    const end = await this.end();
    this.calls = this.moments.length;
    const notes = this.machine.witness.notes.length;
    this.#life?.end();
    this.wish(creation("f".repeat(32), "scripted", ">> note next"));
    await this.rest();
    if (this.machine.witness.notes.length !== notes + 1) throw new Error("something was done after the end");
    const after = JSON.stringify((await this.end()).agents.filter(([name]) => name !== "ffff"));
    if (after !== JSON.stringify(end.agents)) throw new Error(`the next life finds another end: ${after}`);
    return end;
  }

  /** Runs until all wishes are done. */
  async rest(): Promise<void> {
    await this.#liveUntil(() => false);
    this.#look(this.#daemon?.agents() ?? []);
    this.#must(unread(this.machine, logsOf(this.machine.disk)));
  }

  /** SV2 */
  #look(agents: readonly Agent[]): void {
    const { machine } = this;
    const logs = logsOf(machine.disk);
    this.#must([...wrongOnDisk(machine.disk, logs), ...wrongWithState(logs, agents), ...this.#lost(agents)]);
    this.#must([...wrongWithWords(machine, logs), ...wrongWithRequests(machine.model.asked)]);
  }

  /** The outcome: the same however often it was disturbed. */
  async end(): Promise<End> {
    const agents = (await this.#daemon?.recalled()) ?? [];
    const conversation = ({ conversation: { said } }: Agent) => plainly(JSON.stringify([...itemsOf(said)]));
    const end = agents.map((agent) => [agent.name, agent.terminated?.by, agent.result, conversation(agent)]);
    return { agents: end.toSorted(byName), notes: this.machine.witness.notes.toSorted() };
  }

  #must(wrong: readonly string[]): void {
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
  }

  #moment(what: string): void {
    this.moments.push({ what, events: this.heard.length, ended: this.machine.agents.ended });
    const crash = this.#next;
    if (crash === undefined || crash.at >= this.moments.length) return;
    this.#next = undefined;
    this.crashed += 1;
    if (crash.program !== undefined) this.machine.agents.crash(crash.program);
    else if (crash.holder !== undefined) this.#crashHolder(crash.holder);
    else this.#life?.end();
    if (crash.machine !== undefined) this.machine.powerCut(crash.machine);
  }

  /** The program lives on until it is killed. */
  #crashHolder(which: number): void {
    const { holders, agents, clock } = this.machine;
    const { life } = [...holders][which % Math.max(1, holders.size)] ?? {};
    if (life === undefined) return;
    clock.after(0, () => {
      agents.harm();
      life.end();
    });
  }

  async #liveUntil(isSo: () => boolean): Promise<void> {
    const { clock } = this.machine;
    let over: number | undefined;
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      await this.#settle();
      if (this.machine.trouble !== undefined) throw this.machine.trouble;
      if (isSo()) return;
      if (this.#life?.dead !== false) {
        this.#bootWhereItCan();
        continue;
      }
      over = this.#attend() ? (over ?? clock.elapsed()) : undefined;
      if (over !== undefined && clock.elapsed() - over > REST_MS) return;
      clock.advance(this.#nextMs());
    }
    const restless = this.#daemon?.agents().filter((agent) => !isQuiet(agent));
    const states = restless?.map(({ conversation, plan, settings, ...state }) => state);
    throw new Error(`it does not end: ${JSON.stringify(states)}`);
  }

  async #settle(): Promise<void> {
    const { clock } = this.machine;
    await clock.settle();
    for (let turn = 0; turn < MAX_IN_A_ROW && this.#nextMs() > NEAR_MS; turn += 1) await clock.settle();
  }

  #nextMs(): number {
    const { clock } = this.machine;
    return Math.max(0, (clock.nextTimer ?? clock.elapsed() + 1) - clock.elapsed());
  }

  #bootWhereItCan(): void {
    if (this.machine.isFull) this.machine.clock.advance(FULL_PAUSE_MS); // It may have died of that.
    this.#boot();
  }

  #boot(): void {
    const born = this.machine.born();
    this.#life = born.life;
    this.#daemon = undefined;
    this.#said.clear();
    const folded = (daemon: SimDaemon) => this.#look(daemon.agents()); // SV2
    const live = (daemon: SimDaemon) => {
      if (born.life.dead) return;
      this.#daemon = daemon;
      this.#attend();
    };
    const heard = (event: AgentEvent) => void this.heard.push(event);
    const failed = (error: unknown) => {
      if (!this.machine.isFull || !isFault(error, "ENOSPC")) return this.machine.crashedOr(error);
      born.life.end(); // The watchdog retries.
    };
    SimDaemon.begin(this.machine, born, { heard, folded }).then(live, failed);
  }

  /** SV2: what was acknowledged to a person and is missing. */
  #lost(agents: readonly Agent[]): string[] {
    const wishes = [...this.#acknowledged].filter((wish) => {
      const agent = agents.find(({ id }) => id === wish.id);
      if (wish.kind === "send") return agent?.seen.includes(wish.message) !== true;
      return wish.kind === "create" ? agent === undefined : agent?.terminated === undefined;
    });
    const open = agents.flatMap((agent) => openPrompts(agent)).filter(({ id }) => this.#answered.has(id));
    return [...wishes.map((wish) => JSON.stringify(wish)), ...open.map(({ id }) => id)].map((one) => `lost: ${one}`);
  }

  /** SV1. Returns whether all is over. */
  #attend(): boolean {
    const daemon = this.#daemon;
    if (daemon === undefined) return false;
    const open = this.#wishes.filter((wish) => !this.#acknowledged.has(wish));
    const agents = daemon.agents();
    const first = open.filter(({ kind }) => kind !== "terminate");
    const quiet = first.length === 0 && agents.every(isQuiet);
    for (const wish of quiet ? open : first) this.#ask(daemon, wish);
    for (const agent of agents.filter(isLive)) this.#help(daemon, agent);
    return quiet && open.length === 0;
  }

  #ask(daemon: SimDaemon, wish: Wish): void {
    const there = daemon.agent(wish.id) !== undefined;
    const found = wish.kind === "create" && there && !this.#said.has(JSON.stringify(wish));
    if (found)
      this.#acknowledged.add(wish); // It was accepted in another life.
    else if (wish.kind === "create" || there) this.#say(daemon, wish, () => this.#acknowledged.add(wish));
  }

  #help(daemon: SimDaemon, agent: Agent): void {
    const { id, held, process } = agent;
    for (const { id: prompt } of openPrompts(agent)) {
      const answer = {
        kind: "answer",
        id,
        prompt,
        answer: prompt,
        decision: "allow",
        message: "",
        always: false,
      } as const;
      this.#say(daemon, answer, () => this.#answered.add(prompt));
    }
    const retry = { kind: "retry", id } as const;
    if (held !== undefined || process.kind === "PermanentlyFailed") this.#say(daemon, retry);
    else this.#said.delete(JSON.stringify(retry));
  }

  #say(daemon: SimDaemon, command: AgentCommand, done: () => void = () => undefined): void {
    const words = JSON.stringify(command);
    if (this.#said.has(words)) return;
    this.#said.add(words);
    const taken = (result: Awaited<ReturnType<SimDaemon["submit"]>>) => {
      if (daemon.life.dead) return;
      if (result.ok) done();
      else if (result.error.code === "log.blocked")
        this.#said.delete(words); // It is said again.
      else this.machine.failed(`${words}: ${result.error.message}`);
    };
    daemon.submit(command).then(taken, (error) => this.machine.crashedOr(error));
  }
}

function byName([one]: readonly unknown[], [other]: readonly unknown[]): number {
  return String(one) < String(other) ? -1 : 1;
}
