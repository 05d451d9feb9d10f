// Our own priority. Apart from program.ts, because holders have that in memory.
import { constants, setPriority } from "node:os";

/** From now on everything else goes first: what we do may take any time. */
export function giveWay(): void {
  setPriority(constants.priority.PRIORITY_LOW);
}
