// What a holder of attempts is told, one line for each attempt that it is to hold: on its input, and after that at a socket.
// OR1. A line that is not whole is no order: who was killed in the middle of one has ordered nothing.
// OR2. Whoever gave the orders may die. For a moment the holder then waits at a socket for the next one who gives some; those have the
//      token of the home in them. What is no order sends it home at once.

import { decodeLine, encodeLine, LineReader } from "../lines.ts";
import { entrusted, type Variables } from "./secrets.ts";

/** The word that makes a holder wait for orders; behind it the home, by which people and drills find it. */
export const ORDERS = "--orders";
/** OR2. Longer than another daemon takes to live. */
export const ORPHANED_MS = 10_000;

const SOCKET = /^o(\d+)\.sock$/;

export type HolderOrder = {
  /** The attempt's. */
  readonly directory: string;
  /** What its program gets and no disk does. */
  readonly secrets: Variables;
};

/** Where a holder waits whose giver has died (OR2). */
export function ordersSocket(home: string, pid: number): string {
  return `${home}/run/o${pid}.sock`;
}

/** Of what is in `run/`, the pids of those who wait. */
export function waitingIn(names: readonly string[]): number[] {
  return names.flatMap((name) => SOCKET.exec(name)?.[1] ?? []).map(Number);
}

/** With the token of the home where it goes to a socket (OR2). */
export function encodeOrder({ directory, secrets }: HolderOrder, token?: string): Uint8Array {
  return encodeLine({ directory, secrets: JSON.stringify(secrets), ...(token !== undefined && { token }) });
}

/** What sends a holder home. */
export const GO_HOME = encodeLine({});

/** Every order, as it comes. Ends with the input, and then says false; what is no order ends it too, and then it says true. */
export async function* ordersIn(
  input: AsyncIterable<Uint8Array>,
  mayOrder: (token: string) => boolean = () => true,
): AsyncGenerator<HolderOrder, boolean> {
  const reader = new LineReader();
  for await (const bytes of input) {
    for (const line of reader.push(bytes) ?? [""]) {
      const order = parseOrder(line, mayOrder);
      if (order === undefined) return true;
      yield order; // OR1
    }
  }
  return false;
}

function parseOrder(line: string, mayOrder: (token: string) => boolean): HolderOrder | undefined {
  const { directory, secrets, token } = decodeLine(line) ?? {};
  if (typeof directory !== "string" || !mayOrder(typeof token === "string" ? token : "")) return undefined;
  return { directory, secrets: entrusted(typeof secrets === "string" ? secrets : undefined) };
}
