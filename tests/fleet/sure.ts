// Calls that are answered, for the contract of the statements (contract.ts).
import { expect } from "bun:test";
import { APPEND, type Call, ENROL, TAKE, type Take } from "../../src/fleet/calls.ts";
import type { Database } from "../../src/fleet/database.ts";

export const LEASE_MS = 60_000;

export type Place = { readonly database: Database; readonly home: string };

/** Calls that are answered, without a doubt. */
export class Sure {
  readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async do<P, R>(call: Call<P, R>, parameters: P): Promise<R> {
    const answer = await this.database.call(call, parameters);
    if (answer.kind !== "done" || answer.isDoubtful) throw new Error(`${call.statement.name}: ${Bun.inspect(answer)}`);
    return answer.value;
  }

  /** A home of this name, with batches of these sizes; each entry is a byte, its seq. */
  async owned(home: string, ...sizes: readonly number[]): Promise<Take> {
    await this.do(ENROL, { home, lastSeq: 0 });
    const take = { home, epoch: 1, id: `${home} 1` };
    expect(await this.do(TAKE, { take, owner: "a", leaseMs: LEASE_MS, ifExpired: true })).toBe(true);
    let end = 0;
    for (const size of sizes) {
      expect(await this.append(take, end + 1, end + size)).toBe(true);
      end += size;
    }
    return take;
  }

  append(take: Take, first: number, last: number): Promise<boolean> {
    return this.do(APPEND, { take, batch: { first, last, bytes: entries(first, last) }, leaseMs: LEASE_MS });
  }
}

export function entries(first: number, last: number): Uint8Array {
  return Uint8Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
