// A terminal as a held program: the name of its socket, and what its end means.
import { baseName } from "../../base/path.ts";
import { holderSocket } from "../../home/held/holder-files.ts";
import type { HolderExit } from "../../wire/holder/protocol.ts";
import type { HeldNews } from "../held/held-adapter.ts";

export function socketName(home: string, id: string): string {
  return baseName(holderSocket(home, id));
}

/** If a holder was told to stop in a boot that is over, the machine took the terminal down. */
export function ending({ code, signal, stopped, bootId }: HolderExit): HeldNews {
  return { kind: "ended", bootId, code, signal, ...(stopped === true && { stoppedIn: bootId }) };
}
