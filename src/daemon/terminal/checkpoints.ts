// The checkpoints of one daemon: read before it recovers, written while it is live, and once more before it ends.
// CP1. Nothing is written before LIVE: a restoration in progress must not overwrite the good state.
// CP2. Everything is examined on the existing heartbeat, most of it at most every five seconds: there is no separate
//      timer, except while an agent CLI in front of a terminal prints, which is looked at every second.

import type { Result } from "../../base/result.ts";
import type { ReportItem } from "../../core/recovery.ts";
import type { CheckpointSession } from "../../core/terminal/checkpoint.ts";
import type { Sighting } from "../../core/terminal/restoration.ts";
import type { HomeWorld } from "../../home/held/holder-files.ts";
import type { Saved } from "../../log/checkpoint/store.ts";
import type { Config } from "../../wire/files/config-schema.ts";
import type { AgentsInFront } from "./agents-in-front.ts";
import { CheckpointReader, type Survey } from "./checkpoint-reader.ts";
import { CheckpointScheduler } from "./checkpoint-scheduler.ts";
import { CheckpointState, type StatePorts } from "./checkpoint-state.ts";
import { CheckpointWriter } from "./checkpoint-writer.ts";
import { Sightings } from "./sightings.ts";

export type CheckpointPorts = Omit<StatePorts, "late"> & {
  readonly agents: Pick<AgentsInFront, "of" | "look" | "prepare" | "sync" | "forgetAllBut">;
  /** Safe mode. */
  isOff(): boolean;
  say(words: string): void;
};

/** The last record of a terminal. `doubt`: why it must not be used silently (TC-6). */
export type LastSeen = { readonly session: CheckpointSession; readonly doubt: string | null };

/** The events of CS-2; any other event of a terminal only makes the last checkpoint out of date. */
const ACTIVITY: readonly string[] = ["terminal.created", "terminal.ended", "terminal.moved", "terminal.removed"];
const PULSE_MS = 5_000;
const HOUR_MS = 3_600_000;
/** The part of the maximum age after which a checkpoint is rewritten although nothing changed. */
const FRESH_PART = 4;

export class Checkpoints {
  readonly #place: HomeWorld;
  readonly #ports: CheckpointPorts;
  readonly #reader: CheckpointReader;
  readonly #writer: CheckpointWriter;
  readonly #state: CheckpointState;
  readonly #scheduler: CheckpointScheduler;
  readonly #sightings: Sightings;
  #survey: Promise<Survey> | undefined;
  #live = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking = false;
  #hasActiveAgent = false;

  constructor(place: HomeWorld, { checkpoint, terminal }: Config, ports: CheckpointPorts) {
    const maxAgeMs = checkpoint.maxAgeH * HOUR_MS;
    const environment = { allow: terminal.envAllow, deny: terminal.envDeny };
    this.#place = place;
    this.#ports = ports;
    this.#reader = new CheckpointReader(place, { maxAgeMs, skewMs: checkpoint.clockSkewS * 1000 }, ports.say);
    this.#writer = new CheckpointWriter(place, ports.say);
    const options = { scrollbackBytes: checkpoint.scrollbackBytes, environment };
    this.#state = new CheckpointState(place, options, { ...ports, late: () => this.#scheduler.changed() });
    this.#sightings = new Sightings(place, {
      running: () => this.#state.running(),
      tapeEnd: (id) => this.#state.tapeEnd(id),
      prepare: async (terminals) => {
        await Promise.all(
          terminals.map(({ id, state }) => state.kind === "running" && ports.agents.prepare(id, state.pid)),
        );
      },
      look: (terminal) => this.#state.sighting(terminal),
      recorded: (id) => recorded(this.#state.last(id)?.session),
      guard: ports.guard,
    });
    this.#scheduler = new CheckpointScheduler(
      { checkpointIntervalMs: checkpoint.intervalMs, freshMs: maxAgeMs / FRESH_PART },
      { ...ports, clock: place.clock },
    );
  }

  /** What the previous daemon left; read once, so that every stage of a recovery sees the same. */
  survey(): Promise<Survey> {
    this.#survey ??= this.#read();
    return this.#survey;
  }

  async #read(): Promise<Survey> {
    const survey = await this.#reader.survey();
    this.#sightings.load();
    this.#state.seed(survey.sessions.values());
    return survey;
  }

  /** The report's items about the checkpoint itself. */
  async items(): Promise<readonly ReportItem[]> {
    return (await this.survey()).items;
  }

  /** The record to restore a terminal from: this daemon's if there is one, otherwise the previous daemon's. */
  async lastSeen(id: string): Promise<LastSeen | undefined> {
    const { doubt } = await this.survey();
    const last = this.#state.last(id);
    return last === undefined ? undefined : { session: last.session, doubt: last.now ? null : doubt };
  }

  /** What was seen of a terminal since its record was made. */
  lastSighting(id: string): Sighting | undefined {
    const [seen, record] = [this.#sightings.of(id), this.#state.last(id)?.session];
    if (seen === undefined || record === undefined) return seen;
    return seen.generation >= record.generation && seen.at > (record.lookedAt ?? "") ? seen : undefined;
  }

  /** The conversations that the other terminals were last seen in. */
  conversationsBut(id: string): string[] {
    const others = [...this.#ports.terminals()].filter(
      (one) => one.id !== id && !one.removed && one.state.kind !== "ended",
    );
    return others.flatMap((one) => {
      const { agent } = this.lastSighting(one.id) ?? this.#state.last(one.id)?.session ?? {};
      return agent?.session ?? [];
    });
  }

  /** CP1 */
  goLive(): void {
    if (this.#live) return;
    this.#live = true;
    this.#scheduler.start({ write: (sessions) => this.#write(sessions) }, () => this.#state.sessions());
  }

  async #write(sessions: readonly CheckpointSession[]): Promise<Result<Saved>> {
    const saved = await this.#writer.write(sessions);
    if (saved.ok) this.#sightings.covered(sessions);
    return saved;
  }

  /** Called for each event of a terminal, once it is durable. */
  heard(topic: string): void {
    if (!this.#live) return;
    if (ACTIVITY.includes(topic)) this.#scheduler.activity();
    else this.#scheduler.changed();
  }

  /** Whether an agent CLI has printed something, and is to be looked at again before the next heartbeat (CP2). */
  get hasActiveAgent(): boolean {
    return this.#hasActiveAgent;
  }

  /** CP2. Called on every heartbeat. Returns whether a terminal is known to have printed something since. */
  async pulse(): Promise<boolean> {
    this.#hasActiveAgent = false;
    if (!this.#live || this.#looking || this.#ports.isOff()) return false;
    this.#looking = true;
    try {
      const seen = await this.#sightings.beat();
      this.#hasActiveAgent = seen.some(({ id }) => this.#ports.agents.of(id) !== undefined);
      await this.#ports.agents.sync();
      const now = this.#place.clock.elapsed();
      if (now - this.#lookedAt < PULSE_MS) return false;
      this.#lookedAt = now;
      this.#ports.agents.forgetAllBut(new Set(this.#state.running().map(({ id }) => id)));
      const { changed, inputs } = await this.#state.pulse();
      if (changed) this.#scheduler.activity(inputs);
      return changed;
    } finally {
      this.#looking = false;
    }
  }

  /** Writes the last one, before the holders' connections are closed (CS-4). */
  async finish(): Promise<void> {
    if (this.#live) await this.#scheduler.finish();
    this.#live = false;
  }
}

function recorded(session: CheckpointSession | undefined): Sighting | undefined {
  if (session === undefined) return undefined;
  const { generation, workingDirectory, foreground, agent, lookedAt: at = "" } = session;
  return { generation, workingDirectory, foreground, ...(agent && { agent }), at };
}
