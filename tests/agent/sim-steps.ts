// A workflow with agent steps on the simulated machine: one life of a daemon for runs and agents (the real log, turns,
// engines, holders, checkpoints and recovery of both), and a driver that takes the run to its end through a crash.
// SS1. A simulated person watches only the run: whatever it says it waits for is answered, and nothing else.
// SS2. After the end there is one more life, which finds the same.
import { toRecord } from "../../src/base/table.ts";
import { type Agent, isLive } from "../../src/core/agent/agent.ts";
import { isAlive } from "../../src/core/agent/process.ts";
import type { Definition } from "../../src/core/workflow/definition.ts";
import { progressOf } from "../../src/core/workflow/progress.ts";
import { attemptsOf, type Run, stateOf } from "../../src/core/workflow/run.ts";
import { type AgentPart, openAgents } from "../../src/daemon/agent/part.ts";
import type { PartPorts } from "../../src/daemon/part.ts";
import { openWorkflows, type WorkflowPart } from "../../src/daemon/workflow/part.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { LogView } from "../../src/log/inspect.ts";
import { type Born, HOME } from "../sim/machine.ts";
import type { Chooser } from "../sim/survive.ts";
import { creation } from "../workflow/stories.ts";
import { isAboutHttp, NO_HTTP } from "./sim-daemon.ts";
import { AgentMachine } from "./sim-machine.ts";
import { logsOf } from "./sim-oracle.ts";

const SMALL_LOG = { segmentBytes: 64 << 10, ballastBytes: 0 };
const ROUND_MS = 2_000;
const REST_MS = 500;
const NEAR_MS = 50;
const MAX_IN_A_ROW = 30;
const MAX_TURNS = 20_000;
const ID = "a".repeat(32);
const AGENTS = { slots: 2, recovery: "never", recoveryPrompt: "Go on.", hungAfterS: 300, promptDays: 7, env: [] };
const PLAIN = { resume: "", sessionPath: "", flags: [], model: "default", permissionMode: "default" };
const CONFIG = {
  agents: { ...AGENTS, sleepOnLimit: true },
  terminal: { envAllow: [], envDeny: [] },
  provider: {
    actor: { ...PLAIN, kind: "scripted", command: ["actor"] },
    model: { ...PLAIN, kind: "openai", command: [], baseUrl: "http://model", keyEnv: "" },
  },
};

type Life = { readonly workflows: WorkflowPart; readonly agents: AgentPart };

async function begin(machine: AgentMachine, born: Born): Promise<Life> {
  const { life } = born;
  const log = await EventLog.open(machine.doors(born), SMALL_LOG);
  const onBug = (error: unknown) => {
    if (!life.dead) machine.failed(error);
  };
  const self = { environment: () => ({}), command: () => ["bun"] as const, holder: async () => undefined };
  const holderCommand = () => ({ runtime: "bun", entry: "holder" });
  const ports = {
    world: { ...machine.doors(born), self, http: NO_HTTP, httpClient: machine.llm(life) },
    bus: { publish: () => undefined },
    config: CONFIG,
    safeMode: { isActive: () => false },
    say: (words: string) => void (isAboutHttp(words) || onBug(new Error(words))),
    onBug,
    log,
    isLive: () => true,
  } as unknown as PartPorts;
  const agents: AgentPart = openAgents(ports, {
    holderCommand,
    heard: (agent) => workflows.heard(agent),
    listen: async () => undefined,
  });
  const workflows: WorkflowPart = openWorkflows(ports, { holderCommand, agents: agents.forSteps });
  const parts = [workflows, agents];
  for (const part of parts)
    if ((await part.fold(() => undefined)).length > 0) throw new Error("something was set aside");
  await Promise.all(parts.map((part) => part.stages.RESTORING?.(() => undefined)));
  for (const part of parts) await part.stages.RECONCILING?.(() => undefined);
  for (const part of parts) part.goLive();
  const round = () => {
    machine.doors(born).clock.after(ROUND_MS, () => {
      for (const part of parts) part.tick();
      round();
    });
  };
  round();
  return { workflows, agents };
}

export type StepCrash = { readonly at: number; readonly machine?: Chooser };

export class StepSimulation {
  readonly machine = new AgentMachine(1);
  readonly moments: string[] = [];
  crashed = 0;
  readonly #definition: Definition;
  readonly #crash: StepCrash | undefined;
  readonly #answered = new Set<string>();
  #wished = false;
  #born: Born | undefined;
  #live: Life | undefined;

  constructor(definition: Definition, crash?: StepCrash) {
    this.#definition = definition;
    this.#crash = crash;
    this.machine.disk.plant(`${HOME}/made`, Buffer.from(""));
    this.machine.moment = (what) => this.#moment(what);
  }

  /** Runs to the end, and one more life (SS2). Returns the outcome: the same however it was disturbed. */
  async finish() {
    await this.#rest();
    const end = this.#end();
    this.#born?.life.end();
    await this.#rest();
    const after = JSON.stringify(this.#end());
    if (after !== JSON.stringify(end)) throw new Error(`the next life finds another end: ${after}`);
    return end;
  }

  get #run(): Run | undefined {
    return this.#live?.workflows.store.states.get(ID);
  }

  get #agents(): Agent[] {
    return [...(this.#live?.agents.store.agents() ?? [])];
  }

  /** What happened according to the logs: how often each attempt, agent and turn began and ended. */
  #end() {
    const run = this.#run;
    const counts = new Map<string, number>();
    const names =
      /^(agent\.(created|terminated)|turn\.(start|complete|failed)|workflow\.attempt\.(started|ended|uncertain))$/;
    for (const session of logsOf(this.machine.disk).values())
      for (const { event } of session) if (names.test(event)) counts.set(event, (counts.get(event) ?? 0) + 1);
    return {
      state: run && stateOf(run),
      variables: run && toRecord(run.variables),
      attempts: run?.attempts,
      notes: this.machine.notes.toSorted(),
      counts: Object.fromEntries([...counts].toSorted()),
      left: this.#agents.filter(isLeft).map(({ name }) => name),
    };
  }

  #moment(what: string): void {
    this.moments.push(what);
    if (this.#crash === undefined || this.crashed > 0 || this.#crash.at >= this.moments.length) return;
    this.crashed += 1;
    this.#born?.life.end();
    if (this.#crash.machine !== undefined) this.machine.powerCut(this.#crash.machine);
  }

  async #rest(): Promise<void> {
    const { clock } = this.machine;
    let over: number | undefined;
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      await this.#settle();
      if (this.machine.trouble !== undefined) throw this.machine.trouble;
      if (this.#born?.life.dead !== false) {
        this.#boot();
        continue;
      }
      over = this.#attend() ? (over ?? clock.elapsed()) : undefined;
      if (over !== undefined && clock.elapsed() - over > REST_MS) {
        const wrong = new LogView(this.machine.disk, HOME).inspect().findings.filter(({ kind }) => kind === "damage");
        if (wrong.length > 0) throw new Error(JSON.stringify(wrong));
        return;
      }
      await this.#settle(); // What the person has said is heard before time goes on.
      clock.advance(this.#nextMs());
    }
    throw new Error(`it does not end: ${JSON.stringify([this.#run?.status, this.#run && attemptsOf(this.#run)])}`);
  }

  async #settle(): Promise<void> {
    await this.machine.clock.settle();
    for (let turn = 0; turn < MAX_IN_A_ROW && this.#nextMs() > NEAR_MS; turn += 1) await this.machine.clock.settle();
  }

  #nextMs(): number {
    const { clock } = this.machine;
    return Math.max(0, (clock.nextTimer ?? clock.elapsed() + 1) - clock.elapsed());
  }

  #boot(): void {
    const born = this.machine.born();
    this.#born = born;
    this.#live = undefined;
    this.#wished = false;
    this.#answered.clear();
    const live = (life: Life) => {
      if (!born.life.dead) this.#live = life;
    };
    begin(this.machine, born).then(live, (error) => this.machine.crashedOr(error));
  }

  /** SS1. Returns whether all is over. */
  #attend(): boolean {
    const live = this.#live;
    if (live === undefined) return false;
    const run = this.#run;
    if (run === undefined && !this.#wished) {
      this.#wished = true;
      this.#say(live.workflows.store.submit(creation(this.#definition, {}, { id: ID, cwd: "/w" })));
    }
    if (run === undefined) return false;
    const { state, needs } = progressOf(run);
    for (const { agent: id, prompt } of state === "waiting" ? needs : []) {
      if (id === null || prompt === null || this.#answered.has(prompt)) continue;
      this.#answered.add(prompt);
      const given = { answer: `to-${prompt}`, decision: "allow", message: "", always: false } as const;
      this.#say(live.agents.store.submit({ kind: "answer", id, prompt, ...given }));
    }
    const busy = this.#agents.some(isLeft);
    return (state === "done" || state === "failed") && !busy;
  }

  #say(said: Promise<{ readonly ok: boolean }>): void {
    const born = this.#born;
    const heard = (result: { readonly ok: boolean }) => {
      if (!result.ok && born?.life.dead === false) this.machine.failed(new Error(JSON.stringify(result)));
    };
    said.then(heard, (error) => this.machine.crashedOr(error));
  }
}

/** Neither terminated, nor without a process. */
function isLeft(agent: Agent): boolean {
  return isAlive(agent.process) || isLive(agent);
}
