// The name under which one call numbers what it types (wire/holder/protocol.ts, H3): nobody else has it, ever.
import type { Reach } from "../daemon-command-world.ts";

export function writerName({ processes, random }: Pick<Reach, "processes" | "random">, what: string): string {
  return `${what}-${processes.pid}-${random.bytes(8).toHex()}`;
}
