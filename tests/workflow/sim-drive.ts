// Drives runs on the simulated machine to their end, through crashes at given moments, and reports the outcome.
// SD1. A simulated person runs uncertain steps again, resumes what was interrupted, and repeats unacknowledged
//      requests.
// SD2. What was acknowledged is there in every later life.
// SD3. After the end there is one more life, which finds the same and does something new: a torn tail left in place
//      reads well and loses only the next write.

import type { Json } from "../../src/base/json.ts";
import { toRecord } from "../../src/base/table.ts";
import { itemsOf } from "../../src/base/vector.ts";
import type { WorkflowCommand } from "../../src/core/workflow/commands.ts";
import { type Definition, INPUT_STEP, type Step, stepById } from "../../src/core/workflow/definition.ts";
import { attemptsOf, type Run, stateOf } from "../../src/core/workflow/run.ts";
import { LogView } from "../../src/log/inspect.ts";
import { HOME } from "../sim/machine.ts";
import type { Life } from "../sim/mortal.ts";
import type { Chooser } from "../sim/survive.ts";
import { SimDaemon } from "./sim-daemon.ts";
import { type Mark, WorkflowMachine } from "./sim-machine.ts";
import { creation, isOver } from "./world.ts";

/** At the moment of this number the daemon dies; or the machine, with a chosen part of its unsynced writes. */
export type SimCrash = { readonly at: number; readonly machine?: Chooser };

/** More than any of our workflows needs: one that takes more does not end. */
const MAX_TURNS = 50_000;
/** What follows an end is over by then: its checkpoint, the exit of the holders. */
const REST_MS = 500;
const NEAR_MS = 50;
const MAX_IN_A_ROW = 30;

export type Driven = {
  readonly run: Run;
  readonly marks: readonly Mark[];
  /** The attempts that a person, or the file, agreed to repeat. */
  readonly consents: ReadonlySet<string>;
  /** The moments, in order. */
  readonly moments: readonly string[];
  readonly crashed: number;
  /** When it ended, in simulated time. */
  readonly tookMs: number;
};

/** One run alone, with crashes at these moments. */
export async function simulate(
  definition: Definition,
  items: readonly Json[],
  crashes: readonly SimCrash[],
): Promise<Driven> {
  const simulation = new Simulation();
  simulation.begin("r1", definition, items);
  for (const crash of crashes) await simulation.crash(crash);
  const [driven] = await simulation.finish();
  if (driven === undefined) throw new Error("there is no run");
  return driven;
}

/** For the life after all crashes (SD3). */
const NEXT: Step = { id: "next", work: { kind: "shell", command: "work ok" }, capture: { x: "stdout" } };

export class Simulation {
  readonly moments: string[] = [];
  readonly #machine = new WorkflowMachine(1);
  readonly #wanted = new Map<string, WorkflowCommand>();
  #over = 0;
  readonly #acknowledged = new Set<string>();
  /** What the person has said in this life. */
  readonly #said = new Set<string>();
  #next: SimCrash | undefined;
  #crashed = 0;
  #life: Life | undefined;
  #daemon: SimDaemon | undefined;

  constructor() {
    this.#machine.disk.plant(`${HOME}/made`, Buffer.from(""));
    this.#machine.moment = (what) => this.#moment(what);
  }

  /** Adds a run, with these items if it is a map. */
  begin(id: string, definition: Definition, items: readonly Json[]): void {
    const cwd = `/w/${id}`;
    this.#machine.disk.plant(`${cwd}/items.json`, Buffer.from(JSON.stringify(items)));
    this.#machine.lists.set(cwd, items.map((item) => `${JSON.stringify(item)}\n`).join(""));
    this.#wanted.set(id, creation(definition, {}, { id, cwd }));
  }

  /** Lives until then, and dies; or to the end, if that comes first. */
  async crash(crash: SimCrash): Promise<void> {
    const before = this.#crashed;
    this.#next = crash;
    await this.#liveUntil(() => this.#crashed > before);
    this.#next = undefined;
  }

  /** Interrupts every run at this moment, and resumes it once it has stopped (SD1). */
  async interrupt(at: number): Promise<void> {
    await this.#liveUntil(() => this.moments.length > at);
    const daemon = this.#daemon;
    if (daemon === undefined) return;
    for (const id of this.#wanted.keys()) {
      const run = daemon.run(id);
      if (run?.status.kind === "going") this.#say(daemon, { kind: "interrupt", id });
    }
  }

  /** Runs to the end of all runs, and one more life (SD3). */
  async finish(): Promise<Driven[]> {
    await this.#liveUntil(() => false);
    const driven = [...this.#wanted.keys()].map((id) => this.#drivenOf(id));
    const { length } = this.#machine.marks;
    this.#life?.end();
    this.begin("next", { name: "next", flow: { mode: "standard", steps: [NEXT] } }, []);
    await this.#liveUntil(() => false);
    if (this.#machine.marks.length !== length + 1) throw new Error("something was done after the end");
    for (const [at, id] of [...this.#wanted.keys()].entries()) {
      const before = driven[at] === undefined ? "done" : JSON.stringify(endOf(driven[at].run));
      const after = driven[at] === undefined ? stateOf(this.#run(id)) : JSON.stringify(endOf(this.#run(id)));
      if (before !== after) throw new Error(`the next life finds another end of ${id}: ${after}, not ${before}`);
    }
    return driven;
  }

  #run(id: string): Run {
    const run = this.#daemon?.run(id);
    if (run === undefined) throw new Error(`there is no run ${id}`);
    return run;
  }

  #drivenOf(id: string): Driven {
    const marks = this.#machine.marks.filter(({ mark }) => mark.startsWith(`${id}/`));
    const moments = [...this.moments];
    const [crashed, tookMs] = [this.#crashed, this.#over];
    return { run: this.#run(id), marks, consents: this.#consents(id), moments, crashed, tookMs };
  }

  #moment(what: string): void {
    this.moments.push(what);
    const crash = this.#next;
    if (crash === undefined || crash.at >= this.moments.length) return;
    this.#next = undefined;
    this.#crashed += 1;
    this.#life?.end();
    if (crash.machine !== undefined) this.#machine.powerCut(crash.machine);
  }

  /** Waits until this holds, or all runs ended a while ago. */
  async #liveUntil(isSo: () => boolean): Promise<void> {
    const { clock } = this.#machine;
    let over: number | undefined;
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      await this.#settle();
      if (this.#machine.trouble !== undefined) throw this.#machine.trouble;
      if (isSo()) return;
      if (this.#life?.dead !== false) {
        this.#boot();
        continue;
      }
      over = this.#attendAll() ? (over ?? clock.elapsed()) : undefined;
      this.#over = over ?? this.#over;
      if (over !== undefined && clock.elapsed() - over > REST_MS) return;
      clock.advance(this.#nextMs());
    }
    const states = [...this.#wanted.keys()].map((id) => `${id} ${JSON.stringify(this.#daemon?.run(id)?.status)}`);
    throw new Error(`it does not end: ${states.join()}`);
  }

  /** If the next timer is far away, everything in progress finishes first, however many turns it takes. */
  async #settle(): Promise<void> {
    const { clock } = this.#machine;
    await clock.settle();
    for (let turn = 0; turn < MAX_IN_A_ROW && this.#nextMs() > NEAR_MS; turn += 1) await clock.settle();
  }

  #nextMs(): number {
    const { clock } = this.#machine;
    return Math.max(0, (clock.nextTimer ?? clock.elapsed() + 1) - clock.elapsed());
  }

  #boot(): void {
    const born = this.#machine.born();
    this.#life = born.life;
    this.#daemon = undefined;
    this.#said.clear();
    const live = (daemon: SimDaemon) => {
      if (born.life.dead) return;
      // SD2
      for (const id of this.#acknowledged) if (daemon.run(id) === undefined) this.#machine.failed(`${id} is gone`);
      this.#daemon = daemon;
      this.#attendAll();
    };
    SimDaemon.begin(this.#machine, born).then(live, (error) => this.#machine.crashedOr(error));
  }

  /** Returns whether all is over. */
  #attendAll(): boolean {
    const daemon = this.#daemon;
    if (daemon === undefined) return false;
    return [...this.#wanted].map(([id, create]) => this.#attend(daemon, id, create)).every((over) => over);
  }

  /** SD1 */
  #attend(daemon: SimDaemon, id: string, create: WorkflowCommand): boolean {
    const run = daemon.run(id);
    if (run === undefined) this.#say(daemon, create, () => this.#acknowledged.add(id));
    else if (stateOf(run) === "uncertain")
      for (const { id: attempt, state } of attemptsOf(run))
        if (state.kind === "uncertain") this.#say(daemon, { kind: "resolve", id, attempt, verdict: "rerun" });
    if (run?.status.kind === "interrupted") this.#say(daemon, { kind: "resume", id, force: false });
    else this.#said.delete(JSON.stringify({ kind: "resume", id, force: false }));
    return run !== undefined && run.status.kind !== "interrupted" && isOver(run);
  }

  #say(daemon: SimDaemon, command: WorkflowCommand, done: () => void = () => undefined): void {
    const words = JSON.stringify(command);
    if (this.#said.has(words)) return;
    this.#said.add(words);
    const taken = (result: Awaited<ReturnType<SimDaemon["submit"]>>) => {
      if (result.ok) done();
      else this.#machine.failed(result.error.message);
    };
    daemon.submit(command).then(taken, (error) => this.#machine.crashedOr(error));
  }

  #consents(id: string): Set<string> {
    const found = new Set<string>();
    const steps = new Map<string, string>();
    for (const reading of new LogView(this.#machine.disk, HOME).read(`state/w/sessions/${id}`)) {
      if (reading.kind !== "entry") continue;
      const { event, data } = reading.entry;
      const { attempt, step, verdict, by } = Object(data);
      if (event === "workflow.attempt.started") steps.set(attempt, step);
      if (event !== "workflow.attempt.resolved" || verdict !== "rerun") continue;
      if (by === "person" || agrees(this.#run(id).definition, steps.get(attempt) ?? "")) found.add(attempt);
    }
    return found;
  }
}

/** Whether the file itself allows this step to be run again; evaluated here independently of the engine. */
function agrees(definition: Definition, id: string): boolean {
  const step = stepById(definition, id);
  return id === INPUT_STEP || step?.on_uncertain === "rerun" || (!step?.on_uncertain && step?.idempotent === true);
}

/** The outcome of a run: the same however often it was disturbed. */
export function endOf(run: Run) {
  const items = [...itemsOf(run.items.all)].map(({ state }) => [
    state.kind,
    state.kind === "succeeded" ? state.result : "",
  ]);
  const steps = [...itemsOf(run.records)].map(({ step, outcome, iteration }) => `${step} ${iteration} ${outcome}`);
  return { state: stateOf(run), variables: toRecord(run.variables), items, steps };
}

/** Attempts that acted twice: none ever does, whatever was agreed. */
export function actedTwice({ marks }: Driven): string[] {
  const ids = marks.map(({ attempt }) => attempt);
  return ids.filter((id, at) => ids.indexOf(id) !== at);
}

/** Marks left a second time without consent: an attempt that acted is the last, or consent followed it. */
export function unagreed({ marks, consents }: Driven): string[] {
  const again = marks.filter(
    ({ mark, attempt }, at) => !consents.has(attempt) && marks.slice(at + 1).some((later) => later.mark === mark),
  );
  return again.map(({ mark }) => mark);
}
