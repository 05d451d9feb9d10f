// The adapter of attempts to the engine of held programs (held/held-programs.ts, HE1 … HE5): their holders come from a
// pool, their input is a prompt, and their end is reported with their output.
// A1. An end is reported with the output, which is on disk by then.
// A2. A signal is sent once over each connection. An attempt that is stopped before it has started never starts.
// A3. An attempt that could not be started, for nothing about its step, has not failed: the step is tried again.
// A4. It is started when it has a slot (step-slots.ts).
import { ok, type Result } from "../../base/result.ts";
import type { WorkflowCommand } from "../../core/workflow/commands.ts";
import { launchOf } from "../../core/workflow/launch.ts";
import { MAX_CAPTURED } from "../../core/workflow/limits.ts";
import { actionOf, type Evidence } from "../../core/workflow/resume.ts";
import { type Attempt, attemptsOf, type Run, workOf } from "../../core/workflow/run.ts";
import { ONLY_GENERATION, ownToken } from "../../home/held/holder-files.ts";
import { DurableDirectories } from "../../log/file/durable-directories.ts";
import { HolderClient, MAX_INPUT } from "../../wire/holder/client.ts";
import type { HolderStatus } from "../../wire/holder/protocol.ts";
import type { HeldAdapter, HeldFound, HeldNews } from "../held/held-adapter.ts";
import { HeldPrograms } from "../held/held-programs.ts";
import type { HolderConnection, HolderPeer } from "../held/holder-connections.ts";
import type { HolderCommand } from "../held/holder-program.ts";
import { stopRestOf } from "../held/orphan-stop.ts";
import { pipeEnding } from "../held/pipe-ending.ts";
import type { DaemonWorld } from "../ports.ts";
import { attemptDirectory, attemptSocket, heldAttempts, readOutput, writeAttempt } from "./attempt-files.ts";
import { HolderPool } from "./holder-pool.ts";
import { Journals } from "./journals.ts";
import type { RunSecrets } from "./run-secrets.ts";
import { StepSlots } from "./step-slots.ts";

export type AttemptPorts = {
  run(id: string): Run | undefined;
  runs(): Iterable<Run>;
  submit(command: WorkflowCommand): Promise<unknown>;
  /** The program that holders are started from. */
  holderCommand(): HolderCommand;
  /** Resolves when a step of this run may begin. */
  beforeStep(run: Run): Promise<Result<void>>;
  mayBegin(): boolean;
  /** Whether it was not set aside. */
  isWhole(id: string): boolean;
  /** How many attempts run at once. */
  readonly slots: number;
  /** Variables for a run's programs that are never written to disk. */
  readonly secrets: RunSecrets;
  /** An error that is not a Fault, in what is done for this run. */
  onBug(error: unknown, id: string): void;
};

export type AttemptFound =
  | HeldFound
  /** An agent has it (agent-steps.ts): whether its turn has begun, and what a person is needed for. */
  | {
      readonly kind: "with-agent";
      readonly agent: string;
      readonly begun: boolean;
      readonly waits: { readonly reason: string; readonly prompt?: string; readonly since: string } | undefined;
    };

export class Attempts {
  readonly journals: Journals;
  readonly #world: DaemonWorld;
  readonly #ports: AttemptPorts;
  readonly #held: HeldPrograms<HolderConnection>;
  readonly #pool: HolderPool;
  readonly #slots: StepSlots;
  readonly #directories: DurableDirectories;
  /** A2: the signal that was sent to each over its present connection. */
  readonly #sent = new Map<string, string>();

  constructor(world: DaemonWorld, ports: AttemptPorts) {
    this.#world = world;
    this.#ports = ports;
    this.#directories = new DurableDirectories(world.disk, world.home);
    this.journals = new Journals(world, ports);
    this.#pool = new HolderPool(world, {
      ...{ holderCommand: ports.holderCommand, journals: this.journals },
      heard: (id) => this.#held.lookAgain(id),
    });
    this.#held = new HeldPrograms(world, this.#adapter());
    this.#slots = new StepSlots(world.clock, ports.slots, {
      runOf: runIdOf,
      isWanted: (id) => this.#isWanted(id),
      isPresent: (id) => workOf(this.#attempt(id)?.state ?? GONE).kind !== "uncertain",
      mayBegin: () => ports.mayBegin(),
      begin: (id) => this.#held.start(id),
    });
  }

  #adapter(): HeldAdapter<HolderConnection> {
    return {
      place: (id) => this.#place(id),
      connection: (id, peer) => this.#connection(id, peer),
      isWanted: (id) => this.#isWanted(id),
      launch: (id) => this.#launch(id),
      relaunch: (id) => this.#pool.giveAgain(id),
      isStarting: (id) => this.#pool.has(id),
      tells: (id) => this.#pool.tells(id),
      dismiss: (id) => this.#pool.kill(id),
      unclaimed: (id) => this.#unclaimed(id),
      salvage: async (id) => (await this.journals.restore(id)) > 0,
      ending: pipeEnding,
      stopRest: (id) => this.#stopRest(id),
      report: (id, news) => this.#report(id, news),
      recordsStartLazily: true,
      onBug: (error, id) => this.#ports.onBug(error, runIdOf(id)),
    };
  }

  start(attempt: string): void {
    if (this.lacks(attempt).length === 0) this.#slots.want(attempt);
  }

  #isWanted(id: string): boolean {
    const attempt = this.#attempt(id);
    return attempt?.state.kind === "starting" && attempt.stop === undefined;
  }

  /** How many steps of a run wait for a free slot. */
  waitingForSlot(run: string): number {
    return this.#slots.waiting(run);
  }

  /** Called on every heartbeat. */
  round(): void {
    this.#slots.round();
  }

  /** The secret parameters that its program needs, and that have to be given again (RS1 of run-secrets.ts). */
  lacks(attempt: string): readonly string[] {
    const run = this.#runOf(attempt);
    if (run === undefined || this.#ports.secrets.lacking(run).length === 0) return [];
    const launch = launchOf(run, attempt, this.#directory(attempt));
    return launch.ok ? this.#ports.secrets.lacking(run, Object.values(launch.value.secrets)) : [];
  }

  /** A2 */
  stop(attempt: string, signal: string): void {
    if (this.#held.connections.has(attempt)) this.#signal(attempt, signal);
    else this.#held.alone(attempt, () => this.#stopUnseen(attempt, signal));
  }

  /** Looks at attempts that should run and have no connection (HE4). */
  tend(run: Run): void {
    for (const { id, state } of attemptsOf(run)) {
      if (workOf(state).kind === "running" && !this.#held.connections.has(id)) this.#held.lookAgain(id);
    }
  }

  /** The holders keep running. */
  close(): void {
    this.#held.close();
    this.#pool.close();
  }

  /** Why it is not started yet, although it was tried. */
  trouble(id: string): string | undefined {
    return this.#held.trouble(id);
  }

  look(id: string): Promise<HeldFound> {
    return this.#held.look(id);
  }

  /** Resolves when it is recorded. */
  async report(attempt: string, found: AttemptFound): Promise<void> {
    if (found.kind !== "with-agent") await this.#held.report(attempt, found);
  }

  #runOf(attempt: string): Run | undefined {
    return this.#ports.run(runIdOf(attempt));
  }

  #attempt(id: string): Attempt | undefined {
    const run = this.#runOf(id);
    return run === undefined ? undefined : attemptsOf(run).find((attempt) => attempt.id === id);
  }

  #place(id: string) {
    if (this.#attempt(id) === undefined) return undefined;
    const socket = attemptSocket(this.#world.home, id);
    return { directory: this.#directory(id), generation: ONLY_GENERATION, socket };
  }

  #directory(id: string): string {
    return attemptDirectory(this.#world.home, { repo: this.#runOf(id)?.repo ?? "", attempt: id });
  }

  /** If it was seen running and its claim is gone, it is lost: removing the claim did not undo its effects. */
  #unclaimed(id: string): HeldFound {
    const attempt = this.#attempt(id);
    const action = attempt && actionOf(attempt, { kind: "not-started" }, () => "ask");
    return action === "run" ? { kind: "unstarted" } : { kind: "lost", reason: "its files are gone" };
  }

  async #launch(id: string): Promise<Result<void>> {
    const run = this.#runOf(id);
    if (run === undefined) return ok(undefined);
    const ready = await this.#ports.beforeStep(run);
    if (!ready.ok) return ready;
    const { random } = this.#world;
    const directory = this.#directory(id);
    const launch = launchOf(run, id, directory);
    if (!launch.ok) return launch;
    const token = ownToken(this.#world, directory) ?? random.bytes(32).toHex();
    const order = { launch: launch.value, token, directories: this.#directories };
    await writeAttempt(this.#world, { repo: run.repo, attempt: id }, order);
    await this.#pool.takeOver();
    const secrets = this.#ports.secrets.variables(run, launch.value.secrets);
    await this.#pool.give(id, { directory, secrets, noInput: launch.value.kind !== "agent" });
    return ok(undefined);
  }

  async #report(attempt: string, news: HeldNews): Promise<void> {
    const run = this.#runOf(attempt);
    if (run === undefined) return;
    if (news.kind === "ended") this.#pool.giveBack(attempt);
    if (news.kind !== "running") this.#forget(attempt);
    else this.#slots.runs(attempt);
    await this.#ports.submit(this.#commandOf(run, attempt, news));
  }

  #commandOf({ id, repo }: Run, attempt: string, news: HeldNews): WorkflowCommand {
    if (news.kind === "running")
      return { kind: "attempt-running", id, attempt, child: news.child, holder: news.holder };
    if (news.kind === "prevented") return this.#prevented(id, attempt, news);
    if (news.kind === "lost") return { kind: "attempt-lost", id, attempt, reason: news.reason };
    const { code, signal } = news;
    const output = readOutput(this.#world.disk, this.#world.home, { repo, attempt }, MAX_CAPTURED);
    return { kind: "attempt-ended", id, attempt, code, signal, output }; // A1
  }

  /** A3 */
  #prevented(id: string, attempt: string, { reason, passing }: HeldNews & { kind: "prevented" }): WorkflowCommand {
    const isStopped = this.#attempt(attempt)?.stop !== undefined;
    if (passing === true && !isStopped) return { kind: "attempt-lost", id, attempt, reason, unstarted: true };
    return { kind: "attempt-prevented", id, attempt, reason };
  }

  #forget(attempt: string): void {
    this.#pool.forget(attempt);
    this.#sent.delete(attempt);
    this.#slots.over(attempt);
  }

  #stopRest(attempt: string): Promise<void> {
    const held = () => heldAttempts(this.#world, this.#ports.runs());
    return stopRestOf(this.#world, { name: attempt, socket: attemptSocket(this.#world.home, attempt) }, held);
  }

  /** A2 */
  #signal(attempt: string, signal: string): void {
    if (this.#sent.get(attempt) === signal) return;
    this.#sent.set(attempt, signal);
    this.#held.connections.signal(attempt, signal);
  }

  async #stopUnseen(attempt: string, signal: string): Promise<void> {
    const found = await this.#held.adopt(attempt, "It was stopped before it began.");
    if (found.kind === "running" || found.kind === "refused") this.#signal(attempt, signal);
  }

  /** Its output goes to its tape, and is not waited for here. */
  #connection(id: string, { spec, dial, events }: HolderPeer): HolderConnection {
    const output = (offset: number, bytes: Uint8Array) => client.consumed(offset + bytes.length);
    const wish = { token: spec.token, writer: "daemon", from: -1 };
    const client: HolderClient = new HolderClient(dial, wish, { ...events, output });
    return { client, welcomed: (status) => this.#welcomed(id, client, status), close: () => client.close() };
  }

  /** Its input is the prompt, if it has one, followed by end of input. */
  #welcomed(id: string, client: HolderClient, status: HolderStatus): void {
    this.#sent.delete(id);
    client.consumed(status.tape.end);
    // Input that an earlier connection sent is not sent again.
    const rest = this.#promptOf(id).subarray((status.writers["daemon"] ?? 0) * MAX_INPUT);
    if (rest.length > 0) void client.input(rest);
    client.endInput();
  }

  #promptOf(id: string): Uint8Array {
    const run = this.#runOf(id);
    const launch = run && launchOf(run, id, this.#directory(id));
    return launch?.ok === true && launch.value.kind === "agent" ? Buffer.from(launch.value.prompt) : new Uint8Array(0);
  }
}

/** An attempt that its run does not have any more. */
const GONE = { kind: "uncertain", reason: "", child: undefined } as const;

/** The run that an attempt is of. */
export function runIdOf(attempt: string): string {
  return attempt.slice(0, attempt.lastIndexOf("."));
}

/** The evidence for a plan. A holder that is alive but does not answer counts as running. */
export function evidenceOf(found: AttemptFound | undefined): Evidence {
  if (found === undefined) return { kind: "uncertain", reason: "it has not been checked yet" };
  if (found.kind === "unstarted") return { kind: "not-started" };
  if (found.kind === "prevented") return { kind: "ended", code: null, signal: null };
  if (found.kind === "lost") return { kind: "uncertain", reason: found.reason };
  const { kind } = found;
  return kind === "running" || kind === "ended" ? found : { kind: "running" };
}
