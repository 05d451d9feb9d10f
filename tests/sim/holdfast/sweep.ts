// Lives of the whole daemon that carry out a script, through blows at its moments, until everything that was wished for
// is over: for crashes at every moment of a chosen story. Stories by chance are in story.ts.
// SW1. A simulated person repeats unacknowledged requests, runs uncertain steps again, and resumes what was
//      interrupted.
// SW2. What was acknowledged is there in every later life.
// SW3. After the end there is one more life, which finds the same and does something new: a torn tail left in place
//      reads well and loses only the next write.
import type { Terminal } from "../../../src/core/terminal/terminal.ts";
import type { Definition } from "../../../src/core/workflow/definition.ts";
import { LogView } from "../../../src/log/inspect.ts";
import { fileOf } from "../../workflow/file-of.ts";
import type { SimDisk } from "../disk.ts";
import { HOME } from "../machine.ts";
import { SimRandom } from "../random.ts";
import { type Chooser, everything, nothing, randomSurvivor, survivors } from "../survive.ts";
import { AgentUser } from "./agent-user.ts";
import { Client, Over } from "./client.ts";
import { consentsOf, countsIn, endOf, eventsOf } from "./end-of-run.ts";
import { Heed } from "./heed.ts";
import { AGENT, type Daemon, HoldfastMachine, SETTINGS as USUAL } from "./machine.ts";
import { Person } from "./person.ts";
import {
  type Blow,
  type EndOfAgent,
  idOf,
  type Keep,
  type Lived,
  type LivedAgents,
  type LivedRun,
  type LivedTerminal,
  type RunWish,
  type Script,
} from "./script.ts";
import { leaveBehind } from "./taken.ts";
import { factsOf, type TerminalFacts } from "./terminal-facts.ts";
import { TerminalUser } from "./terminal-user.ts";

/** More than any of our scripts needs: one that takes more does not end. */
const MAX_TURNS = 50_000;
/** What follows an end is over by then: its checkpoint, the exit of the holders. */
const REST_MS = 500;
const FULL_PAUSE_MS = 1_000;

/** So few pending writes are kept and lost in every combination. */
const ENUMERATE_UP_TO = 4;

/** Screens are saved soon; agents of steps continue by themselves, whatever others do. */
const SOON = `
[checkpoint]
interval_ms = 1000
[agents]
recovery = "never"
`;
/** Agents that are wished for are restarted soon. */
const AUTO = `
[agents]
recovery = "auto"
hung_after_s = 60
`;
const SETTINGS = `slots = 2
[provider.actor]
kind = "scripted"
command = ["${AGENT}"]
[provider.model]
kind = "openai"
base_url = "http://model"
`;

/** For the life after all blows (SW3). */
const NEXT_ID = idOf(0xffff);
const NEXT: Definition = {
  name: "next",
  flow: { mode: "standard", steps: [{ id: "next", work: { kind: "shell", command: "work ok" } }] },
};

export async function live(script: Script): Promise<Lived> {
  const sweep = new Sweep(script.some(({ kind }) => kind === "agent") ? AUTO : SOON);
  for (const step of script) await sweep.step(step);
  return sweep.finish();
}

/** The sweep of this process that runs now. */
let current: Sweep | undefined;

/** Errors that no part of the program has handled fail the sweep; those that killed processes leave behind do not. */
export function heedUnhandled(): void {
  process.on("unhandledRejection", (error) => current?.machine.crashedOr(error));
}

class Sweep {
  readonly machine: HoldfastMachine;
  readonly #person = new Person();
  readonly #user: TerminalUser;
  readonly #agents: AgentUser;
  readonly #progress: { readonly events: number; readonly ended: number }[] = [];
  #heed: Heed | undefined;
  /** What was synced when the power was cut, each time. */
  readonly #kept: SimDisk[] = [];
  #endings = 0;
  readonly #moments: string[] = [];
  #next: { readonly blow: Blow; readonly at: number } | undefined;
  #struck = 0;
  #daemon: Daemon | undefined;
  /** When all was over for the first time. */
  #over: number | undefined;

  constructor(settings: string) {
    this.machine = new HoldfastMachine(1, `${USUAL}${settings}${SETTINGS}`);
    this.#user = new TerminalUser(this.machine);
    this.#agents = new AgentUser(this.machine);
    current = this;
    this.machine.moment = (what) => this.#moment(what);
  }

  async step(step: Script[number]): Promise<void> {
    if ("after" in step) return this.#blow(step);
    const { agents, slowHolders } = this.machine;
    this.#over = undefined;
    if (step.kind === "run") this.#wish(step);
    else if (step.kind === "terminal") this.#user.wants = true;
    else if (step.kind === "agent" || step.kind === "message" || step.kind === "termination")
      this.#agents.wishes.push(step);
    else if (step.kind === "eager") agents.eager = true;
    else if (step.kind === "heed") this.#heed = new Heed();
    else slowHolders.push(step.ms === "never" ? Number.POSITIVE_INFINITY : step.ms);
  }

  #wish(wish: RunWish): void {
    const { disk } = this.machine;
    const { id, definition, items } = wish;
    disk.plant(`/w/${id}.yml`, Buffer.from(fileOf(definition)));
    disk.plant(`/w/${id}/items.json`, Buffer.from(JSON.stringify(items)));
    this.#person.wishes.push(wish);
  }

  /** Lives until it strikes, or everything is over. */
  async #blow(blow: Blow): Promise<void> {
    const before = this.#struck;
    this.#next = { blow, at: this.#moments.length + blow.after };
    await this.#liveUntil(() => this.#struck > before);
    this.#next = undefined;
  }

  async finish(): Promise<Lived> {
    await this.#rest();
    const moments = [...this.#moments];
    const tookMs = this.#over ?? 0;
    const notes = this.machine.witness.notes.toSorted();
    const due = this.#done();
    const ends = this.#agents.ends();
    const shown = this.#person.shown;
    this.#daemon?.born.life.end();
    this.#wishNext(due);
    await this.#rest();
    if (this.#done().join() !== due.join()) throw new Error(`done after the end: ${this.#done()}, not ${due}`);
    this.#mustBeTheSame(shown, ends);
    const log = new LogView(this.machine.disk, HOME);
    const { [NEXT_ID]: next, ...runs } = this.#runs(log);
    if (next !== undefined && next.end.state !== "done") throw new Error("the next life does nothing new");
    const events = countsIn(log, (session) => !session.endsWith(NEXT_ID));
    const faults = this.machine.disk.fired.length;
    const of = { runs, notes, events, moments, struck: this.#struck, faults, tookMs, endings: this.#endings };
    return {
      ...of,
      ...(this.#user.terminal && { terminal: await this.#terminal(this.#user.terminal) }),
      ...(ends.length > 0 && { agents: this.#livedAgents(moments.length) }),
    };
  }

  async #rest(): Promise<void> {
    await this.#liveUntil(() => false);
    this.#agents.rest();
  }

  /** How many effects there are, of steps and of agents. */
  #done(): [number, number] {
    const { marks, notes } = this.machine.witness;
    return [marks.length, notes.length];
  }

  /** SW3. Adds what that makes to `due`. */
  #wishNext(due: [number, number]): void {
    this.#over = undefined;
    if (this.#agents.wishes.length > 0) due[1] += this.#agents.wishNext();
    else {
      this.#wish({ kind: "run", id: NEXT_ID, definition: NEXT, items: [] });
      due[0] += 1;
    }
  }

  #mustBeTheSame(shown: ReadonlyMap<string, string>, ends: readonly EndOfAgent[]): void {
    for (const [id, was] of shown) {
      const is = this.#person.shown.get(id);
      if (was !== is) throw new Error(`the next life finds another end of ${id}: ${is}, not ${was}`);
    }
    const plain = (of: readonly EndOfAgent[]) => JSON.stringify(of.map(({ asked, ...end }) => end));
    const now = plain(this.#agents.ends());
    if (now !== plain(ends)) throw new Error(`the next life finds another end: ${now}`);
  }

  #livedAgents(moments: number): LivedAgents {
    const { agents, model } = this.machine;
    return {
      ends: this.#agents.ends(),
      logs: Object.fromEntries(this.#agents.logs),
      given: agents.given,
      asked: model.asked,
      noted: agents.noted,
      isHarmed: [...agents.said.values()].some(({ record }) => record === "harmed"),
      heard: this.#heed?.heard ?? [],
      progress: this.#progress.slice(0, moments),
    };
  }

  async #terminal({ generation, restored }: Terminal): Promise<LivedTerminal> {
    const { disk, clock } = this.machine;
    const kept: TerminalFacts[] = [];
    for (const one of this.#kept) kept.push(await factsOf(one, clock));
    const facts = await factsOf(disk, clock);
    return { generation, startAt: restored?.offset ?? 0, lines: [...this.#user.lines], facts, kept };
  }

  #runs(log: LogView): Record<string, LivedRun> {
    const { witness } = this.machine;
    const found = this.#person.wishes.map(({ id, definition }) => {
      const events = eventsOf(log, id);
      const marks = witness.marks.filter(({ mark }) => mark.startsWith(`${id}/`));
      return [id, { end: endOf(events), marks, consents: consentsOf(events, definition) }] as const;
    });
    return Object.fromEntries(found);
  }

  #moment(what: string): void {
    this.#moments.push(what);
    const { disk, agents } = this.machine;
    if (this.#heed !== undefined) this.#progress.push({ events: this.#heed.look(disk), ended: agents.ended });
    const next = this.#next;
    if (next === undefined || next.at >= this.#moments.length) return;
    this.#next = undefined;
    this.#strike(next.blow);
  }

  #strike(blow: Blow): void {
    this.#struck += 1;
    if (blow.kind === "power") this.#cutPower(blow.keep);
    else if (blow.kind === "taken") this.#takeOver();
    else if (blow.kind === "daemon") this.#daemon?.born.life.end();
    else if (blow.kind === "program") this.machine.agents.crash(blow.which);
    else if (blow.kind === "holder") this.#killHolder(blow.which);
    else if (blow.kind === "full") this.#fill(blow.room, blow.ms);
    else this.#person.interrupts = true;
  }

  /** The program lives on until it is killed. */
  #killHolder(which: number): void {
    const { holders, agents, clock } = this.machine;
    const { life } = [...holders][which % Math.max(1, holders.size)] ?? {};
    if (life === undefined) return;
    clock.after(0, () => {
      agents.harm();
      life.end();
    });
  }

  #fill(room: number, ms: number): void {
    this.machine.fill(room);
    this.machine.clock.after(ms, () => this.machine.makeRoom());
  }

  /** Its own host is gone; the next life is on another. */
  #takeOver(): void {
    leaveBehind(this.machine.disk);
    this.machine.powerCut(everything);
  }

  #cutPower(keep: Keep): void {
    const { disk } = this.machine;
    const all = [...survivors(disk.pending(), ENUMERATE_UP_TO)];
    this.#endings = all.length;
    this.#kept.push(disk.powerCut(nothing));
    this.machine.powerCut(typeof keep === "object" ? (all[keep.nth % all.length] ?? nothing) : chooserOf(keep));
  }

  /** Waits until this holds, or everything has been over for a while. */
  async #liveUntil(isSo: () => boolean): Promise<void> {
    const { clock } = this.machine;
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      await this.machine.settle();
      if (isSo()) return;
      if (this.#daemon?.born.life.dead !== false) {
        if (this.machine.isFull) clock.advance(FULL_PAUSE_MS); // It may have died of that.
        this.#begin();
        continue;
      }
      if (this.#over !== undefined && clock.elapsed() - this.#over > REST_MS) return;
      this.machine.pass();
    }
    throw new Error(`it does not end: ${[...this.#person.shown.values()]}`);
  }

  #begin(): void {
    this.#agents.begin();
    const daemon = this.machine.begin();
    this.#daemon = daemon;
    this.#over = undefined;
    this.#user.begin();
    this.#attend(daemon).catch((error) => {
      if (!(error instanceof Over) && !daemon.born.life.dead) this.machine.crashedOr(error);
    });
  }

  /** SW1 */
  async #attend({ born }: Daemon): Promise<void> {
    const client = new Client(this.machine);
    born.life.onEnd(() => client.me.life.end());
    await client.live();
    while (!born.life.dead) {
      const runs = await this.#person.attend(client);
      const agents = await this.#agents.attend(client);
      const over = (await this.#user.attend(client)) && runs && agents;
      this.#over = over ? (this.#over ?? this.machine.clock.elapsed()) : undefined;
      await client.sleep(this.#agents.pauseMs);
    }
  }
}

function chooserOf(keep: Exclude<Keep, object>): Chooser {
  if (keep === "nothing") return nothing;
  if (keep === "half") return half;
  return keep === "everything" ? everything : randomSurvivor(new SimRandom(keep));
}

const half: Chooser = (op) => (op.kind === "write" ? { kind: "torn", bytes: op.bytes.length >> 1 } : { kind: "whole" });
