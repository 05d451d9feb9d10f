// Reads the checkpoint of all terminals, and reports the condition of each file.
// R1. The primary is used, otherwise the backup; a damaged file is copied to quarantine/ with a note, and reported
//     (TC-3, TC-8). It stays in place until the next checkpoint replaces it: recovery destroys nothing.
// R2. If both are damaged, only the records are lost, never a terminal: it is reported, and everything is restored from
//     the log (TC-8).
// R3. A file of a newer version is neither used nor replaced by an older one (G2 of log/checkpoint/load.ts).
// R4. A checkpoint that is too old, or from the future, is returned with a doubt, which its user must report (TC-6).
import { isFault } from "../../base/fault.ts";
import { baseName, joinPath } from "../../base/path.ts";
import type { Fate, ReportItem } from "../../core/recovery.ts";
import {
  CHECKPOINT_BACKUP,
  CHECKPOINT_FILE,
  type Checkpoint,
  type CheckpointSession,
  readSessions,
  type ValidationError,
  validateCheckpoint,
} from "../../core/terminal/checkpoint.ts";
import { firstUsable, type Loaded } from "../../log/checkpoint/load.ts";
import { type CheckpointProblem, readCheckpoint } from "../../log/checkpoint/read.ts";
import { quarantine, quarantineUnread } from "../../log/file/quarantine.ts";
import { isObject } from "../../wire/lines.ts";
import { type CheckpointPlace, checkpointOptions } from "./checkpoint-writer.ts";

export type ReaderOptions = { readonly maxAgeMs: number; readonly skewMs?: number };

/** What a recovery starts from. */
export type Survey = {
  /** With its valid sessions only; null if none can be read. */
  readonly checkpoint: Checkpoint | null;
  /** By terminal. */
  readonly sessions: ReadonlyMap<string, CheckpointSession>;
  /** Why its use must be reported (R4); null if it need not be. */
  readonly doubt: string | null;
  readonly items: readonly ReportItem[];
};

export class CheckpointReader {
  readonly #place: CheckpointPlace;
  readonly #options: ReaderOptions;
  readonly #say: (words: string) => void;

  constructor(place: CheckpointPlace, options: ReaderOptions, say: (words: string) => void) {
    this.#place = place;
    this.#options = options;
    this.#say = say;
  }

  /** TC-3: the one that may be used without a report; null if there is none. `survey` returns the reason. */
  async read(): Promise<Checkpoint | null> {
    const { checkpoint, doubt } = await this.survey();
    return doubt === null ? checkpoint : null;
  }

  /** Does not fail because of the disk: everything can be restored without a checkpoint too. */
  async survey(): Promise<Survey> {
    try {
      return await this.#look();
    } catch (error) {
      if (!isFault(error)) throw error;
      const words = `the checkpoint cannot be read: ${error.message}. ${error.hint}`;
      this.#say(`warning: ${words}`);
      const items = [
        item("checkpoint", "could not", `${words} Terminals come back from the log`, "holdfast recovery report"),
      ];
      return { checkpoint: null, sessions: new Map(), doubt: null, items };
    }
  }

  async #look(): Promise<Survey> {
    const loaded = this.#load();
    if (loaded.kind === "refused") return this.#refused(loaded.refusal.message, loaded.refusal.hint);
    for (const problem of loaded.problems) await this.#setAside(problem); // R1
    const files = fileItems(loaded);
    for (const { reason } of files) this.#say(`warning: ${reason}`);
    if (loaded.kind === "none") return { checkpoint: null, sessions: new Map(), doubt: null, items: files };
    return this.#found(loaded, files);
  }

  #load(): Loaded {
    const { disk, home } = this.#place;
    // A missing primary is reported if its backup exists; without either there was never a checkpoint.
    const backup = [joinPath(home, CHECKPOINT_BACKUP)].filter((path) => disk.stat(path) !== undefined);
    return firstUsable(disk, [joinPath(home, CHECKPOINT_FILE), ...backup], checkpointOptions(home));
  }

  /** R3 */
  #refused(message: string, hint: string): Survey {
    this.#say(`warning: ${message}. ${hint}`);
    const next = "holdfast recovery report";
    const items = [item("checkpoint", "needs you", `${message}. ${hint}`, next)];
    return { checkpoint: null, sessions: new Map(), doubt: null, items };
  }

  #found(loaded: Loaded & { kind: "loaded" }, files: readonly ReportItem[]): Survey {
    const { time, writtenAs, sha256, body } = loaded.checkpoint;
    const head = { version: writtenAs, timestamp: time, checksum: sha256 };
    const { sessions } = readSessions(body);
    const checkpoint = { ...head, sessions };
    const found = isObject(body) ? { ...body, ...head } : head;
    const { errors } = validateCheckpoint(found, { now: this.#place.clock.now(), intact: true, ...this.#options });
    const doubt =
      errors.find(({ field, sessionId }) => field === "timestamp" && sessionId === undefined)?.reason ?? null;
    const wrong = errors.filter(({ field, sessionId }) => sessionId !== undefined || field !== "timestamp");
    const items = [...files, ...doubtItems(doubt), ...sessionItems(wrong)];
    for (const { reason } of items.slice(files.length)) this.#say(`warning: ${reason}`);
    return { checkpoint, sessions: new Map(sessions.map((each) => [each.terminalId, each])), doubt, items };
  }

  /**
   * R1. The same bytes are set aside only once for the same reason, at however many starts. A full disk does not stop
   * the recovery.
   */
  async #setAside({ path, code, reason }: CheckpointProblem): Promise<void> {
    const { disk, clock, home } = this.#place;
    if (code === "missing") return;
    const damage = { name: baseName(path), from: path, offset: 0, reason, at: clock.now() };
    const reading = readCheckpoint(disk, path, checkpointOptions(home));
    try {
      if (reading.kind === "bad" && reading.bytes !== undefined) await quarantine(disk, home, damage, reading.bytes);
      else if (reading.kind === "bad") await quarantineUnread(disk, home, damage);
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#say(`${baseName(path)} could not be set aside: ${error.message}. ${error.hint}`);
    }
  }
}

function item(id: string, fate: Fate, reason: string, next: string): ReportItem {
  return { what: "checkpoint", id, name: id, fate, reason, next };
}

const QUARANTINE = "ls quarantine/ in the home; each file has a note";

function fileItems(loaded: Exclude<Loaded, { kind: "refused" }>): ReportItem[] {
  const { kind, problems } = loaded;
  if (problems.length === 0) return [];
  const said = problems.map(({ path, reason }) => `${baseName(path)}: ${reason}`).join("; ");
  if (kind === "loaded") {
    const from = baseName(loaded.from);
    return [item("checkpoint", "back as it was", `${said}; ${from} was used instead`, QUARANTINE)];
  }
  const lost = "what was seen of the terminals (screens, places, commands) is lost; they come back from the log";
  return [item("checkpoint", "could not", `no checkpoint can be read (${said}): ${lost}`, QUARANTINE)]; // R2
}

function doubtItems(doubt: string | null): ReportItem[] {
  if (doubt === null) return [];
  const instead = "terminals come back from the log, and what is taken from it is marked";
  const reason = `the checkpoint is in doubt: ${doubt}; ${instead}`;
  return [item("checkpoint", "needs you", reason, "date; holdfast recovery report")]; // R4
}

/** TC-7: one item for each session that cannot be used. */
function sessionItems(errors: readonly ValidationError[]): ReportItem[] {
  const groups = Map.groupBy(errors, ({ sessionId }) => sessionId ?? "");
  return [...groups].map(([sessionId, wrong]) => {
    const said = wrong.map(({ field, reason }) => `${field}: ${reason}`).join("; ");
    const who = sessionId === "" ? "a session without an id" : `session ${sessionId}`;
    const reason = `${who} of the checkpoint cannot be used (${said}); the terminal comes back from the log`;
    return item(sessionId === "" ? "checkpoint" : sessionId, "could not", reason, "holdfast ls");
  });
}
