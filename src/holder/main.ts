// The entry of a holder: `bun src/holder/main.ts <the terminal's directory>`. It is
// started detached, and outlives its starter. A holder of several children, one after the
// other, is orders-main.ts: what only that one needs would cost each terminal memory.
// M6. A spare (daemon/held/spare-holder.ts) is loaded and waits: `main.ts --spare PATH`. It gets its one order on
//     standard input, and is a holder like any other from then on. If its daemon ends first, or orders anything else,
//     it leaves.
import { type HolderOrder, parseOrder, SPARE } from "../wire/holder/orders.ts";
import { ENTRUSTED, entrusted } from "../wire/holder/secrets.ts";
import { MAX_LINE } from "../wire/lines.ts";
import type { Program } from "../world/program.ts";
import { LOOK_AT_PEER, tellPeer } from "../world/real/peer.ts";
import { realProgram } from "../world/real/program.ts";
import { firstLine, showArgument } from "../world/real/spare.ts";
import { Hold } from "./hold.ts";

const USAGE = 2;

async function main(program: Program): Promise<void> {
  const [first, second] = program.args;
  if (first === undefined) return program.exit(USAGE);
  if (first === LOOK_AT_PEER) return tellPeer(second);
  program.rest(); // Loading leaves much garbage; new data reuses its space.
  const order =
    first === SPARE ? ordered(second) : { directory: first, secrets: entrusted(program.variable(ENTRUSTED)) };
  // Not before: a handled signal would wait for the order as well.
  if (order !== undefined) await new Hold(program).one(order.directory, order.secrets);
  program.exit(0);
}

/** M6 */
function ordered(shown = ""): HolderOrder | undefined {
  const line = firstLine(MAX_LINE);
  const order = line === undefined ? undefined : parseOrder(line);
  if (order !== undefined) showArgument(shown, order.directory);
  return order;
}

void main(realProgram()); // Not awaited: the bundle is CommonJS, and an exception ends the process all the same.
