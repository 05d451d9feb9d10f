// Orders for a holder of attempts, one line for each attempt that it is to hold: on its standard input, later on a
// socket. A spare holder (daemon/held/spare-holder.ts) gets one.
// OR1. An incomplete line is not an order: a daemon that was killed while writing one has ordered nothing.
// OR2. If the daemon dies, the holder waits at a socket for the next one, for a limited time; orders there carry the
//      home's token. Anything that is not an order ends the holder at once.
// OR3. On its standard output the holder names an attempt when there is something to see of it: its program runs and is
//      not over at once, or it has ended, or is not held at all. What that is, its files and its socket say.

import { decodeLine, encodeLine, isObject, LineReader } from "../lines.ts";
import { entrusted, type Variables } from "./secrets.ts";

/** The argument that makes a holder wait for orders. The home follows it, so that people and drills can find the
 *  process. */
export const ORDERS = "--orders";
/** The variable that makes a holder wait for its one order (M6 of holder/main.ts). */
export const SPARE = "HOLDFAST_SPARE";
/** OR2. Longer than the next daemon takes to start. */
export const ORPHANED_MS = 10_000;

const SOCKET = /^o(\d+)\.sock$/;

export type HolderOrder = {
  /** The attempt's, or the terminal's. */
  readonly directory: string;
  /** Variables for its program that are never written to disk. */
  readonly secrets: Variables;
  /** Its program gets no input: it reads the end at once, and nobody has to connect for it. */
  readonly noInput?: boolean;
  /** Where claim and exit are to be recorded; without it they are files. An older holder does not know it. */
  readonly journal?: OrderedJournal | undefined;
};

/** As in log/file/journal.ts. */
export type OrderedJournal = { readonly path: string; readonly use: number };

/** The socket of a holder whose daemon has died (OR2). */
export function ordersSocket(home: string, pid: number): string {
  return `${home}/run/o${pid}.sock`;
}

/** The pids of the holders that wait, from the names in `run/`. */
export function waitingIn(names: readonly string[]): number[] {
  return names.flatMap((name) => SOCKET.exec(name)?.[1] ?? []).map(Number);
}

/** With the token of the home if it is sent to a socket (OR2). */
export function encodeOrder({ secrets, ...order }: HolderOrder, token?: string): Uint8Array {
  return encodeLine({ ...order, secrets: JSON.stringify(secrets), token });
}

/** OR3 */
export function encodeSaid(directory: string): Uint8Array {
  return encodeLine({ look: directory });
}

/** The attempt's directory in a line that a holder has said (OR3); undefined if it is none. */
export function saidIn(line: string): string | undefined {
  const look = decodeLine(line)?.["look"];
  return typeof look === "string" ? look : undefined;
}

/** Ends a holder. */
export const GO_HOME = encodeLine({});

/** Every order as it arrives. Returns false at the end of the input, true at anything that is not an order. */
export async function* ordersIn(
  input: AsyncIterable<Uint8Array>,
  mayOrder?: (token: string) => boolean,
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

/** Also for a line without a token. */
export function parseOrder(line: string, mayOrder: (token: string) => boolean = () => true): HolderOrder | undefined {
  const { directory, secrets, token, noInput, journal } = decodeLine(line) ?? {};
  if (typeof directory !== "string" || !mayOrder(typeof token === "string" ? token : "")) return undefined;
  const given = entrusted(typeof secrets === "string" ? secrets : undefined);
  return { directory, secrets: given, noInput: noInput === true, journal: journalIn(journal) };
}

function journalIn(value: unknown): OrderedJournal | undefined {
  if (!isObject(value)) return undefined;
  const { path, use } = value;
  return typeof path === "string" && typeof use === "number" && Number.isSafeInteger(use) ? { path, use } : undefined;
}
