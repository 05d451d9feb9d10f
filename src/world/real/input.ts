// Our standard input as it arrives, read only as fast as it is consumed: this is the backpressure.

export async function* realInput(): AsyncGenerator<Uint8Array> {
  for await (const bytes of Bun.stdin.stream()) yield bytes;
}
