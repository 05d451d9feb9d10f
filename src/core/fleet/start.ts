// Whether a daemon that starts may take its home in the database, as a pure decision.
// ST1. A home that is ours is taken at once, whatever its lease: nobody else may have it. It is ours if the take that
//      the database has is one that we sent (invariant 7 of a fleet).
// ST2. A database that has lost our take in a fail-over has an older epoch. It is still ours, unless somebody else has
//      appended to it since: whoever decides compares both logs first, if this `isDoubtful`.
//      The same if it is noted that another host had it in between.
// ST3. Whoever knows by which later take another host has it follows, also if the database has lost that.
// ST4. Otherwise another host has it, and we follow, until the operator says otherwise.
// ST5. A home that is to move to another host is left alone until that host has taken it, or the move is called off.

type TakeId = { readonly epoch: number; readonly id: string };

/** What the database says of a home. `moveTo`: the host that it is to be moved to; empty: none. */
export type HomeInDatabase = {
  readonly epoch: number;
  readonly take: string;
  readonly owner: string;
  readonly moveTo: string;
};
/**
 * What we remember: the take that is ours, and one that was sent and not confirmed. `lostAt`: the epoch of the take by
 * which another host has it, as far as we have heard.
 */
export type Remembered = { readonly take: TakeId | null; readonly wished: TakeId | null; readonly lostAt?: number };

export type StartDecision =
  | { readonly kind: "take"; readonly epoch: number; readonly isDoubtful: boolean }
  | { readonly kind: "follow"; readonly owner: string; readonly epoch: number };

/** `host`: the name of this one. */
export function decideStart(home: HomeInDatabase, remembered: Remembered | undefined, host: string): StartDecision {
  if (home.moveTo !== "" && home.moveTo !== host) return { kind: "follow", owner: home.moveTo, epoch: home.epoch }; // ST5
  const { take = null, wished = null, lostAt } = remembered ?? {};
  const known = [
    ...(take !== null && take.epoch >= (lostAt ?? 0) ? [take] : []), // ST3
    ...(wished !== null && wished.epoch > (lostAt ?? 0) ? [wished] : []),
  ];
  const isNew = home.epoch === 0;
  const isOurs = known.some(({ epoch, id }) => id === home.take && epoch === home.epoch); // ST1
  const isOlder = known.some(({ epoch }) => epoch > home.epoch); // ST2
  if (isNew || isOurs || isOlder)
    return { kind: "take", epoch: home.epoch + 1, isDoubtful: !isNew && (!isOurs || lostAt !== undefined) };
  return { kind: "follow", owner: home.owner, epoch: home.epoch }; // ST4
}

/** Whether the take that the database has is ours, perhaps one that we only wished for. */
export function isOwnTake({ take }: Pick<HomeInDatabase, "take">, remembered: Remembered | undefined): boolean {
  return take !== "" && [remembered?.take?.id, remembered?.wished?.id].includes(take);
}
