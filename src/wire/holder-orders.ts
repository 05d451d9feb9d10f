// What a holder of attempts is told on its input, one line for each attempt that it is to hold.
// OR1. A line that is not whole is no order: who was killed in the middle of one has ordered nothing.
import { entrusted, type Variables } from "./entrusted.ts";
import { decodeLine, encodeLine, LineReader } from "./lines.ts";

/** The word that makes a holder wait for orders; behind it the home, by which people and drills find it. */
export const ORDERS = "--orders";

export type HolderOrder = {
  /** The attempt's. */
  readonly directory: string;
  /** What its program gets and no disk does. */
  readonly secrets: Variables;
};

export function encodeOrder({ directory, secrets }: HolderOrder): Uint8Array {
  return encodeLine({ directory, secrets: JSON.stringify(secrets) });
}

/** Every order, as it comes; ends with the input, and with what is no order. */
export async function* ordersIn(input: AsyncIterable<Uint8Array>): AsyncGenerator<HolderOrder> {
  const reader = new LineReader();
  for await (const bytes of input) {
    for (const line of reader.push(bytes) ?? []) {
      const order = parseOrder(line);
      if (order === undefined) return;
      yield order; // OR1
    }
  }
}

function parseOrder(line: string): HolderOrder | undefined {
  const { directory, secrets } = decodeLine(line) ?? {};
  if (typeof directory !== "string") return undefined;
  return { directory, secrets: entrusted(typeof secrets === "string" ? secrets : undefined) };
}
