// `agents/<id>/session.json`: a record of each session for people and other tools (EL-4). The log is the truth; this
// file follows it.
// R1. Written whole or not at all; one at a time for each agent, and only if its contents changed. The newest wins.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import { type Agent, providerBlob } from "../../core/agent/agent.ts";
import { makeHeldDirectory } from "../../home/held/holder-files.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { readJson } from "../../log/file/json-file.ts";
import type { Clock } from "../../world/clock.ts";
import type { Disk } from "../../world/disk.ts";
import { agentDirectory } from "./process-files.ts";

type HomeWorld = { readonly disk: Disk; readonly clock: Clock; readonly home: string };
type Writing = { wanted: Agent | undefined };

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

  /** `onBug`: PB2 of part.ts. */
  constructor(place: HomeWorld, onBug: (error: unknown, id: string) => void) {
    this.#place = place;
    this.#broken = onBug;
  }

  /** R1 */
  note(agent: Agent): void {
    if (!agent.created || this.#known(agent) === keyOf(agent)) return;
    const writing = this.#writing.get(agent.id);
    if (writing !== undefined) {
      writing.wanted = agent;
      return;
    }
    void this.#write(agent).catch((error: unknown) => {
      if (!isFault(error)) this.#broken(error, agent.id); // On a full disk, the next change writes it.
    });
  }

  /** Called when the agent was removed. */
  forget(id: string): void {
    this.#written.delete(id);
  }

  /**
   * The relevant contents of the file: an earlier daemon's is read once, which is far cheaper than writing it again.
   */
  #known({ id }: Agent): string | undefined {
    const known = this.#written.get(id);
    if (known !== undefined) return known;
    const record = readJson(this.#place.disk, joinPath(agentDirectory(this.#place.home, id), "session.json"));
    const found = record === undefined ? "" : `${record["state"]} ${record["provider_state"]}`;
    this.#written.set(id, found);
    return found;
  }

  async #write(first: Agent): Promise<void> {
    const writing: Writing = { wanted: first };
    this.#writing.set(first.id, writing);
    try {
      for (let agent = writing.wanted; agent !== undefined; agent = writing.wanted) {
        writing.wanted = undefined;
        await this.#writeOne(agent);
        this.#written.set(agent.id, keyOf(agent));
      }
    } finally {
      this.#writing.delete(first.id);
    }
  }

  async #writeOne(agent: Agent): Promise<void> {
    const { disk, clock, home } = this.#place;
    const directory = agentDirectory(home, agent.id);
    await makeHeldDirectory(disk, home, directory);
    const { provider, model } = agent.plan.recipe;
    const record = {
      v: 1,
      agent_uuid: agent.id,
      provider_name: provider,
      model,
      state: sessionState(agent),
      provider_state: providerState(agent),
      created_at: agent.createdAt,
      updated_at: new Date(clock.now()).toISOString(),
    };
    await writeAtomic(disk, joinPath(directory, "session.json"), Buffer.from(`${JSON.stringify(record)}\n`));
  }
}

function keyOf(agent: Agent): string {
  return `${sessionState(agent)} ${providerState(agent)}`;
}

function providerState(agent: Agent): string {
  return Buffer.from(providerBlob(agent)).toString("base64");
}
