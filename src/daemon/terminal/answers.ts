// Answers what programs ask their terminals while no window does (O6 of holder/holder.ts), with the help of the screen
// program. A holder touches its socket when it has questions, and lists them in its status.
// TA1. One look at a time for each terminal; a touch meanwhile causes one more.
// TA2. An answer names its question and the generation that asked: the holder types it only if that is still open.
import type { HolderQuestion } from "../../wire/holder/protocol.ts";
import type { HolderConnection, HolderConnections } from "../held/holder-connections.ts";

/** What a terminal's screen says to a question; undefined if it does not tell. */
export type Reply = (id: string, question: HolderQuestion) => Promise<string | undefined>;

type Connections = Pick<HolderConnections<HolderConnection>, "status" | "get">;

export class TerminalAnswers {
  readonly #connections: Connections;
  readonly #reply: Reply;
  readonly #looking = new Set<string>();
  readonly #again = new Set<string>();

  constructor(connections: Connections, reply: Reply) {
    this.#connections = connections;
    this.#reply = reply;
  }

  /** Called when a holder may have questions. */
  async look(id: string): Promise<void> {
    this.#again.add(id);
    if (this.#looking.has(id)) return; // TA1
    this.#looking.add(id);
    try {
      while (this.#again.delete(id)) await this.#answer(id);
    } finally {
      this.#looking.delete(id);
    }
  }

  async #answer(id: string): Promise<void> {
    const status = await this.#connections.status(id);
    if (status === undefined) return;
    for (const question of status.asking ?? []) {
      const answer = await this.#reply(id, question);
      const { client } = this.#connections.get(id) ?? {};
      if (answer !== undefined) client?.answer({ generation: status.generation, n: question.n, answer }); // TA2
    }
  }
}
