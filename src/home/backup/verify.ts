// Checks a backup: reads everything that it names, in it and in what it builds on, and compares every hash.
import type { BackupChain } from "./chain.ts";

export type Verified = {
  readonly files: number;
  /** Of the files. */
  readonly bytes: number;
  /** Of them, in this backup itself. */
  readonly own: number;
  /** Of its file. */
  readonly size: number;
};

/** Throws `NotWhole` at the first damage. */
export async function verify(chain: BackupChain, step: (bytes: number) => Promise<void>): Promise<Verified> {
  let bytes = 0;
  const { entries, newest } = chain;
  for (const entry of entries) {
    for await (const part of chain.contents(entry)) {
      bytes += part.length;
      await step(part.length);
    }
  }
  return { files: entries.length, bytes, own: newest.index.top.length, size: newest.size };
}
