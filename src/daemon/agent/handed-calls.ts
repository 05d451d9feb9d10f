// Answers to tool calls that were handed to a connection over plain HTTP, which has no word for "taken".
// HC1. One counts as taken with the next sign of its caller: another request in the same session, or any output of the agent's process.
// HC2. It is known to this daemon alone. Where it dies, what was handed over and not taken is handed over anew (`via` of core/agent/events.ts).

export class HandedCalls {
  /** By agent: the calls, and the sessions they came in. */
  readonly #handed = new Map<string, Map<string, string>>();

  hand(agent: string, session: string, call: string): void {
    const calls = this.#handed.get(agent) ?? new Map<string, string>();
    this.#handed.set(agent, calls.set(call, session));
  }

  /** HC1. A request in that session: what it has taken by that, but for the call that it repeats. */
  goesOn(agent: string, session: string, repeated: string | undefined): string[] {
    return this.#take(agent, (call, from) => from === session && call !== repeated);
  }

  /** HC1. Its process said something. */
  heard(agent: string): string[] {
    return this.#take(agent, () => true);
  }

  #take(agent: string, which: (call: string, session: string) => boolean): string[] {
    const calls = this.#handed.get(agent);
    if (calls === undefined) return [];
    const taken = [...calls].filter(([call, session]) => which(call, session)).map(([call]) => call);
    for (const call of taken) calls.delete(call);
    if (calls.size === 0) this.#handed.delete(agent);
    return taken;
  }
}
