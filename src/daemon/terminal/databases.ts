// The daemon's side of the database program: the conversations that opencode keeps in its database.
// DT1. A database is read again only if its files have changed, and one that could not be read, or that killed its
//      reader, not before a while has passed: it costs two looks at files while its program only draws.
// DT2. A caller waits a moment at most. An answer that comes later is there for the next one.
import type { Conversation } from "../../core/terminal/agent-in-front.ts";
import { opencodeConversations } from "../../wire/agent-records.ts";
import { type DatabaseRequest, MAX_DATABASE_LINE } from "../../wire/database.ts";
import type { Disk } from "../../world/disk.ts";
import { within } from "../../world/wait.ts";
import { AskedProgram, type AskedWorld } from "../asked-program.ts";

export const DATABASE_SOURCE = "src/database/main.ts";
/** A query takes milliseconds; starting the program takes longer on a busy machine. */
const ANSWER_MS = 2_000;
/** DT2 */
const WAIT_MS = 500;
/** DT1 */
const AGAIN_MS = 5 * 60_000;
/** As many as terminals that anybody has; the oldest are read again. */
const MAX_READINGS = 100;

type Reading = { readonly stamp: string; readonly at: number; readonly found: readonly Conversation[] | undefined };

export class Databases {
  readonly #world: AskedWorld & { readonly disk: Disk };
  readonly #program: AskedProgram;
  readonly #say: (words: string) => void;
  readonly #readings = new Map<string, Reading>();
  readonly #asked = new Map<string, Promise<void>>();
  readonly #troubles = new Set<string>();

  constructor(world: AskedWorld & { readonly disk: Disk }, say: (words: string) => void, answerMs: number = ANSWER_MS) {
    this.#world = world;
    this.#say = say;
    this.#program = new AskedProgram(world, {
      name: "database",
      command: [DATABASE_SOURCE],
      maxLine: MAX_DATABASE_LINE,
      answerMs,
      kills: { code: "database.died", message: "Its reader died of it, twice.", hint: "Its terminal runs on." },
      crashed: () => undefined, // The refusal that follows is logged once.
    });
  }

  /** Reads what has changed (DT1); returns after a moment in any case (DT2). */
  async refresh(request: DatabaseRequest): Promise<void> {
    const key = keyOf(request);
    const stamp = this.#stamp(request.path);
    const last = this.#readings.get(key);
    const now = this.#world.clock.elapsed();
    if (stamp === "" || (last?.stamp === stamp && last.found !== undefined)) return;
    if (last !== undefined && last.found === undefined && now - last.at < AGAIN_MS) return;
    const asked = this.#asked.get(key) ?? this.#read(key, stamp, request).finally(() => this.#asked.delete(key));
    this.#asked.set(key, asked);
    await within(this.#world.clock, WAIT_MS, asked);
  }

  /** As it was last read. */
  found(request: DatabaseRequest): readonly Conversation[] {
    return this.#readings.get(keyOf(request))?.found ?? [];
  }

  close(): void {
    this.#program.close();
  }

  async #read(key: string, stamp: string, request: DatabaseRequest): Promise<void> {
    const answer = await this.#program.ask(request);
    const found = answer.ok ? opencodeConversations(answer.value, request.sinceMs) : undefined;
    if (!answer.ok) this.#trouble(request.path, answer.error.message);
    this.#readings.delete(key);
    this.#readings.set(key, { stamp, at: this.#world.clock.elapsed(), found });
    for (const oldest of [...this.#readings.keys()].slice(0, -MAX_READINGS)) this.#readings.delete(oldest);
  }

  #trouble(path: string, message: string): void {
    if (!this.#troubles.has(path)) this.#say(`the conversations in ${path} are not known: ${message}`);
    this.#troubles.add(path);
  }

  /** Empty if there is no database. In WAL mode changes are in a file beside it. */
  #stamp(path: string): string {
    const looks = [path, `${path}-wal`].map((file) => this.#world.disk.stat(file));
    return looks[0]?.kind === "file" ? looks.map((at) => `${at?.id} ${at?.size} ${at?.modifiedMs}`).join(" ") : "";
  }
}

function keyOf({ path, directory, sinceMs }: DatabaseRequest): string {
  return JSON.stringify([path, directory, sinceMs]);
}
