// The adapter of agents' processes to the engine of held programs (held/held-programs.ts, HE1 … HE5): a connection
// delivers the outbox and reads the output, and an end is reported after all output was read.
// P1. Input for a process waits in its outbox until there is a connection (HE4).
// P2. A process that rested when the daemon died is left alone until it is needed (HE8): until there is input for it,
//     or the rounds find output of it that was not read, or its end.
import { isFault } from "../../base/fault.ts";
import { ok, type Result } from "../../base/result.ts";
import { type Agent, isAside, isEvictable } from "../../core/agent/agent.ts";
import type { AgentCommand } from "../../core/agent/commands.ts";
import { isAlive } from "../../core/agent/process.ts";
import { hasExit, ONLY_GENERATION } from "../../home/held/holder-files.ts";
import type { PartialText } from "../../wire/rpc/partial.ts";
import type { HeldAdapter, HeldFound, HeldNews } from "../held/held-adapter.ts";
import { HeldPrograms } from "../held/held-programs.ts";
import type { HolderPeer } from "../held/holder-connections.ts";
import { LaunchedHolders } from "../held/launched-holders.ts";
import { stopRestOf } from "../held/orphan-stop.ts";
import { pipeEnding } from "../held/pipe-ending.ts";
import type { DaemonWorld } from "../ports.ts";
import { AgentConnection } from "./agent-connection.ts";
import { codecFor } from "./codecs.ts";
import type { Output } from "./decoder.ts";
import { ProcessEnds } from "./process-ends.ts";
import {
  heldProcesses,
  outputEnd,
  type ProcessPlace,
  placeOfName,
  processDirectory,
  processName,
  processSocket,
} from "./process-files.ts";
import { type LaunchPorts, prepareProcess, toolsOf, UNRESUMABLE } from "./process-launch.ts";
import { ensureProxy, isProxied } from "./proxies.ts";

export type ProcessPorts = LaunchPorts & {
  agent(id: string): Agent | undefined;
  agents(): Iterable<Agent>;
  /** D3 of decoder.ts: where the lines begin that are skipped. */
  skipped(agent: Agent): ReadonlySet<number>;
  /** Returns false if it was refused; throws if it cannot be decided. */
  submit(command: AgentCommand): Promise<boolean>;
  partial(partial: PartialText): void;
  onBug(error: unknown, id: string): void;
};

export class Processes {
  readonly #world: DaemonWorld;
  readonly #ports: ProcessPorts;
  readonly #held: HeldPrograms<AgentConnection>;
  readonly #ends: ProcessEnds;
  readonly #launched: LaunchedHolders;

  constructor(world: DaemonWorld, ports: ProcessPorts) {
    this.#world = world;
    this.#ports = ports;
    this.#launched = new LaunchedHolders(world.processes);
    this.#held = new HeldPrograms(world, this.#adapter());
    const output = (agent: Agent) => this.#output(agent);
    this.#ends = new ProcessEnds(world, { submit: ports.submit, agent: (place) => this.#agentOf(place), output });
  }

  #adapter(): HeldAdapter<AgentConnection> {
    return {
      place: (name) => this.#place(name),
      connection: (name, peer) => this.#connection(placeOfName(name), peer),
      isWanted: (name) => this.#agentOf(placeOfName(name))?.process.kind === "Spawning",
      launch: (name) => this.#launch(name),
      isStarting: (name) => this.#launched.isAlive(name),
      dismiss: (name) => this.#launched.kill(name),
      ending: pipeEnding,
      stopRest: (name) => this.#stopRest(name),
      report: (name, news) => this.#report(name, news),
      onBug: (error, name) => this.#ports.onBug(error, placeOfName(name).id),
    };
  }

  start(place: ProcessPlace): void {
    this.#held.start(processName(place));
  }

  send(place: ProcessPlace): void {
    this.#tell(place, (name) => this.#with(name, (connection) => connection.send()));
  }

  /** Ends its input, so that it can exit by itself. */
  suspend(place: ProcessPlace): void {
    this.#tell(place, (name) => this.#with(name, ({ client }) => client.endInput()));
  }

  /** Also sent to a holder that cannot start it yet. */
  stop(place: ProcessPlace, signal: string): void {
    this.#tell(place, (name) => this.#held.connections.signal(name, signal));
  }

  /** Why it is not started yet, although it was tried. */
  trouble(agent: Agent): string | undefined {
    return isAlive(agent.process) ? this.#held.trouble(processName(agent)) : undefined;
  }

  /** HE4. A process that is about to start is skipped: looking for it would only interfere with its start. */
  tend(agent: Agent): void {
    const name = processName(agent);
    if (agent.process.kind === "Spawning" || !isAlive(agent.process)) return;
    const { connections } = this.#held;
    if (!connections.has(name) && !(connections.rests(name) && this.#rests(agent))) this.#held.lookAgain(name); // P2
    if (isProxied(agent)) void this.#tendProxy(agent).catch((error: unknown) => this.#ports.onBug(error, agent.id));
  }

  /** PR1 of proxies.ts. If the disk or the system refuses it now, the next round tries again. */
  async #tendProxy(agent: Agent): Promise<void> {
    try {
      await ensureProxy(this.#world, agent, this.#ports.environment(agent));
    } catch (error) {
      if (!isFault(error)) throw error;
    }
  }

  /** Examines a process that an earlier daemon started, and reports it; resolves when that is recorded. */
  adopt(agent: Agent): Promise<HeldFound> {
    const { process: program, turn } = agent;
    const rests = program.kind === "Running" && turn === undefined && isEvictable(agent) && this.#rests(agent); // P2
    return this.#held.adopt(processName(agent), "The daemon died before it was started.", rests ? program : undefined);
  }

  /** Whether nothing works on its last process, and there is no connection to it. */
  isQuiet(agent: Agent): boolean {
    const name = processName(agent);
    return !this.#held.isBusy(name) && !this.#held.connections.has(name);
  }

  /** Whether it has neither ended nor written anything that was not read. If the disk does not say, it is not known. */
  #rests(agent: Agent): boolean {
    const { disk, home } = this.#world;
    const directory = processDirectory(home, agent);
    try {
      return !hasExit({ disk, directory }) && outputEnd(disk, directory) === agent.consumed;
    } catch (error) {
      if (!isFault(error)) throw error;
      return false;
    }
  }

  /** The processes keep running. */
  close(): void {
    this.#held.close();
  }

  /** Returns undefined if this is not the agent's present process, or the agent is set aside. */
  #agentOf({ id, generation }: ProcessPlace): Agent | undefined {
    const agent = this.#ports.agent(id);
    return agent?.generation === generation && !isAside(agent) ? agent : undefined;
  }

  #place(name: string) {
    const place = placeOfName(name);
    if (this.#agentOf(place) === undefined) return undefined;
    const { home } = this.#world;
    return {
      directory: processDirectory(home, place),
      generation: ONLY_GENERATION,
      socket: processSocket(home, place),
    };
  }

  #connection(place: ProcessPlace, peer: HolderPeer): AgentConnection | undefined {
    const agent = this.#agentOf(place);
    const codec = agent && codecFor(agent);
    if (agent === undefined || codec === undefined) return undefined;
    return new AgentConnection(peer, this.#output(agent), {
      codec,
      tools: toolsOf(this.#world, place.id),
      agent: () => this.#agentOf(place),
      read: (offset, events) => this.#ports.submit({ ...place, kind: "read", offset, events }),
      taken: (through, pieces) => this.#ports.submit({ ...place, kind: "taken", through, pieces }),
      partial: (partial) => this.#ports.partial({ ...place, ...partial }),
      clock: this.#world.clock,
      onBug: (error) => this.#ports.onBug(error, place.id),
    });
  }

  #output(agent: Agent): Output {
    return { generation: agent.generation, from: agent.consumed, skipped: this.#ports.skipped(agent) };
  }

  /** P1, P2. `told` returns false if there is no connection. */
  #tell(place: ProcessPlace, told: (name: string) => boolean): void {
    const name = processName(place);
    if (told(name)) return;
    if (!this.#held.connections.rests(name)) this.#held.lookAgain(name);
    else void this.#reach(name, told).catch((error: unknown) => this.#ports.onBug(error, place.id));
  }

  async #reach(name: string, told: (name: string) => boolean): Promise<void> {
    await this.#held.connections.reach(name);
    if (!told(name)) this.#held.lookAgain(name);
  }

  #with(name: string, tell: (connection: AgentConnection) => void): boolean {
    const connection = this.#held.connections.get(name);
    if (connection !== undefined) tell(connection);
    return connection !== undefined;
  }

  async #launch(name: string): Promise<Result<void>> {
    const agent = this.#agentOf(placeOfName(name));
    const start = agent && (await prepareProcess(this.#world, this.#ports, agent));
    if (start?.ok === false) return start;
    const command = start?.value;
    if (command !== undefined) this.#launched.launch(name, () => this.#world.children.detached(command));
    return ok(undefined);
  }

  async #report(name: string, news: HeldNews): Promise<void> {
    const place = placeOfName(name);
    this.#launched.forget(name);
    if (news.kind === "running") return this.#started(place, news);
    if (news.kind === "prevented") await this.#prevented(place, news);
    else await this.#ends.report(place, news.kind === "lost" ? { code: null, signal: null } : news);
  }

  async #prevented(place: ProcessPlace, news: Extract<HeldNews, { kind: "prevented" }>): Promise<void> {
    const { reason, passing, code } = news;
    const unresumable = code === UNRESUMABLE ? true : undefined;
    await this.#ports.submit({ ...place, kind: "start-failed", reason, passing, unresumable });
  }

  async #started(place: ProcessPlace, { child, holder }: Extract<HeldNews, { kind: "running" }>): Promise<void> {
    const kind = this.#agentOf(place)?.process.kind === "Detached" ? "adopted" : "started";
    await this.#ports.submit({ ...place, kind, child, holder });
    this.#held.connections.get(processName(place))?.send();
  }

  #stopRest(name: string): Promise<void> {
    const socket = processSocket(this.#world.home, placeOfName(name));
    return stopRestOf(this.#world, { name, socket }, () => heldProcesses(this.#world, this.#ports.agents()));
  }
}
