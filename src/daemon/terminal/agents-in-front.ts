// Looks at the agent CLIs in front of terminals: which conversation each is in, and what it does.
// AL1. Only a terminal that has just printed something is looked at (SG1 of sightings.ts). Searching for conversations
//      takes at most a hundredth of the time, however many there are: until then, the last ones found are looked at.
// AL2. What belongs to a conversation is made durable here: the programs themselves leave that to the system, which
//      takes half a minute, and a power cut would take the last sentences.
// AL3. A process in a container or a sandbox keeps its records elsewhere: nothing is known of it.
import { isFault } from "../../base/fault.ts";
import { joinPath, parentOf } from "../../base/path.ts";
import { type AgentInFront, agentInFront, type Conversation, sameAgent } from "../../core/terminal/agent-in-front.ts";
import { agentIn, type CodingAgentInvocation } from "../../core/terminal/agent-names.ts";
import { isInteractive, sessionNamed } from "../../core/terminal/coding-agent.ts";
import { openRetrying, readAll } from "../../log/file/file.ts";
import { type ClaudeProcess, claudeProcess, stateAtEnd } from "../../wire/agent-records.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";
import type { ForegroundProcess, Processes } from "../../world/process.ts";
import {
  type ConversationFile,
  claudeFile,
  claudeProcesses,
  opencodeDatabase,
  recentFiles,
  type SessionQuery,
  STORE_VARIABLES,
} from "./coding-agent-sessions.ts";
import type { Databases } from "./databases.ts";

export type FrontWorld = { readonly disk: Disk; readonly processes: Processes; readonly clock: Clock };

export type FrontPorts = {
  readonly databases: Pick<Databases, "refresh" | "found">;
  /** The conversations that other terminals are in, or name. */
  taken(id: string): ReadonlySet<string>;
  /** What is shown of a terminal has changed. */
  changed(id: string, agent: AgentInFront | undefined): void;
};

/** A process in front, and what is known of it from its last look. */
type Front = {
  readonly pid: number;
  readonly words: string;
  readonly sinceMs: number;
  readonly query: SessionQuery;
  readonly command: CodingAgentInvocation;
  files: readonly ConversationFile[];
  /** The process that it has started, if it is a launcher. */
  child: number | undefined;
  /** When to search again, for each (AL1). */
  readonly searchAt: { child: number; files: number };
};

/** A record of a process is a few hundred bytes long. */
const RECORD_BYTES = 64 << 10;
/** Of a conversation's end: longer than most turns. */
const TAIL_BYTES = 64 << 10;
/** The time of a start is known to about a second. */
const START_MS = 1_000;
/** AL1 */
const DUTY = 100;
/** Then all are synced once more. */
const MAX_SYNCED = 1_000;
/** Claude Code removes the record of a process that ends; those of killed ones stay. */
const MAX_RECORDS = 200;

export class AgentsInFront {
  readonly #world: FrontWorld;
  readonly #ports: FrontPorts;
  readonly #fronts = new Map<string, Front>();
  readonly #shown = new Map<string, AgentInFront>();
  /** Files that have changed since they were made durable (AL2), and when they had. */
  readonly #unsynced = new Set<string>();
  readonly #synced = new Map<string, { readonly modifiedMs: number; readonly isNew: boolean }>();

  constructor(world: FrontWorld, ports: FrontPorts) {
    this.#world = world;
    this.#ports = ports;
  }

  /** What was last seen in front of a terminal; undefined if it is not an agent. */
  of(id: string): AgentInFront | undefined {
    return this.#shown.get(id);
  }

  /** Those that are in a conversation, with what tells where it is. */
  *conversations(): Generator<{ readonly terminal: string; readonly id: string; readonly query: SessionQuery }> {
    for (const [terminal, { session }] of this.#shown) {
      const query = this.#fronts.get(terminal)?.query;
      if (session !== undefined && query !== undefined) yield { terminal, id: session, query };
    }
  }

  /** Reads what a look has to wait for: databases that have changed. */
  async prepare(id: string, pid: number): Promise<void> {
    const front = this.#world.processes.foreground(pid);
    const { command, query, sinceMs } = (front && this.#front(id, front)) ?? {};
    if (command?.agent !== "opencode" || query === undefined || sinceMs === undefined) return;
    await this.#ports.databases.refresh({ path: opencodeDatabase(query.env), directory: query.cwd, sinceMs });
  }

  look(id: string, process: ForegroundProcess, isElsewhere: boolean): AgentInFront | undefined {
    const front = isElsewhere ? undefined : this.#front(id, process);
    const name = agentNameOf(process);
    const seen = (front && this.#readable(id, front)) ?? (name && { name, state: "unknown" as const }); // AL3
    const before = this.#shown.get(id);
    if (seen === undefined) this.#shown.delete(id);
    else this.#shown.set(id, seen);
    if (!sameAgent(before, seen)) this.#ports.changed(id, seen);
    return seen;
  }

  forgetAllBut(ids: ReadonlySet<string>): void {
    for (const known of [this.#fronts, this.#shown])
      for (const id of [...known.keys()]) if (!ids.has(id)) known.delete(id);
    if (this.#synced.size > MAX_SYNCED) this.#synced.clear();
  }

  /** AL2. A file that cannot be synced is left as its program left it. */
  async sync(): Promise<void> {
    const paths = [...this.#unsynced];
    this.#unsynced.clear();
    await Promise.all(paths.map((path) => this.#syncOne(path)));
  }

  async #syncOne(path: string): Promise<void> {
    try {
      const file = openRetrying(this.#world.disk, path, "read");
      try {
        await file.datasync();
      } finally {
        file.close();
      }
      if (this.#synced.get(path)?.isNew) await this.#world.disk.syncDirectory(parentOf(path));
    } catch (error) {
      if (!isFault(error)) throw error;
    }
  }

  #front(id: string, process: ForegroundProcess): Front | undefined {
    const { pid, argv, cwd, ageMs } = process;
    const command = agentIn(argv);
    if (command === undefined || !isInteractive(command)) return undefined;
    const startedMs = Math.floor(this.#world.clock.now() - ageMs) - START_MS;
    const known = this.#fronts.get(id);
    const words = argv.join("\0"); // A process may execute another program.
    const isSame = known?.pid === pid && known.words === words && known.query.cwd === cwd;
    if (isSame && Math.abs(known.sinceMs - startedMs) < 3 * START_MS) return known;
    const env = this.#environment(pid);
    const query = { agent: command.agent, cwd, since: new Date(startedMs).toISOString(), env };
    const front = {
      pid,
      words,
      sinceMs: startedMs,
      query,
      command,
      files: [],
      child: undefined,
      searchAt: { child: 0, files: 0 },
    };
    this.#fronts.set(id, front);
    return front;
  }

  #environment(pid: number): Record<string, string> {
    const { processes } = this.#world;
    const each = STORE_VARIABLES.map((name) => [name, processes.variable(pid, name)] as const);
    return Object.fromEntries(each.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  }

  /** Undefined if its directories cannot be read. */
  #readable(id: string, front: Front): AgentInFront | undefined {
    try {
      return this.#agent(id, front);
    } catch (error) {
      if (isFault(error)) return undefined;
      throw error;
    }
  }

  #agent(id: string, front: Front): AgentInFront {
    const { command, query } = front;
    const own = command.agent === "claude" ? this.#claude(front) : undefined;
    if (own !== undefined) this.#toSync(claudeFile(query, own.id));
    const recent = own === undefined ? this.#recent(front) : [];
    const taken = recent.length === 0 ? new Set<string>() : this.#ports.taken(id);
    return agentInFront({ name: command.agent, own, named: sessionNamed(command), recent, taken });
  }

  #recent(front: Front): readonly Conversation[] {
    const { query, sinceMs } = front;
    if (query.agent === "opencode") {
      const path = opencodeDatabase(query.env);
      const found = this.#ports.databases.found({ path, directory: query.cwd, sinceMs });
      if (found.length > 0) this.#toSync(`${path}-wal`);
      return found;
    }
    return this.#files(front).map(({ id, path }) => {
      this.#toSync(path);
      return { id, state: stateAtEnd(query.agent, this.#tail(path), sinceMs) };
    });
  }

  #files(front: Front): readonly ConversationFile[] {
    front.files = this.#searched(front, "files", () => recentFiles(this.#world.disk, front.query)) ?? front.files;
    return front.files;
  }

  /** AL1. Undefined if it is too early. */
  #searched<T>({ searchAt }: Front, what: "child" | "files", search: () => T): T | undefined {
    const { clock } = this.#world;
    const begun = clock.elapsed();
    if (begun < searchAt[what]) return undefined;
    const found = search();
    searchAt[what] = clock.elapsed() + DUTY * (clock.elapsed() - begun);
    return found;
  }

  /** The record of the process, or of the one that it has started: a launcher waits for the program itself. */
  #claude(front: Front): ClaudeProcess | undefined {
    const { pid, query, child } = front;
    const directory = claudeProcesses(query.env);
    const known = this.#record(directory, child ?? pid);
    if (known !== undefined || child !== undefined) return known;
    front.child = this.#searched(front, "child", () => this.#launched(directory, pid));
    return front.child === undefined ? undefined : this.#record(directory, front.child);
  }

  #launched(directory: string, pid: number): number | undefined {
    const { disk, processes } = this.#world;
    const others = disk.list(directory).flatMap((name) => /^(\d{1,9})\.json$/.exec(name)?.[1] ?? []);
    return others
      .slice(0, MAX_RECORDS)
      .map(Number)
      .find((other) => processes.kin(other)?.ppid === pid);
  }

  /** The pid of a killed process may have been reused. */
  #record(directory: string, pid: number): ClaudeProcess | undefined {
    const found = claudeProcess(this.#text(joinPath(directory, `${pid}.json`), 0, RECORD_BYTES));
    if (found?.pid !== pid) return undefined;
    return [undefined, this.#world.processes.startTime(pid)].includes(found.startTime) ? found : undefined;
  }

  #tail(path: string): string {
    const size = this.#world.disk.stat(path)?.size ?? 0;
    return this.#text(path, Math.max(0, size - TAIL_BYTES), TAIL_BYTES);
  }

  /** Empty if it cannot be read, or is not a plain file. */
  #text(path: string, offset: number, length: number): string {
    const { disk } = this.#world;
    try {
      if (disk.stat(path)?.kind !== "file") return "";
      const file = openRetrying(disk, path, "read");
      try {
        return new TextDecoder().decode(readAll(file, offset, length));
      } finally {
        file.close();
      }
    } catch (error) {
      if (isFault(error)) return "";
      throw error;
    }
  }

  /** AL2 */
  #toSync(path: string): void {
    const stat = this.#world.disk.stat(path);
    const before = this.#synced.get(path);
    if (stat?.kind !== "file" || before?.modifiedMs === stat.modifiedMs) return;
    this.#synced.set(path, { modifiedMs: stat.modifiedMs, isNew: before === undefined });
    this.#unsynced.add(path);
  }
}

function agentNameOf({ argv }: ForegroundProcess) {
  const command = agentIn(argv);
  return command !== undefined && isInteractive(command) ? command.agent : undefined;
}
