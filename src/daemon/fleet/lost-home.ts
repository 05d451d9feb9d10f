// Why the log of a home in a fleet has stopped for good, although its disk is well.
// LH1. It is a Fault: whoever waits for the log is refused, and reports no bug.
// LH2. It says nothing about the home itself: no recovery counts as failed because of it, and the next process begins
//      anew, or follows.
import { Fault, isFault } from "../../base/fault.ts";

const LOST = "fleet-lost";
/** What waited for the database waits for the next process: this one was asked to end while the database is away. */
export const GIVEN_UP = "fleet-given-up";
const NEXT = "Whether it was done is seen where the home is now (`holdfast fleet ls`), or when it is live again here.";

export class LostHome extends Fault {
  constructor(message: string, code: typeof LOST | typeof GIVEN_UP = LOST) {
    super({ code, operation: "fleet", path: "log", hint: NEXT });
    this.message = message;
  }
}

/** LH2 */
export function isLostHome(error: unknown): boolean {
  return isFault(error, LOST, GIVEN_UP);
}
