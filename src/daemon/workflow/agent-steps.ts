// Attempts that an agent works on (docs/decisions/0015-agent-steps.md); attempts.ts has those that a holder runs.
// GA1. The agent is created under an id derived from the attempt, once the start is durable: a repeat finds it, and
//      creates no second one.
// GA2. The outcome of an attempt is derived from its agent's state: a notification only means that it is worth a look,
//      and every round looks again.
// GA3. Agents and runs share one log: an end is durable only if the agent's state it was derived from is, and an agent
//      is terminated only if the end of its attempt, or the request to stop it, is durable. If a run's log is damaged,
//      none of its agents is terminated.
// GA4. An agent is terminated when its attempt is over, no matter how it ended: also if a crash came in between.
// GA5. A stopped attempt has ended when no process of its agent is left: it never works at the same time as its
//      successor.
import { isFault } from "../../base/fault.ts";
import type { Result } from "../../base/result.ts";
import { type Agent, openPrompts } from "../../core/agent/agent.ts";
import { isAlive } from "../../core/agent/process.ts";
import { agentName, agentOf, isAttemptOver, isOfAgent, laneOf } from "../../core/workflow/agent-step.ts";
import type { WorkflowCommand } from "../../core/workflow/commands.ts";
import { stepById } from "../../core/workflow/definition.ts";
import { type Launch, type LaunchFile, launchOf } from "../../core/workflow/launch.ts";
import { type Attempt, attemptsOf, type Run, tracksOf, workOf } from "../../core/workflow/run.ts";
import { type HomeWorld, hasClaim } from "../../home/held/holder-files.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { makeDirectories } from "../../log/file/file.ts";
import { isRetryable } from "../../log/wal/wal.ts";
import type { StepAgents } from "../agent/for-steps.ts";
import { attemptDirectory } from "./attempt-files.ts";
import { type AttemptFound, runIdOf } from "./attempts.ts";

export type AgentStepPorts = {
  run(id: string): Run | undefined;
  submit(command: WorkflowCommand): Promise<Result<Run>>;
  /** Whether its log is intact: otherwise nothing about it is certain. */
  isTrusted(run: Run): boolean;
  readonly agents: StepAgents;
  /** Resolves when a step of this run may begin. */
  beforeStep(run: Run): Promise<Result<void>>;
  /** PB2 of part.ts */
  onBug(error: unknown, id: string): void;
  guard(id: string, work: () => void): void;
};

type Present = { readonly run: Run; readonly attempt: Attempt; readonly item: number | undefined };

/** After these refusals a later round may succeed; all others are final. */
const PASSING: readonly string[] = ["log.blocked", "log.closed", "log.stopped"];

export class AgentSteps {
  readonly #world: HomeWorld;
  readonly #ports: AgentStepPorts;
  /** Attempts that are being started. */
  readonly #starting = new Set<string>();
  /** The live agents that were created for attempts, with their attempts. */
  readonly #made = new Map<string, string>();

  constructor(world: HomeWorld, ports: AgentStepPorts) {
    this.#world = world;
    this.#ports = ports;
  }

  /** Whether an agent works on it, or is to. An attempt with a claim was begun in a holder, by an older daemon. */
  has(id: string): boolean {
    const present = this.#present(id);
    const step = present && stepById(present.run.definition, present.attempt.step);
    if (present === undefined || step === undefined || !isOfAgent(step)) return false;
    const { kind } = workOf(present.attempt.state);
    return kind === "handed" || (kind !== "running" && !this.#isClaimed(present.run, id));
  }

  /** Called after a recovery has read the logs: finds the agents that were created for attempts. */
  begin(): void {
    for (const agent of this.#ports.agents.owned()) this.#note(agent);
  }

  start(id: string): void {
    if (this.#starting.has(id)) return;
    this.#starting.add(id);
    const done = () => void this.#starting.delete(id);
    this.#work(id, this.#start(id).finally(done));
  }

  /** GA5 */
  stop(id: string): void {
    this.#work(id, this.#settle(id));
  }

  /** GA2 */
  tend(run: Run): void {
    for (const { id } of attemptsOf(run)) if (this.has(id)) this.#work(id, this.#settle(id));
  }

  /** GA4 */
  round(): void {
    for (const [agent, attempt] of this.#made) this.#ports.guard(runIdOf(attempt), () => this.#dismiss(agent, attempt));
  }

  /** GA2. What fails here fails for the run, not for the agent. */
  heard(agent: Agent): void {
    const { owner } = agent;
    if (owner === undefined) return;
    this.#note(agent);
    this.#ports.guard(runIdOf(owner), () => {
      if (this.has(owner)) this.#work(owner, this.#settle(owner));
      else this.#dismiss(agent.id, owner);
    });
  }

  /** The last line of the agent's output. */
  saidBy(agent: string): string {
    const text = this.#ports.agents.agent(agent)?.lastText.trimEnd() ?? "";
    return text.slice(text.lastIndexOf("\n") + 1);
  }

  /** The present state of an attempt. */
  look(id: string): AttemptFound {
    const { agents } = this.#ports;
    const present = this.#present(id);
    const agent = agents.agent(agentOf(id));
    if (agent === undefined) {
      if (agents.isSetAside(agentOf(id))) return { kind: "lost", reason: "the log of its agent is damaged" };
      return present?.attempt.state.kind === "starting"
        ? { kind: "unstarted" }
        : { kind: "lost", reason: "its agent is gone" };
    }
    return endOf(agent, present?.attempt.stop !== undefined) ?? goingOn(agent);
  }

  /** Submits what was found as a command, if it is new. Resolves when it is recorded. */
  async report(id: string, found: AttemptFound): Promise<void> {
    const present = this.#present(id);
    const command = present && this.#commandOf(present, found);
    const taken = command && (await this.#ports.submit(command));
    const agent = agentOf(id);
    if (this.#made.has(agent)) this.#dismiss(agent, id);
    // What it waits for is recorded only after it is recorded as being with its agent, from its state at that time.
    if (command?.kind === "attempt-handed" && taken?.ok === true) await this.#settle(id);
  }

  #commandOf({ run, attempt }: Present, found: AttemptFound): WorkflowCommand | undefined {
    const of = { id: run.id, attempt: attempt.id } as const;
    if (found.kind === "with-agent") return withAgent(of, attempt, found);
    if (found.kind === "prevented") return { kind: "attempt-prevented", ...of, reason: found.reason };
    if (found.kind === "lost")
      return attempt.state.kind === "uncertain" ? undefined : { kind: "attempt-lost", ...of, reason: found.reason };
    if (found.kind !== "ended") return undefined;
    const outcome = this.#ports.agents.agent(agentOf(attempt.id))?.outcome;
    const text = outcome?.kind === "complete" ? outcome.response : "";
    const output = { text, bytes: Buffer.byteLength(text) };
    return { kind: "attempt-ended", ...of, code: found.code, signal: found.signal, output };
  }

  #note({ id, owner, terminated }: Agent): void {
    if (terminated !== undefined) this.#made.delete(id);
    else if (owner !== undefined) this.#made.set(id, owner);
  }

  /** GA4 */
  #dismiss(agent: string, attempt: string): void {
    const run = this.#runOf(attempt);
    if (run === undefined || !this.#ports.isTrusted(run) || !isAttemptOver(run, attempt)) return;
    this.#work(attempt, this.#ports.agents.terminate(agent, "Its step is over."));
  }

  /** Does what its present state requires. */
  async #settle(id: string): Promise<void> {
    const found = this.look(id);
    const attempt = this.#present(id)?.attempt;
    if (attempt?.stop !== undefined && found.kind === "unstarted")
      await this.report(id, { kind: "prevented", reason: "It was stopped before it began." });
    else if (attempt?.stop !== undefined && found.kind === "with-agent")
      await this.#ports.agents.terminate(agentOf(id), `Its step was stopped: ${attempt.stop.reason}.`);
    else await this.report(id, found);
  }

  async #start(id: string): Promise<void> {
    if (this.look(id).kind !== "unstarted") return this.#settle(id);
    const launch = this.#launchOf(id);
    if (launch === undefined) return;
    if (!launch.ok) return this.report(id, { kind: "prevented", reason: launch.error.message });
    if (launch.value.kind === "agent" && (await this.#write(id, launch.value.files)))
      await this.#make(id, launch.value);
  }

  #launchOf(id: string) {
    const run = this.#runOf(id);
    return run && launchOf(run, id, this.#directory(run, id));
  }

  /** GA1. A stop in the meantime is seen here: nothing happens between this check and the request. */
  async #make(id: string, { provider, prompt, cwd, env }: Extract<Launch, { kind: "agent" }>): Promise<void> {
    const present = this.#present(id);
    if (present === undefined || present.attempt.stop !== undefined) return this.#settle(id);
    const { run, attempt, item } = present;
    const name = agentName(run, attempt.step, item, id);
    const wish = { id: agentOf(id), name, owner: id, lane: laneOf(run), provider, prompt, cwd, env };
    const made = await this.#ports.agents.create(wish);
    if (made.ok || made.error.code === "id-taken") return this.#settle(id);
    if (PASSING.includes(made.error.code)) return;
    await this.report(id, { kind: "prevented", reason: `${made.error.message} ${made.error.hint}` });
  }

  /**
   * Writes the files for `file(…)`, durably, because an agent survives a machine crash; before them the checkpoint, if
   * its workflow wants that. False if the disk is full now.
   */
  async #write(id: string, files: readonly LaunchFile[]): Promise<boolean> {
    const { disk, home } = this.#world;
    const run = this.#runOf(id);
    if (run === undefined) return false;
    try {
      const ready = await this.#ports.beforeStep(run);
      if (!ready.ok) {
        await this.report(id, { kind: "prevented", reason: ready.error.message });
        return false;
      }
      if (files.length === 0) return true;
      for (const parent of makeDirectories(disk, this.#directory(run, id), home)) await disk.syncDirectory(parent);
      for (const { path, text } of files) await writeAtomic(disk, path, Buffer.from(text));
      return true;
    } catch (error) {
      if (isRetryable(error)) return false;
      if (!isFault(error)) throw error;
      await this.report(id, { kind: "prevented", reason: error.message });
      return false;
    }
  }

  #present(id: string): Present | undefined {
    const run = this.#runOf(id);
    if (run === undefined || !this.#ports.isTrusted(run)) return undefined; // GA3
    const track = tracksOf(run).find(({ attempt }) => attempt?.id === id);
    return track?.attempt === undefined ? undefined : { run, attempt: track.attempt, item: track.item };
  }

  #runOf(attempt: string): Run | undefined {
    return this.#ports.run(runIdOf(attempt));
  }

  #directory({ repo }: Run, attempt: string): string {
    return attemptDirectory(this.#world.home, { repo, attempt });
  }

  #isClaimed(run: Run, attempt: string): boolean {
    return hasClaim({ disk: this.#world.disk, directory: this.#directory(run, attempt) });
  }

  #work(attempt: string, work: Promise<unknown>): void {
    void work.catch((error: unknown) => {
      if (!isFault(error)) this.#ports.onBug(error, runIdOf(attempt));
    });
  }
}

/** Undefined while its turn is in progress or has not begun. */
function endOf({ outcome, terminated, process: program }: Agent, stopped: boolean): AttemptFound | undefined {
  if (outcome?.kind === "complete") return { kind: "ended", code: 0, signal: null };
  if (outcome?.kind === "failed") return { kind: "prevented", reason: `Its agent's turn failed: ${outcome.reason}` };
  if (terminated !== undefined) {
    if (isAlive(program)) return undefined; // GA5
    if (stopped) return { kind: "ended", code: null, signal: "SIGTERM" };
    return { kind: "prevented", reason: `Its agent was terminated: ${terminated.reason}` };
  }
  if (program.kind !== "PermanentlyFailed") return undefined;
  return { kind: "prevented", reason: `Its agent crashed: ${program.reason}` };
}

type WithAgent = Extract<AttemptFound, { readonly kind: "with-agent" }>;

function goingOn(agent: Agent): WithAgent {
  const { id, turn, turns, held } = agent;
  const [prompt] = openPrompts(agent);
  const begun = turn !== undefined || turns > 0;
  if (prompt !== undefined) {
    const { tool, since, id: asked } = prompt;
    return { kind: "with-agent", agent: id, begun, waits: { reason: `it asks for ${tool}`, prompt: asked, since } };
  }
  const waits = held === undefined ? undefined : { reason: held.reason, since: held.at };
  return { kind: "with-agent", agent: id, begun, waits };
}

/** Its time does not start before its turn does: an agent may have to wait for one of its provider's slots. */
function withAgent(
  of: { readonly id: string; readonly attempt: string },
  { state }: Attempt,
  { agent, begun, waits }: WithAgent,
): WorkflowCommand | undefined {
  const hand = { kind: "attempt-handed", ...of, agent } as const;
  if (state.kind === "starting") return begun || waits !== undefined ? hand : undefined;
  if (waits === undefined) return state.kind === "waiting" ? hand : undefined;
  const { reason, prompt, since } = waits;
  if (state.kind === "waiting" && state.reason === reason && state.prompt === prompt) return undefined;
  return { kind: "attempt-waiting", ...of, reason, ...(prompt !== undefined && { prompt }), since };
}
