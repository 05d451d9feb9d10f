// What a decision comes to: its events, and every session that they touch as it is after them. The decider
// has already folded the events, so they are not folded again.

export type Decision<E, S> = {
  readonly events: readonly E[];
  readonly after: ReadonlyMap<string, S>;
  /** Makes whatever was told of the decision while it was made forget it; absent: nothing was. */
  undo?(): void;
};

/** The events, folded onto the sessions that they are of. */
export function decisionOf<E extends { readonly id: string }, S>(
  states: ReadonlyMap<string, S>,
  events: readonly E[],
  apply: (before: S | undefined, event: E) => S,
): Decision<E, S> {
  const after = new Map<string, S>();
  for (const event of events) after.set(event.id, apply(after.get(event.id) ?? states.get(event.id), event));
  return { events, after };
}
