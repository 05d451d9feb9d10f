// The entry of a holder: `bun src/holder/main.ts <the terminal's directory>`. It is
// started detached, and outlives its starter. A holder of several children, one after the
// other, is orders-main.ts: what only that one needs would cost each terminal memory.
// M6. A spare (daemon/held/spare-holder.ts) is loaded and waits. It gets its one order on standard input, and is a
//     holder like any other from then on, also by its arguments: what runs below it is known by them (CA1 of
//     home/callers.ts). If its daemon ends first, or orders anything else, or its arguments cannot be changed, it
//     leaves, and has claimed nothing.
import { parseOrder, SPARE } from "../wire/holder/orders.ts";
import { ENTRUSTED, entrusted } from "../wire/holder/secrets.ts";
import { MAX_LINE } from "../wire/lines.ts";
import type { Program } from "../world/program.ts";
import { LOOK_AT_PEER, tellPeer } from "../world/real/peer.ts";
import { realProgram } from "../world/real/program.ts";
import { firstLine, showArgument } from "../world/real/spare.ts";
import { Hold } from "./hold.ts";
import type { ToHold } from "./hold-one.ts";

const USAGE = 2;

async function main(program: Program): Promise<void> {
  const [first, ageMs] = program.args;
  if (first === undefined) return program.exit(USAGE);
  if (first === LOOK_AT_PEER) return tellPeer(ageMs);
  const rested = program.rest(); // Loading leaves much garbage; new data reuses its space.
  const isSpare = program.variable(SPARE) !== undefined;
  if (isSpare) await rested; // Otherwise it would rest when it has an order, for which somebody waits.
  const order = isSpare ? ordered(first) : startedWith(program, first);
  // Not before: a handled signal would wait for the order as well.
  if (order !== undefined) await new Hold(program).one(order);
  program.exit(0);
}

function startedWith(program: Program, directory: string): ToHold {
  return { directory, secrets: entrusted(program.variable(ENTRUSTED)) };
}

/** M6 */
function ordered(shown: string): ToHold | undefined {
  const line = showArgument(shown, shown) ? firstLine(MAX_LINE) : undefined;
  const order = line === undefined ? undefined : parseOrder(line);
  if (order === undefined || !showArgument(shown, order.directory)) return undefined;
  return { directory: order.directory, secrets: order.secrets };
}

void main(realProgram()); // Not awaited: the bundle is CommonJS, and an exception ends the process all the same.
