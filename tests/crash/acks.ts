// Acknowledgements: one line of stdout for each thing that is durable, as `run` prints them and `verify` reads them.
//   transaction ID seed SEED seq FIRST-LAST
//   checkpoint backup|history NUMBER seed SEED
//   tape FROM-TO
// K1. A line is printed in one write, once its content is durable. A write that does not fit into the reader's pipe is
//     restarted.
// K2. Only a last line without its newline is skipped: its writer was killed. Anything else that is not an
//     acknowledgement is refused.
import { writeSync } from "node:fs";
import { STORES, type StoreName } from "./home.ts";

export type Ack =
  | {
      readonly kind: "transaction";
      readonly id: number;
      readonly seed: number;
      readonly first: number;
      readonly last: number;
    }
  | { readonly kind: "checkpoint"; readonly store: StoreName; readonly number: number; readonly seed: number }
  | { readonly kind: "tape"; readonly from: number; readonly to: number };

export function lineOf(ack: Ack): string {
  if (ack.kind === "transaction") return `transaction ${ack.id} seed ${ack.seed} seq ${ack.first}-${ack.last}\n`;
  if (ack.kind === "checkpoint") return `checkpoint ${ack.store} ${ack.number} seed ${ack.seed}\n`;
  return `tape ${ack.from}-${ack.to}\n`;
}

const STDOUT = 1;
/** A busy reader comes back within milliseconds. */
const PAUSE_MS = 1;
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** K1. Throws the system's error if the reader is gone. */
export function print(ack: Ack): void {
  const line = Buffer.from(lineOf(ack));
  for (let done = 0; done < line.length; ) {
    try {
      done += writeSync(STDOUT, line, done, line.length - done);
    } catch (error) {
      if (!isRetryable(error)) throw error;
      Atomics.wait(PAUSE, 0, 0, PAUSE_MS);
    }
  }
}

function isRetryable(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EAGAIN" || error.code === "EINTR");
}

export class BadLine extends Error {
  override readonly name = "BadLine";
}

/** All acknowledgements of some runs, one after the other (K2). */
export function parseAcks(text: string): Ack[] {
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line, index) => {
    const ack = parseLine(line);
    if (ack === undefined)
      throw new BadLine(`line ${index + 1} is no acknowledgement: ${JSON.stringify(line.slice(0, 80))}`);
    return ack;
  });
}

function parseLine(line: string): Ack | undefined {
  const [, id, seed, first, last] = /^transaction (\d+) seed (\d+) seq (\d+)-(\d+)$/.exec(line) ?? [];
  if (id !== undefined)
    return { kind: "transaction", id: +id, seed: Number(seed), first: Number(first), last: Number(last) };
  const [, name, number, by] = /^checkpoint (\w+) (\d+) seed (\d+)$/.exec(line) ?? [];
  const store = STORES.find((known) => known === name);
  if (store !== undefined) return { kind: "checkpoint", store, number: Number(number), seed: Number(by) };
  const [, from, to] = /^tape (\d+)-(\d+)$/.exec(line) ?? [];
  return from === undefined ? undefined : { kind: "tape", from: +from, to: Number(to) };
}
