// What a daemon does in the world, seen at its doors: every start of a holder, and every order to one that is there.
import { GO_HOME } from "../../../src/wire/holder/orders.ts";
import type { Children, ToldChild } from "../../../src/world/children.ts";

type Doors = { readonly children: Children };

const WATCHDOG = "src/watchdog/main.ts";

/** Calls `acts` before each. */
export function actingDoors<D extends Doors>(doors: D, acts: (what: string) => void): D {
  const { children } = doors;
  const ordered = (bytes: Uint8Array) => {
    if (!Buffer.from(bytes).equals(GO_HOME)) acts("an order to a holder");
  };
  const told = (child: ToldChild): ToldChild => ({
    pid: child.pid,
    tell: (bytes) => {
      ordered(bytes);
      child.tell(bytes);
    },
    release: () => child.release(),
  });
  return {
    ...doors,
    children: {
      ...children,
      detached: (command, log) => {
        if (!command.argv.includes(WATCHDOG)) acts("the start of a holder");
        return children.detached(command, log);
      },
      told: (command, events) => {
        acts("the start of a holder");
        return told(children.told(command, events));
      },
    },
  };
}
