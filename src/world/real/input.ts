// What whoever started us writes to our input, as it comes. Read only as fast as it is taken: that is the pressure.

export async function* realInput(): AsyncGenerator<Uint8Array> {
  for await (const bytes of Bun.stdin.stream()) yield bytes;
}
