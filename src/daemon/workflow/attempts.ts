// The daemon's hands on attempts: starts their holders, keeps a line to each, and reports what becomes of them as commands.
// A1. An attempt is started only where nothing was claimed; one that comes to nothing is prevented before that is reported.
// A2. Its end is reported with its output, once it is on disk; a lost line alone is no end.
// A3. A loss is reported only when no process of the attempt lives any more: nothing is ever made twice at a time.
// A4. Nothing is given up for good: what has no line and what has no outcome is looked at again on every round.
import { isFault } from "../../base/fault.ts";
import type { Child } from "../../core/terminal/terminal.ts";
import type { WorkflowCommand } from "../../core/workflow/commands.ts";
import { type Launch, launchOf } from "../../core/workflow/launch.ts";
import { MAX_CAPTURED } from "../../core/workflow/limits.ts";
import { actionOf, type Evidence } from "../../core/workflow/resume.ts";
import { type Attempt, attemptsOf, type Run, workOf } from "../../core/workflow/run.ts";
import { hasClaim } from "../../home/held/holder-files.ts";
import { DurableDirectories } from "../../log/file/durable-directories.ts";
import { removeIfThere } from "../../log/file/file.ts";
import { isRetryable } from "../../log/wal/wal.ts";
import { type HolderClient, MAX_INPUT } from "../../wire/holder/client.ts";
import type { HolderStatus } from "../../wire/holder/protocol.ts";
import { HolderConnections } from "../held/holder-connections.ts";
import type { HolderCommand } from "../held/holder-program.ts";
import { stopLeft } from "../held/orphan-stop.ts";
import type { DaemonWorld } from "../terminal/holders.ts";
import {
  type AttemptPlace,
  attemptDirectory,
  attemptSocket,
  heldAttempts,
  preventAttempt,
  readAttempt,
  readAttemptSpec,
  readOutput,
  writeAttempt,
} from "./attempt-files.ts";
import { HolderPool } from "./holder-pool.ts";

export type AttemptPorts = {
  run(id: string): Run | undefined;
  runs(): Iterable<Run>;
  submit(command: WorkflowCommand): Promise<unknown>;
  /** What holders are started with. */
  holderCommand(): HolderCommand;
  /** What a run's programs get and no disk does. */
  secrets(run: string): Readonly<Record<string, string>>;
  /** Something broke that is no Fault. */
  onBug(error: unknown): void;
};

export type AttemptFound =
  | { readonly kind: "unstarted" }
  | { readonly kind: "running"; readonly child: Child; readonly holder: number }
  | { readonly kind: "ended"; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: "prevented"; readonly reason: string }
  | { readonly kind: "lost"; readonly reason: string }
  | { readonly kind: "unreachable" }
  /** An agent has it (agent-steps.ts): whether its turn has begun, and what it waits for a person for. */
  | {
      readonly kind: "with-agent";
      readonly agent: string;
      readonly begun: boolean;
      readonly waits: { readonly reason: string; readonly prompt?: string; readonly since: string } | undefined;
    };

/** A holder answers within some tens of milliseconds; a machine under load may take its time. */
const START_MS = 10_000;
/** Between two looks at one that starts: a part of what it took so far, so that nobody waits much longer than it took. */
const PAUSES = { part: 1 / 8, leastMs: 1, mostMs: 250 };

export class Attempts {
  readonly #world: DaemonWorld;
  readonly #ports: AttemptPorts;
  readonly #lines: HolderConnections;
  readonly #pool: HolderPool;
  /** Somebody is at it already. */
  readonly #busy = new Map<string, Promise<unknown>>();
  /** Those to be looked at once more when that is done. */
  readonly #nudged = new Set<string>();
  readonly #directories: DurableDirectories;
  /** The signal that each was sent over its present line. */
  readonly #sent = new Map<string, string>();

  constructor(world: DaemonWorld, ports: AttemptPorts) {
    this.#world = world;
    this.#ports = ports;
    this.#directories = new DurableDirectories(world.disk, world.home);
    this.#pool = new HolderPool(world, ports);
    this.#lines = new HolderConnections(
      world,
      { ended: (id) => this.#lookAgain(id), lost: (id) => this.#lookAgain(id) },
      {
        spec: (id) => readAttemptSpec(world.disk, world.home, this.#place(id)),
        welcomed: (id, line, status) => this.#welcomed(id, line, status),
        heard: (line, end) => line.consumed(end),
      },
    );
  }

  start(attempt: string): void {
    this.#alone(attempt, () => this.#start(attempt));
  }

  /** Sends the signal once for each line; where it has not started, it never will. */
  stop(attempt: string, signal: string): void {
    if (this.#lines.has(attempt)) this.#signal(attempt, signal);
    else this.#alone(attempt, () => this.#stopUnseen(attempt, signal));
  }

  /** A4: what should run and has no line. */
  tend(run: Run): void {
    for (const { id, state } of attemptsOf(run)) {
      if (workOf(state).kind === "running" && !this.#lines.has(id)) this.#lookAgain(id);
    }
  }

  /** Lets go of every holder; they live on. */
  close(): void {
    this.#lines.close();
    this.#pool.close();
  }

  /** How an attempt is now: asks its holder, else reads what it left. Keeps the line where there is one. */
  async look(id: string): Promise<AttemptFound> {
    const place = this.#place(id);
    const before = this.#settled(place);
    if (before !== undefined) return before;
    const status = await this.#lines.connect(id);
    if (status?.child != null) {
      const child = { ...status.child, bootId: this.#world.processes.bootId() };
      return { kind: "running", child, holder: status.pid };
    }
    const after = this.#settled(place); // It may have ended while we knocked.
    if (after !== undefined) return after;
    const disk = readAttempt(this.#world, place);
    if (disk.kind === "unclaimed") return this.#unclaimed(id, status);
    if (disk.kind === "claimed") this.#world.processes.kill(disk.holder, "SIGHUP");
    return { kind: "unreachable" };
  }

  /** What needs no asking. */
  #settled(place: AttemptPlace): AttemptFound | undefined {
    const disk = readAttempt(this.#world, place);
    if (disk.kind === "ended" && disk.exit.stopped === true)
      return { kind: "lost", reason: "its holder was told to leave while it ran" };
    if (disk.kind === "ended") return { kind: "ended", code: disk.exit.code, signal: disk.exit.signal };
    if (disk.kind === "cancelled") return { kind: "prevented", reason: "It was stopped before it began." };
    if (disk.kind !== "lost") return undefined;
    const down = disk.bootId !== undefined && disk.bootId !== this.#world.processes.bootId();
    return { kind: "lost", reason: down ? "the machine went down" : "its holder is gone and left no exit" };
  }

  /** Seen running, and its claim is gone: whoever removed it did not undo what it did. */
  #unclaimed(id: string, status: HolderStatus | undefined): AttemptFound {
    if (status !== undefined) return { kind: "unreachable" };
    const attempt = this.#attempt(id);
    const action = attempt && actionOf(attempt, { kind: "not-started" }, () => "ask");
    return action === "run" ? { kind: "unstarted" } : { kind: "lost", reason: FILES_GONE };
  }

  #runOf(attempt: string): Run | undefined {
    return this.#ports.run(attempt.slice(0, attempt.lastIndexOf(".")));
  }

  #attempt(id: string): Attempt | undefined {
    const run = this.#runOf(id);
    return run === undefined ? undefined : attemptsOf(run).find((attempt) => attempt.id === id);
  }

  #place(attempt: string): AttemptPlace {
    return { repo: this.#runOf(attempt)?.repo ?? "", attempt };
  }

  /** One at a time for each attempt; whoever comes meanwhile can leave it to the one who is there. */
  #alone(id: string, work: () => Promise<unknown>): void {
    if (this.#busy.has(id)) return;
    const done = work()
      .catch((error: unknown) => {
        if (!isFault(error)) this.#ports.onBug(error); // A4
      })
      .finally(() => {
        this.#busy.delete(id);
        if (this.#nudged.delete(id)) this.#lookAgain(id);
      });
    this.#busy.set(id, done);
  }

  /** Something happened to it: whoever is at it may have looked just before. */
  #lookAgain(id: string): void {
    if (this.#busy.has(id)) this.#nudged.add(id);
    else this.#alone(id, () => this.#settle(id));
  }

  async #start(id: string): Promise<void> {
    const before = await this.look(id);
    if (before.kind !== "unstarted") return this.report(id, before);
    const run = this.#runOf(id);
    const attempt = this.#attempt(id);
    if (run === undefined || attempt?.state.kind !== "starting" || attempt.stop !== undefined) return;
    const launch = launchOf(run, id, attemptDirectory(this.#world.home, this.#place(id)));
    if (!launch.ok) return this.#prevent(id, launch.error.message);
    try {
      await this.#launch(run, id, launch.value);
    } catch (error) {
      if (isRetryable(error)) return; // A4: there may be room again by the next round.
      if (!isFault(error)) throw error;
      return this.#prevent(id, error.message);
    }
    if (!(await this.#settle(id))) await this.#prevent(id, "Its holder did not answer.");
  }

  async #launch(run: Run, id: string, launch: Launch): Promise<void> {
    const { random, home } = this.#world;
    const place = this.#place(id);
    const token = readAttemptSpec(this.#world.disk, home, place)?.token ?? random.bytes(32).toHex();
    await writeAttempt(this.#world, place, { launch, token, directories: this.#directories });
    await this.#pool.takeOver();
    this.#pool.give(id, { directory: attemptDirectory(home, place), secrets: this.#ports.secrets(run.id) });
  }

  /** A1. Where it was claimed after all, the next look will find it. */
  async #prevent(id: string, reason: string): Promise<void> {
    if (await preventAttempt(this.#world, this.#place(id))) await this.report(id, { kind: "prevented", reason });
  }

  /** Looks until there is something to report; false where it takes too long. */
  async #settle(id: string): Promise<boolean> {
    const { clock } = this.#world;
    const began = clock.elapsed();
    for (let took = 0; took < START_MS; took = clock.elapsed() - began) {
      if (this.#attempt(id) === undefined) return true;
      const found: AttemptFound = this.#isAwaited(id) ? { kind: "unstarted" } : await this.look(id);
      if (found.kind !== "unreachable" && found.kind !== "unstarted") {
        const taken = this.report(id, found);
        // Not waited for: its end may come before, and then they share a sync.
        if (found.kind === "running") void taken.catch(this.#ports.onBug);
        else await taken;
        return true;
      }
      if (found.kind === "unstarted") this.#pool.giveAgain(id);
      const pause = Math.min(Math.max(PAUSES.leastMs, took * PAUSES.part), PAUSES.mostMs);
      await new Promise<void>((resolve) => clock.after(pause, resolve));
    }
    return false;
  }

  /** Given to a holder, and not claimed yet: there is nobody to ask. A look reads several files and knocks at a socket; this is one stat. */
  #isAwaited(id: string): boolean {
    const { disk, home } = this.#world;
    if (!this.#pool.has(id) || this.#attempt(id)?.state.kind !== "starting") return false;
    return !hasClaim({ disk, directory: attemptDirectory(home, this.#place(id)) });
  }

  /** Says what was found as a command; nothing for what must be looked at again. Resolves when it is taken. */
  async report(attempt: string, found: AttemptFound): Promise<void> {
    const run = this.#runOf(attempt);
    if (run === undefined || !isNews(found)) return;
    if (found.kind === "lost") await this.#clearUp(attempt); // A3
    if (found.kind === "ended") this.#pool.giveBack(attempt);
    if (found.kind !== "running") this.#forget(attempt);
    await this.#ports.submit(this.#commandOf(run.id, attempt, found));
  }

  #commandOf(id: string, attempt: string, found: News): WorkflowCommand {
    if (found.kind === "running")
      return { kind: "attempt-running", id, attempt, child: found.child, holder: found.holder };
    if (found.kind === "prevented") return { kind: "attempt-prevented", id, attempt, reason: found.reason };
    if (found.kind === "lost") return { kind: "attempt-lost", id, attempt, reason: found.reason };
    const { code, signal } = found;
    const output = readOutput(this.#world.disk, this.#world.home, this.#place(attempt), MAX_CAPTURED);
    return { kind: "attempt-ended", id, attempt, code, signal, output }; // A2
  }

  #forget(attempt: string): void {
    this.#lines.drop(attempt);
    this.#pool.forget(attempt);
    this.#sent.delete(attempt);
  }

  async #clearUp(attempt: string): Promise<void> {
    removeIfThere(this.#world.disk, attemptSocket(this.#world.home, attempt));
    const held = () => heldAttempts(this.#world, this.#ports.runs());
    await stopLeft(this.#world, held, { of: new Set([attempt]) });
  }

  #signal(attempt: string, signal: string): void {
    if (this.#sent.get(attempt) === signal) return;
    this.#sent.set(attempt, signal);
    this.#lines.signal(attempt, signal);
  }

  async #stopUnseen(attempt: string, signal: string): Promise<void> {
    const found = await this.look(attempt);
    if (found.kind === "unstarted") return this.#prevent(attempt, "It was stopped before it began.");
    if (found.kind === "running") this.#signal(attempt, signal);
    await this.report(attempt, found);
  }

  /** Its input is the prompt, where it has one, and then its end; what it says goes to its tape, and holds up nothing. */
  #welcomed(id: string, line: HolderClient, status: HolderStatus): void {
    this.#sent.delete(id);
    line.consumed(status.tape.end);
    const prompt = this.#promptOf(id);
    // What an earlier line of ours has typed is typed.
    const rest = prompt.subarray((status.writers["daemon"] ?? 0) * MAX_INPUT);
    if (rest.length > 0) void line.input(rest);
    line.endInput();
  }

  #promptOf(id: string): Uint8Array {
    const run = this.#runOf(id);
    const launch = run && launchOf(run, id, attemptDirectory(this.#world.home, this.#place(id)));
    return launch?.ok === true && launch.value.kind === "agent" ? Buffer.from(launch.value.prompt) : new Uint8Array(0);
  }
}

/** What a plan goes by. A holder that lives and does not answer runs. */
export function evidenceOf(found: AttemptFound | undefined): Evidence {
  if (found === undefined) return { kind: "uncertain", reason: "nobody has looked" };
  if (found.kind === "unstarted") return { kind: "not-started" };
  if (found.kind === "prevented") return { kind: "ended", code: null, signal: null };
  if (found.kind === "lost") return { kind: "uncertain", reason: found.reason };
  return found.kind === "unreachable" || found.kind === "with-agent" ? { kind: "running" } : found;
}

const FILES_GONE = "its files are gone";

type News = Exclude<AttemptFound, { readonly kind: "unreachable" | "unstarted" | "with-agent" }>;

function isNews(found: AttemptFound): found is News {
  return found.kind !== "unreachable" && found.kind !== "unstarted" && found.kind !== "with-agent";
}
