// The entry of a holder of attempts: `bun src/holder/orders-main.ts --orders HOME`. It holds attempts of workflows, one
// after the other, by order (wire/holder/orders.ts), and leaves when no orders come.
// M4. An order is accepted when the end of the previous attempt is durable and announced; nothing of one remains for
//     the next.
import { joinPath } from "../base/path.ts";
import { readWhole } from "../log/file/file.ts";
import { encodeSaid, type HolderOrder, ORDERS, ordersIn } from "../wire/holder/orders.ts";
import type { Disk } from "../world/disk.ts";
import { sameSecret } from "../world/hash.ts";
import type { Program } from "../world/program.ts";
import { realInput } from "../world/real/input.ts";
import { sayToStarter } from "../world/real/output.ts";
import { realProgram } from "../world/real/program.ts";
import { Hold } from "./hold.ts";
import { nextGiver } from "./next-giver.ts";
import { OrderedJournal } from "./ordered-journal.ts";

const USAGE = 2;

async function main(program: Program): Promise<void> {
  const [word, home] = program.args;
  if (word !== ORDERS || home === undefined) return program.exit(USAGE);
  const hold = new Hold(program);
  const held = { hold, journals: new OrderedJournal(hold.world) };
  let gone = await obey(held, ordersIn(realInput()), (directory) => sayToStarter(encodeSaid(directory)));
  while (!gone) {
    const giver = await nextGiver(hold.world, home);
    gone = giver === undefined || (await obey(held, ordersIn(giver, mayOrder(hold.world.disk, home))));
  }
  program.exit(0);
}

type Held = { readonly hold: Hold; readonly journals: OrderedJournal };

/** Returns true if it should leave, and false if only the orders have ended. */
async function obey(
  { hold, journals }: Held,
  orders: AsyncGenerator<HolderOrder, boolean>,
  say?: (directory: string) => void,
): Promise<boolean> {
  for (;;) {
    const next = await orders.next();
    if (next.done === true) return next.value;
    const { directory } = next.value;
    const journal = journals.of(next.value.journal);
    await hold.one({ ...next.value, journal, ...(say !== undefined && { say: () => say(directory) }) }); // M4
    if (hold.isLeaving()) return true;
  }
}

function mayOrder(disk: Disk, home: string): (token: string) => boolean {
  return (token) => {
    const bytes = readWhole(disk, joinPath(home, "run/token"));
    return bytes !== undefined && sameSecret(token, new TextDecoder().decode(bytes).trim());
  };
}

void main(realProgram()); // Not awaited: the bundle is CommonJS, and an exception ends the process all the same.
