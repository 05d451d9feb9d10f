// In a home that was taken over: puts what the other host has shipped of agents' conversations where their CLIs look
// for it, and says in the report what came along and what did not (docs/RECOVERY.md).
// TF1. Nothing that is there is changed, except that a conversation which is a beginning of ours is continued. If there
//      is another one, ours is set aside in `quarantine/`.
// TF2. It can be repeated, and nothing ends the recovery: what cannot be put in its place is named.
// TF3. A directory of a person is never made: only what is below it.
import { isFault } from "../../base/fault.ts";
import { joinPath, parentOf } from "../../base/path.ts";
import { type Agent, agentSession } from "../../core/agent/agent.ts";
import type { ReportItem } from "../../core/recovery.ts";
import { AGENT_NAMES, type AgentName, RESUMABLE } from "../../core/terminal/agent-names.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import { readTaken } from "../../home/fleet-files.ts";
import { type HomeWorld, terminalDirectory } from "../../home/held/holder-files.ts";
import {
  type CarriedEntry,
  type CarriedIndex,
  carriedHere,
  carriedPath,
  conversationOfKey,
  sessionOfWork,
} from "../../home/outside-files.ts";
import type { RunWorld } from "../../home/run-program.ts";
import { writeAtomicBy } from "../../log/file/atomic-file.ts";
import { makeDirectories, openRetrying, readWhole, writeAll } from "../../log/file/file.ts";
import { quarantine } from "../../log/file/quarantine.ts";
import { TapeReader } from "../../log/tape/reader.ts";
import type { Clock } from "../../world/clock.ts";
import { crc32, hex8 } from "../../world/hash.ts";
import { whyNoProgram } from "../agent/program-check.ts";
import { storeRoot } from "../terminal/coding-agent-sessions.ts";
import { queryOf } from "./outside.ts";
import { workBack } from "./work-back.ts";

export type TakenFilesPorts = {
  readonly place: HomeWorld & { readonly clock: Clock };
  agent(id: string): Agent | undefined;
  environment(agent: Agent): Readonly<Record<string, string>>;
  terminal(id: string): Terminal | undefined;
  readonly programs: Pick<RunWorld, "children" | "self">;
  /** Of what an agent has changed. */
  readonly maxBytes: number;
};

/** `left`: what is not here, in words. */
type Told = { readonly came: string[]; readonly left: string[] };

const KIB = 1024;
/** A stage of a recovery must show progress. */
const BEAT_MS = 5_000;

export class TakenFiles {
  readonly #ports: TakenFilesPorts;
  /** By session. */
  #told = new Map<string, Told>();
  /** By agent: why what is at the place of its work is not its work (WB3 of work-back.ts). */
  readonly #others = new Map<string, string>();
  #from: string | undefined;

  constructor(ports: TakenFilesPorts) {
    this.#ports = ports;
  }

  /** Does nothing in a home that was not taken over, or once that is reported. */
  async unpack(progress: () => void): Promise<void> {
    const { place } = this.#ports;
    this.#from = readTaken(place)?.from;
    if (this.#from === undefined) return;
    this.#told = new Map();
    const index = carriedHere(place);
    for (const [key, entry] of Object.entries(index)) {
      const { at, left } = entry;
      const conversation = conversationOfKey(key);
      if (conversation === undefined) await this.#unpackWork(key, entry, progress);
      if (conversation === undefined) continue;
      const { session, cli, path } = conversation;
      const why = left ?? (await this.#placed(key, this.#rootOf(session, cli), path));
      if (why === undefined) this.#tell(session).came.push(`its conversation came along${asOf(at)}`);
      else this.#tell(session).left.push(`its conversation: ${why}`);
      progress();
    }
  }

  /** Why an agent must not go on in what is at the place of its work; undefined: it may. */
  whyOther(agent: string): string | undefined {
    return this.#others.get(agent);
  }

  /** `left`: what of it was not shipped. */
  async #unpackWork(key: string, { at, left }: CarriedEntry, progress: () => void): Promise<void> {
    const { place, agent, programs, maxBytes } = this.#ports;
    const session = sessionOfWork(key);
    const owner = session === undefined ? undefined : agent(session.slice(session.indexOf("/") + 1));
    if (session === undefined || owner === undefined) return;
    const stop = beating(place.clock, progress); // git may take a while.
    const back = await workBack({ ...place, ...programs, maxBytes }, session, owner);
    stop();
    const told = this.#tell(session);
    if (back.kind === "missing") told.left.push(`its work: ${back.why}`);
    else told.came.push(`its work came along${asOf(at)}`);
    if (back.kind === "missing" && back.isOther) this.#others.set(owner.id, back.why);
    if (left !== undefined) told.left.push(`of its work: ${left}`);
  }

  /** The items of the report, with what came along, and what is on the other host only. */
  told(items: readonly ReportItem[]): readonly ReportItem[] {
    const from = this.#from;
    if (from === undefined) return items;
    const index = carriedHere(this.#ports.place);
    return items.map((item) => {
      const { came, left } = this.#of(item, index);
      if (came.length + left.length === 0) return item;
      const words = [...came, ...left.map((one) => `on ${from} only: ${one}`)];
      return { ...item, reason: [item.reason, ...words].join("; "), ...(left.length > 0 && { left }) };
    });
  }

  #of({ what, id }: ReportItem, index: CarriedIndex): Told {
    const session = what === "agent" ? agentSession(id) : `terminals/${id}`;
    const { came, left } = this.#told.get(session) ?? { came: [], left: [] };
    if (what === "terminal") return { came, left: [...left, ...this.#ofTerminal(id, index)] };
    return what === "agent" ? { came, left: [...left, ...this.#ofAgent(id, index)] } : { came: [], left: [] };
  }

  #ofTerminal(id: string, index: CarriedIndex): string[] {
    const { disk, home } = this.#ports.place;
    const tape = new TapeReader(disk, joinPath(terminalDirectory(home, id), "tape"));
    const last = Math.ceil((tape.end - tape.start) / KIB);
    const seen = this.#ports.terminal(id)?.restored?.evidence?.agent;
    const isMissing = seen?.session !== undefined && !has(index, `terminals/${id}`);
    return [
      ...(tape.start > 0 ? [`output before its last ${last} KiB, if it is kept`] : []),
      ...(isMissing ? [conversationOf(seen.name)] : []),
    ];
  }

  #ofAgent(id: string, index: CarriedIndex): string[] {
    const agent = this.#ports.agent(id);
    if (agent === undefined) return [];
    const env = this.#ports.environment(agent);
    const query = queryOf(agent, env);
    const isMissing = query !== undefined && agent.turns > 0 && !has(index, agentSession(id));
    const { disk } = this.#ports.place;
    const program = whyNoProgram({ disk, ownPath: env["PATH"] }, agent.plan);
    return [
      ...(isMissing ? [conversationOf(query.agent)] : []),
      ...(program === undefined ? [] : [`its program (${program.message})`]),
    ];
  }

  #rootOf(session: string, cli: string): string | undefined {
    const name = AGENT_NAMES.find((one) => one === cli);
    const [kind, id = ""] = session.split("/");
    if (name === undefined) return undefined;
    if (kind === "terminals") return rootIn(name, this.#ports.terminal(id)?.recipe.env);
    const agent = this.#ports.agent(id);
    return agent && rootIn(name, queryOf(agent, this.#ports.environment(agent))?.env);
  }

  /** TF2. Returns why it is not in its place. */
  async #placed(key: string, root: string | undefined, path: string): Promise<string | undefined> {
    const { disk, home } = this.#ports.place;
    if (root === undefined) return "where it belongs is not known here";
    try {
      const person = parentOf(root);
      if (disk.stat(person)?.kind !== "directory") return `there is no ${person} on this host`; // TF3
      const bytes = readWhole(disk, carriedPath(home, key));
      return bytes === undefined ? "it was not shipped in time" : await this.#put(joinPath(root, path), bytes);
    } catch (error) {
      if (isFault(error)) return `${error.message}`;
      throw error;
    }
  }

  /** TF1 */
  async #put(path: string, bytes: Uint8Array): Promise<string | undefined> {
    const { disk, home, clock } = this.#ports.place;
    const there = disk.lstat(path);
    if (there === undefined) {
      for (const parent of makeDirectories(disk, parentOf(path))) await disk.syncDirectory(parent);
      const tag = hex8(crc32(bytes));
      await writeAtomicBy(disk, path, (temp) => writeAll(temp, bytes, 0), { tag, mustBeNew: true });
      return undefined;
    }
    const theirs = there.kind === "file" ? readWhole(disk, path) : undefined;
    const same = Math.min(theirs?.length ?? 0, bytes.length);
    const isOther = theirs === undefined || Buffer.compare(theirs.subarray(0, same), bytes.subarray(0, same)) !== 0;
    if (isOther) {
      const reason = `another conversation is at its place, ${path}`;
      const damage = { name: "conversation", from: path, offset: 0, reason, at: clock.now() };
      return `${reason}; what was shipped is in ${await quarantine(disk, home, damage, bytes)}`;
    }
    if (theirs.length < bytes.length) await this.#continue(path, theirs.length, bytes.subarray(theirs.length));
    return undefined;
  }

  async #continue(path: string, at: number, rest: Uint8Array): Promise<void> {
    const file = openRetrying(this.#ports.place.disk, path, "write");
    try {
      if (file.size() === at) writeAll(file, rest, at);
      await file.datasync();
    } finally {
      file.close();
    }
  }

  #tell(session: string): Told {
    const told = this.#told.get(session) ?? { came: [], left: [] };
    this.#told.set(session, told);
    return told;
  }
}

function asOf(at: string): string {
  return at === "" ? "" : ` as of ${at}`;
}

/** Returns how to stop it. */
function beating(clock: Clock, beat: () => void): () => void {
  let cancel: () => void = () => undefined;
  const next = () => {
    beat();
    cancel = clock.after(BEAT_MS, next);
  };
  next();
  return () => cancel();
}

function rootIn(agent: AgentName, env: Readonly<Record<string, string>> | undefined): string | undefined {
  return env?.["HOME"]?.startsWith("/") ? storeRoot({ agent, env }) : undefined;
}

function has(index: CarriedIndex, session: string): boolean {
  return Object.keys(index).some((key) => key.startsWith(`${session}/conversation/`));
}

/** Why there is none. */
function conversationOf(agent: AgentName): string {
  const isFile = RESUMABLE.some((one) => one === agent) && agent !== "opencode";
  return isFile ? `its conversation with ${agent}` : `its conversation with ${agent}, which is not a file of its own`;
}
