// The name under which one call numbers its input (wire/holder/protocol.ts, H3); it is never used again.
import type { DaemonCommandWorld } from "../daemon-command-world.ts";

export function writerName(
  { processes, random }: Pick<DaemonCommandWorld, "processes" | "random">,
  what: string,
): string {
  return `${what}-${processes.pid}-${random.bytes(8).toHex()}`;
}
