// `agents/<id>/session.json`: a record of each session for people and other tools (EL-4). The log is the truth; this
// file follows it.
// R1. Written whole or not at all; one at a time for each agent, and only if its contents changed. The newest wins.
// R2. It is durable before anything is sent to a session for the first time.
// R3. A recovery reads it as a check: one that is gone, or does not fit the log, is reported and written again.
// R4. While a recovery examines the sessions, nothing is written: one whose process lived on is suspended and active
//     again within moments, and its record is as it was. Two syncs for each of a thousand would take most of a restart.
//     Afterwards a few are written at a time, in the background.
import { someAtOnce } from "../../base/all-of.ts";
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import { type Agent, providerBlob } from "../../core/agent/agent.ts";
import { makeHeldDirectory } from "../../home/held/holder-files.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { type JsonObject, readJson } from "../../log/file/json-file.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";
import { agentDirectory } from "./process-files.ts";

type HomeWorld = { readonly disk: Disk; readonly clock: Clock; readonly home: string };
type Writing = { wanted: Agent | undefined; readonly done: Promise<void> };

/** R4 */
const AT_ONCE = 8;

export type SessionState = "CREATED" | "ACTIVE" | "SUSPENDED" | "TERMINATED";

const STATES = { deferred: "CREATED", idle: "SUSPENDED", active: "ACTIVE", suspended: "SUSPENDED" } as const;

export function sessionState(agent: Agent): SessionState {
  return agent.terminated === undefined ? STATES[agent.session.kind] : "TERMINATED";
}

export class SessionRecords {
  readonly #place: HomeWorld;
  readonly #broken: (error: unknown, id: string) => void;
  readonly #written = new Map<string, string>();
  readonly #writing = new Map<string, Writing>();
  /** Those whose record was written, and synced, by this daemon. */
  readonly #durable = new Set<string>();
  /** R4. The newest of each that waits. */
  readonly #held = new Map<string, Agent>();
  #holding = false;

  /** `onBug`: PB2 of part.ts. */
  constructor(place: HomeWorld, onBug: (error: unknown, id: string) => void) {
    this.#place = place;
    this.#broken = onBug;
  }

  /** R1, R4 */
  note(agent: Agent): void {
    if (this.#holding || this.#held.has(agent.id)) this.#held.set(agent.id, agent);
    else void this.#note(agent);
  }

  async #note(agent: Agent): Promise<void> {
    if (!agent.created || this.#known(agent) === keyOf(agent)) return;
    const writing = this.#writing.get(agent.id);
    if (writing !== undefined) {
      writing.wanted = agent;
      return;
    }
    try {
      await this.#write(agent);
    } catch (error) {
      if (!isFault(error)) this.#broken(error, agent.id); // On a full disk, the next change writes it.
    }
  }

  /** R4 */
  hold(): void {
    this.#holding = true;
  }

  /** R4 */
  release(): void {
    this.#holding = false;
    void someAtOnce(AT_ONCE, [...this.#held.keys()], async (id) => {
      const agent = this.#held.get(id);
      this.#held.delete(id);
      if (agent !== undefined) await this.#note(agent);
    });
  }

  /** R2. Nothing was sent to a session that has had neither a turn nor a process. */
  isReady({ id, turns, generation }: Agent): boolean {
    return turns > 0 || generation > 1 || this.#durable.has(id);
  }

  /** R2. Throws a Fault if the disk refuses it. */
  async ready(agent: Agent): Promise<void> {
    this.#held.delete(agent.id);
    await this.#writing.get(agent.id)?.done;
    if (!this.isReady(agent)) await this.#write(agent);
  }

  /** R3. Returns what is wrong with it; then it is written again by the next `note`. */
  check(agent: Agent): string | undefined {
    const wrong = whyNot(readJson(this.#place.disk, this.#pathOf(agent)), agent);
    if (wrong !== undefined) this.#written.set(agent.id, "");
    return wrong;
  }

  #pathOf({ id }: Pick<Agent, "id">): string {
    return joinPath(agentDirectory(this.#place.home, id), "session.json");
  }

  /** Whether nothing of it is being written, or waits for it. */
  isQuiet(id: string): boolean {
    return !this.#writing.has(id) && !this.#held.has(id);
  }

  /** Called when the agent was removed or archived. */
  forget(id: string): void {
    this.#held.delete(id);
    this.#written.delete(id);
    this.#durable.delete(id);
  }

  /**
   * The relevant contents of the file: an earlier daemon's is read once, which is far cheaper than writing it again.
   */
  #known(agent: Agent): string | undefined {
    const known = this.#written.get(agent.id);
    if (known !== undefined) return known;
    const record = readJson(this.#place.disk, this.#pathOf(agent));
    const found = record === undefined ? "" : `${record["state"]} ${record["provider_state_blob"]}`;
    this.#written.set(agent.id, found);
    return found;
  }

  async #write(first: Agent): Promise<void> {
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const writing: Writing = { wanted: first, done };
    this.#writing.set(first.id, writing);
    try {
      for (let agent = writing.wanted; agent !== undefined; agent = writing.wanted) {
        writing.wanted = undefined;
        await this.#writeOne(agent);
        this.#written.set(agent.id, keyOf(agent));
        this.#durable.add(agent.id);
      }
    } finally {
      this.#writing.delete(first.id);
      resolve();
    }
  }

  async #writeOne(agent: Agent): Promise<void> {
    const { disk, clock, home } = this.#place;
    const directory = agentDirectory(home, agent.id);
    await makeHeldDirectory(disk, home, directory);
    const { provider, model } = agent.plan.recipe;
    const blob = providerState(agent);
    const record = {
      v: 1,
      agent_uuid: agent.id,
      provider_name: provider,
      model,
      state: sessionState(agent),
      provider_state_blob: blob,
      provider_state: blob, // The name that Holdfast 0.1 gave it.
      created_at: agent.createdAt,
      updated_at: new Date(clock.now()).toISOString(),
    };
    await writeAtomic(disk, joinPath(directory, "session.json"), Buffer.from(`${JSON.stringify(record)}\n`));
  }
}

/** R3. State and provider state may be older than the log; who it is about may not be another. */
function whyNot(record: JsonObject | undefined, { id, plan, createdAt }: Agent): string | undefined {
  if (record === undefined) return "session.json was missing or could not be read";
  const { provider, model } = plan.recipe;
  const facts = { agent_uuid: id, provider_name: provider, model, created_at: createdAt };
  const wrong = Object.entries(facts).find(([name, value]) => record[name] !== value)?.[0];
  if (wrong !== undefined) return `session.json had another ${wrong}`;
  const isState = Object.values(STATES).some((state) => state === record["state"]) || record["state"] === "TERMINATED";
  return isState ? undefined : "session.json had no state that there is";
}

function keyOf(agent: Agent): string {
  return `${sessionState(agent)} ${providerState(agent)}`;
}

function providerState(agent: Agent): string {
  return Buffer.from(providerBlob(agent)).toString("base64");
}
