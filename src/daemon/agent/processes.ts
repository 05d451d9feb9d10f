// The daemon's hands on agents' processes: starts their holders, keeps a line to each, and reports what becomes of them as commands.
// P1. A process is started only where nothing was claimed; one that comes to nothing is prevented before that is reported.
// P2. Its end is reported after all that it wrote was read from the disk; a lost line alone is no end.
// P3. A loss is reported only when no process of it lives any more: there is never a second one beside the first.
// P4. Nothing is given up for good: what should run and has no line, and what has no outcome, is looked at again on every round.
import { isFault } from "../../base/fault.ts";
import type { Agent } from "../../core/agent/agent.ts";
import type { AgentCommand } from "../../core/agent/commands.ts";
import { factsOf } from "../../core/agent/effects.ts";
import { isAlive } from "../../core/agent/process.ts";
import { type Codec, type ProviderEvent, type SessionFacts, styleOf } from "../../core/agent/provider.ts";
import { placed, whyNotBegun } from "../../core/agent/workspace.ts";
import type { Child } from "../../core/terminal/terminal.ts";
import { cancelStart, type HeldState, readHeld } from "../../home/held/held-state.ts";
import { ONLY_GENERATION, pipeSpec, readSpec, writeSpec } from "../../home/held/holder-files.ts";
import { removeIfThere } from "../../log/file/file.ts";
import { isRetryable } from "../../log/wal/wal.ts";
import { holderStart } from "../../wire/holder/start.ts";
import { within } from "../held/holder-connections.ts";
import type { HolderCommand } from "../held/holder-program.ts";
import { stopLeft } from "../held/orphan-stop.ts";
import { agentSessions } from "../terminal/coding-agent-sessions.ts";
import type { DaemonWorld } from "../terminal/holders.ts";
import { AgentConnection } from "./agent-connection.ts";
import { codecOf } from "./codecs.ts";
import { Decoder } from "./decoder.ts";
import {
  errorsOf,
  heldProcesses,
  keepAgentToken,
  outputFrom,
  type ProcessPlace,
  processDirectory,
  processName,
  processSocket,
  removeOlder,
  TAPE,
} from "./process-files.ts";
import { makeToolDoor } from "./tool-door.ts";
import { SHIM, toolPlaces } from "./workspaces.ts";

export type ProcessPorts = {
  agent(id: string): Agent | undefined;
  agents(): Iterable<Agent>;
  /** False where it was refused. */
  submit(command: AgentCommand): Promise<boolean>;
  holderCommand(): HolderCommand;
  /** Variables that its programs get: the allowed ones of ours, which no disk gets to see. */
  environment(agent: Agent): Readonly<Record<string, string>>;
  onBug(error: unknown): void;
};

export type ProcessFound =
  | { readonly kind: "unstarted" }
  | { readonly kind: "running"; readonly child: Child; readonly holder: number }
  | { readonly kind: "ended"; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: "prevented"; readonly reason: string }
  | { readonly kind: "unreachable" };

/** A holder answers within some tens of milliseconds; a machine under load may take its time. */
const START_MS = 10_000;
const CONNECT_MS = 2_000;
/** Between two looks at one that starts: a part of what it took so far, so that nobody waits much longer than it took. */
const PAUSES = { part: 1 / 8, leastMs: 3, mostMs: 250 };
/** What a holder reports for a program that is not there, and for one that may not be executed. */
const UNSTARTABLE = [127, 126];
const REASON_CHARS = 500;

export class Processes {
  readonly #world: DaemonWorld;
  readonly #ports: ProcessPorts;
  readonly #lines = new Map<string, AgentConnection>();
  /** Somebody is at it already. */
  readonly #busy = new Map<string, Promise<unknown>>();
  readonly #nudged = new Set<string>();
  #closed = false;

  constructor(world: DaemonWorld, ports: ProcessPorts) {
    this.#world = world;
    this.#ports = ports;
  }

  start(place: ProcessPlace): void {
    this.#alone(place, () => this.#start(place));
  }

  send(place: ProcessPlace): void {
    const line = this.#line(place);
    if (line === undefined) this.#lookAgain(place);
    else line.send();
  }

  /** Its input ends, and it may end by itself. */
  suspend(place: ProcessPlace): void {
    this.#tell(place, (line) => line.endInput());
  }

  stop(place: ProcessPlace, signal: string): void {
    this.#tell(place, (line) => line.signal(signal));
  }

  /** P4. One that is to be started is looked at by who starts it: a look at what is not there yet would only keep that one out. */
  tend(agent: Agent): void {
    const place = placeOf(agent);
    if (agent.process.kind === "Spawning" || !isAlive(agent.process)) return;
    if (this.#line(place) === undefined) this.#lookAgain(place);
  }

  /** Looks at one that was started in another life, and reports what it found; resolves when that is taken. */
  async adopt(agent: Agent): Promise<ProcessFound> {
    const place = placeOf(agent);
    const found = await this.look(place);
    if (found.kind === "unstarted") await this.#prevent(place, "The daemon died before it was started.");
    else await this.#report(place, found);
    return found;
  }

  close(): void {
    this.#closed = true;
    for (const line of this.#lines.values()) line.close();
    this.#lines.clear();
  }

  /** How a process is now: asks its holder, else reads what it left. Keeps the line where there is one. */
  async look(place: ProcessPlace): Promise<ProcessFound> {
    const before = this.#settled(place);
    if (before !== undefined) return before;
    const child = await this.#connect(place);
    if (child !== undefined) return child;
    const after = this.#settled(place); // It may have ended while we knocked.
    if (after !== undefined) return after;
    const disk = this.#onDisk(place);
    if (disk.kind === "unclaimed") return { kind: "unstarted" };
    if (disk.kind === "claimed") this.#world.processes.kill(disk.holder, "SIGHUP");
    return { kind: "unreachable" };
  }

  /** What needs no asking. Where nobody knows how it ended, both are null. */
  #settled(place: ProcessPlace): ProcessFound | undefined {
    const disk = this.#onDisk(place);
    if (disk.kind === "cancelled") return { kind: "prevented", reason: "It was stopped before it began." };
    if (disk.kind === "lost") return { kind: "ended", code: null, signal: null };
    if (disk.kind !== "ended") return undefined;
    const { code, signal, stopped } = disk.exit;
    return stopped === true ? { kind: "ended", code: null, signal: null } : { kind: "ended", code, signal };
  }

  #onDisk(place: ProcessPlace): HeldState {
    return readHeld({ ...this.#world, directory: this.#directory(place) }, ONLY_GENERATION);
  }

  async #connect(place: ProcessPlace): Promise<ProcessFound | undefined> {
    const agent = this.#present(place);
    const codec = agent && codecOf(agent.plan.recipe.provider);
    const spec = readSpec({ disk: this.#world.disk, directory: this.#directory(place) });
    if (agent === undefined || codec === undefined || spec === undefined || this.#closed) return undefined;
    this.#drop(place);
    const line = this.#newLine(place, agent, codec, spec);
    this.#lines.set(processName(place), line);
    const status = await within(this.#world.clock, CONNECT_MS, line.connect());
    if (status?.child == null) {
      this.#drop(place);
      return undefined;
    }
    const child = { ...status.child, bootId: this.#world.processes.bootId() };
    return { kind: "running", child, holder: status.pid };
  }

  #newLine(
    place: ProcessPlace,
    agent: Agent,
    codec: Codec,
    spec: ConstructorParameters<typeof AgentConnection>[0],
  ): AgentConnection {
    return new AgentConnection(spec, agent.consumed, {
      dial: (events) => this.#world.sockets.connect(spec.socket, events),
      codec,
      tools: this.#tools(place.id),
      agent: () => this.#present(place),
      read: (offset, events) => this.#ports.submit({ ...place, kind: "read", offset, events }),
      taken: (through, pieces) => this.#ports.submit({ ...place, kind: "taken", through, pieces }),
      ended: () => this.#lookAgain(place),
      lost: () => {
        this.#lines.delete(processName(place));
        this.#lookAgain(place);
      },
      refused: () => void this.#lines.delete(processName(place)), // P4
      onBug: (error) => this.#ports.onBug(error),
    });
  }

  #directory(place: ProcessPlace): string {
    return processDirectory(this.#world.home, place);
  }

  /** The agent, where this is its process. */
  #present({ id, generation }: ProcessPlace): Agent | undefined {
    const agent = this.#ports.agent(id);
    return agent?.generation === generation ? agent : undefined;
  }

  #line(place: ProcessPlace): AgentConnection | undefined {
    const line = this.#lines.get(processName(place));
    return line?.connected === true ? line : undefined;
  }

  #drop(place: ProcessPlace): void {
    this.#lines.get(processName(place))?.close();
    this.#lines.delete(processName(place));
  }

  #tell(place: ProcessPlace, tell: (line: AgentConnection) => void): void {
    const line = this.#line(place);
    if (line !== undefined) tell(line);
    else this.#lookAgain(place); // The effect is still there when there is a line again (P4).
  }

  /** One at a time for each process; whoever comes meanwhile can leave it to the one who is there. */
  #alone(place: ProcessPlace, work: () => Promise<unknown>): void {
    const name = processName(place);
    if (this.#busy.has(name) || this.#closed) return;
    const done = work()
      .catch((error: unknown) => {
        if (!isFault(error)) this.#ports.onBug(error); // P4
      })
      .finally(() => {
        this.#busy.delete(name);
        if (this.#nudged.delete(name)) this.#lookAgain(place);
      });
    this.#busy.set(name, done);
  }

  #lookAgain(place: ProcessPlace): void {
    if (this.#busy.has(processName(place))) this.#nudged.add(processName(place));
    else this.#alone(place, () => this.#settle(place));
  }

  async #start(place: ProcessPlace): Promise<void> {
    const before = await this.look(place);
    if (before.kind !== "unstarted") return this.#report(place, before);
    const agent = this.#present(place);
    if (agent?.process.kind !== "Spawning") return;
    try {
      await this.#launch(place, agent);
    } catch (error) {
      if (isRetryable(error)) return; // P4: there may be room again by the next round.
      if (!isFault(error)) throw error;
      return this.#prevent(place, error.message);
    }
    if (!(await this.#settle(place))) await this.#prevent(place, "Its holder did not answer.");
  }

  async #launch(place: ProcessPlace, agent: Agent): Promise<void> {
    const { children, home, random, self, disk } = this.#world;
    const codec = codecOf(agent.plan.recipe.provider);
    if (codec === undefined) return;
    await keepAgentToken(this.#world, agent.id);
    const directory = this.#directory(place);
    const secrets = this.#ports.environment(agent);
    const facts = { ...factsOf(agent), tools: this.#tools(agent.id), resume: this.#resumes(agent, secrets) };
    const { argv, env } = codec.launch(facts, agent.turn?.prompt.text ?? "");
    const token = readSpec({ disk, directory })?.token ?? random.bytes(32).toHex();
    const { cwd, environment, workspace } = agent.plan;
    if (workspace?.sandbox != null) await makeToolDoor(this.#world);
    const start = placed(workspace, { argv, cwd }, toolPlaces(this.#world, agent.id));
    const held = { ...start, env: { ...environment, ...env }, token, tape: TAPE };
    const names = { id: processName(place), socket: processSocket(home, place) };
    await writeSpec(this.#world, directory, pipeSpec({ ...names, ...held }));
    removeOlder(this.#world.disk, home, place);
    const { runtime, entry } = this.#ports.holderCommand();
    children.detached(holderStart(runtime, entry, directory, { ours: self.environment(), secrets }));
  }

  /** Claude's transcript is written behind: its file, not our memory, says whether there is one. */
  #resumes(agent: Agent, env: Readonly<Record<string, string>>): boolean {
    const { recipe, cwd, environment } = agent.plan;
    if (recipe.provider !== "claude") return agent.resumable;
    const query = { agent: "claude", cwd, since: undefined, env: { ...env, ...environment } } as const;
    return agentSessions(this.#world.disk, query).known.includes(agent.providerSession);
  }

  #tools(id: string): SessionFacts["tools"] {
    const { self, home } = this.#world;
    return { command: self.command(SHIM), env: { HOLDFAST_HOME: home, HOLDFAST_AGENT: id } };
  }

  /** P1. Where it was claimed after all, the next look will find it. */
  async #prevent(place: ProcessPlace, reason: string): Promise<void> {
    if (await cancelStart(this.#world, this.#directory(place), ONLY_GENERATION))
      await this.#report(place, { kind: "prevented", reason });
  }

  /** Looks until there is something to report; false where it takes too long. */
  async #settle(place: ProcessPlace): Promise<boolean> {
    const { clock } = this.#world;
    const began = clock.elapsed();
    for (let took = 0; took < START_MS; took = clock.elapsed() - began) {
      if (this.#closed || this.#present(place) === undefined) return true;
      const found = await this.look(place);
      if (found.kind !== "unreachable" && found.kind !== "unstarted") {
        await this.#report(place, found);
        return true;
      }
      const pause = Math.min(Math.max(PAUSES.leastMs, took * PAUSES.part), PAUSES.mostMs);
      await new Promise<void>((resolve) => clock.after(pause, resolve));
    }
    return false;
  }

  /** Says what was found as a command; nothing for what must be looked at again. */
  async #report(place: ProcessPlace, found: ProcessFound): Promise<void> {
    if (this.#present(place) === undefined || found.kind === "unreachable" || found.kind === "unstarted") return;
    if (found.kind === "running") {
      const kind = this.#present(place)?.process.kind === "Detached" ? "adopted" : "started";
      await this.#ports.submit({ ...place, kind, child: found.child, holder: found.holder });
      this.#line(place)?.send();
      return;
    }
    this.#drop(place);
    if (found.kind === "prevented") await this.#ports.submit({ ...place, kind: "start-failed", reason: found.reason });
    else await this.#end(place, found);
  }

  /** P2, P3 */
  async #end(
    place: ProcessPlace,
    { code, signal }: { readonly code: number | null; readonly signal: string | null },
  ): Promise<void> {
    if (code === null && signal === null) await this.#clearUp(place);
    const reason = this.#whyNotStarted(place, code);
    if (reason !== undefined) {
      await this.#ports.submit({ ...place, kind: "start-failed", reason: reason.slice(0, REASON_CHARS) });
      return;
    }
    if (!(await this.#readRest(place, { code, signal }))) return;
    await this.#ports.submit({ ...place, kind: "ended", code, signal });
  }

  #whyNotStarted(place: ProcessPlace, code: number | null): string | undefined {
    const agent = this.#present(place);
    const errors = errorsOf(this.#world.disk, this.#directory(place));
    const why = whyNotBegun(agent?.plan.workspace ?? null, code, errors);
    if (why !== undefined && why !== "") return why;
    if (code === null || !UNSTARTABLE.includes(code) || agent?.process.kind !== "Spawning") return undefined;
    return this.#wholeOutput(place).trim(); // Its holder says there what the trouble is.
  }

  async #readRest(
    place: ProcessPlace,
    exit: { readonly code: number | null; readonly signal: string | null },
  ): Promise<boolean> {
    const agent = this.#present(place);
    const codec = agent && codecOf(agent.plan.recipe.provider);
    if (agent === undefined || codec === undefined) return false;
    if (styleOf(agent.plan.recipe) === "turn" && !(await this.#tookAll(place, agent))) return false;
    const decoder = new Decoder(codec, agent.consumed);
    for (const { offset, bytes } of outputFrom(this.#world.disk, this.#directory(place), agent.consumed))
      decoder.push(offset, bytes);
    const facts = () => ({ ...factsOf(this.#present(place) ?? agent), tools: null });
    for (let batch = decoder.next(facts()) ?? decoder.last(facts()); batch !== undefined; ) {
      if (!(await this.#ports.submit({ ...place, kind: "read", offset: batch.offset, events: batch.events })))
        return false;
      batch = decoder.next(facts()) ?? decoder.last(facts());
    }
    if (styleOf(agent.plan.recipe) !== "turn") return true;
    const events = codec.ended?.(exit, this.#wholeOutput(place)) ?? [];
    return this.#readEnd(place, decoder.end + 1, events);
  }

  /** What a process of one turn is told is in its words: one that ran had it, whether its line was ever used or not. */
  #tookAll(place: ProcessPlace, { outbox }: Agent): Promise<boolean> {
    const through = outbox.confirmed + outbox.entries.length;
    return this.#ports.submit({ ...place, kind: "taken", through, pieces: outbox.pieces });
  }

  /** The end itself is one step behind the last byte, so that it counts once as well. */
  #readEnd(place: ProcessPlace, offset: number, events: readonly ProviderEvent[]): Promise<boolean> {
    return this.#ports.submit({ ...place, kind: "read", offset, events });
  }

  #wholeOutput(place: ProcessPlace): string {
    const parts = [...outputFrom(this.#world.disk, this.#directory(place), 0)].map(({ bytes }) => bytes);
    return new TextDecoder().decode(Buffer.concat(parts));
  }

  async #clearUp(place: ProcessPlace): Promise<void> {
    removeIfThere(this.#world.disk, processSocket(this.#world.home, place));
    await stopLeft(this.#world, () => heldProcesses(this.#world, this.#ports.agents()), {
      of: new Set([processName(place)]),
    });
  }
}

function placeOf({ id, generation }: Agent): ProcessPlace {
  return { id, generation };
}
