// What the database has of a home's files, as its owner knows it.
// ST1. A blob is stored under a seq that nothing was stored under before, so that its parts are never mixed with those
//      of another one.
// ST2. What came of a call that failed is not known: then all of it is read again before the next one.
import type { Result } from "../../base/result.ts";
import { pack } from "../blob-form.ts";
import { dropBlob, listBlobs, putBlob } from "../blobs.ts";
import type { Take } from "../calls.ts";
import type { Database } from "../database.ts";
import type { FleetSeal } from "../seal.ts";
import { orStopped } from "../stopped.ts";

type Known = { readonly newest: number; readonly mark: string };

export class StoredBlobs {
  readonly #database: Database;
  readonly #seal: FleetSeal;
  readonly #take: Take;
  readonly #known: Map<string, Known>;
  /** Since it was read. */
  count = 0;
  bytes = 0;

  static async read(database: Database, seal: FleetSeal, take: Take): Promise<StoredBlobs> {
    const rows = orStopped(await listBlobs(database, take.home));
    const known = rows.map(({ path, newest, whole }) => [path, { newest, mark: whole?.mark ?? "" }] as const);
    return new StoredBlobs(database, seal, take, new Map(known));
  }

  private constructor(database: Database, seal: FleetSeal, take: Take, known: Map<string, Known>) {
    this.#database = database;
    this.#seal = seal;
    this.#take = take;
    this.#known = known;
  }

  get paths(): readonly string[] {
    return [...this.#known.keys()];
  }

  /** Stores it unless it is there. Throws `Stopped`. */
  async put(path: string, content: Uint8Array): Promise<void> {
    const { home } = this.#take;
    const mark = this.#seal.markOf(home, path, content);
    const known = this.#known.get(path);
    if (known?.mark === mark) return;
    const seq = (known?.newest ?? 0) + 1; // ST1
    const sealed = this.#seal.blob(home, { path, seq, bytes: pack(content) }, content);
    this.#done(await putBlob(this.#database, this.#take, { path, seq, bytes: sealed }));
    this.#known.set(path, { newest: seq, mark });
    this.count += 1;
    this.bytes += sealed.length;
  }

  async drop(path: string): Promise<void> {
    this.#done(await dropBlob(this.#database, this.#take, path));
    this.#known.delete(path);
  }

  #done(answer: Result<undefined>): void {
    orStopped(answer);
  }
}
