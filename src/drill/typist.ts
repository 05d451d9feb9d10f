// The typist: types numbered lines into random terminals, and now and then drops a connection in the middle.
import type { Dice } from "./dice.ts";
import type { Going } from "./going.ts";
import type { Ledger } from "./ledger.ts";

/** About sixty lines a second over all terminals: enough to be in flight at every kill, and little work. */
const PAUSE_MS = [4, 28] as const;
const ATTACH_ANEW = 0.02;

export function typeAtRandom(ledger: Ledger, dice: Dice, going: Going): Promise<void> {
  const act = (): void => {
    const attached = dice.pick(ledger.running)?.attached;
    if (attached?.copy.ready !== true) return;
    attached.type();
    if (dice.chance(ATTACH_ANEW)) attached.attachAnew();
  };
  return going.repeat(act, () => dice.between(...PAUSE_MS));
}
