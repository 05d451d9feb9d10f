// A border: where bytes of another program or of a file enter, and what reads them there.
// BO1. What reads them returns, or refuses in its own words; nothing else is thrown.
// BO2. What it returns can be written as JSON and read again, and is bounded.
import type { Attacker } from "./attacks.ts";
import type { Message } from "./seeds.ts";

export type Border = {
  readonly name: string;
  /** How many hostile inputs one case has. */
  readonly inputs: number;
  /** How much more one of them costs than usual; absent: not more. */
  readonly cost?: number;
  /** One case: throws if the border does not hold. */
  meet(attacker: Attacker): void | Promise<void>;
};

/** More than any reader takes for its longest input, also on a busy machine. */
export const MAX_MS = 20_000;

/** BO2. The value as it would be read from a log. */
export function recorded<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

/** The same as a message of a border. */
export function messageOf(value: object): Message {
  return JSON.parse(JSON.stringify(value));
}
