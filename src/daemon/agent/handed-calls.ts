// Answers to tool calls that were sent over plain HTTP, which has no acknowledgement.
// HC1. An answer counts as received with the next sign of its caller: another request in the same session, or any
//      output of the agent's process.
// HC2. Only this daemon knows. If it dies, everything that was sent but not received is sent again (`via` of
//      core/agent/events.ts).

export class HandedCalls {
  /** By agent: the calls, and the sessions they came in. */
  readonly #handed = new Map<string, Map<string, string>>();

  hand(agent: string, session: string, call: string): void {
    const calls = this.#handed.get(agent) ?? new Map<string, string>();
    this.#handed.set(agent, calls.set(call, session));
  }

  /** HC1. For a request in that session: the calls received by it, except the one that it repeats. */
  goesOn(agent: string, session: string, repeated: string | undefined): string[] {
    return this.#take(agent, (call, from) => from === session && call !== repeated);
  }

  /** HC1. For output of the agent's process. */
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
