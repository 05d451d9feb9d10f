// Who answers what the program asks its terminal (O6 of holder.ts): one window, or we if there is none that shows the
// program's bytes.
// AN1. Every window but the one that answers is asked not to. Output so far was for the one that answered until then.
// AN2. Output that a window answers is not answered by us, not even a question that began before it attached.
import { ANSWERS, type HolderQuestion, jsonFrame } from "../wire/holder/protocol.ts";
import type { Clock } from "../world/clock.ts";
import type { Client } from "./client.ts";
import { Queries } from "./queries.ts";
import { Questions } from "./questions.ts";
import type { Sizing } from "./sizing.ts";

type Ports = {
  /** Writes the output so far to the tape, and returns its end. */
  flush(): number;
  type(text: string): void;
  /** Tells the daemon that there are questions for the screen program. */
  ask(): void;
};

export class Answering {
  readonly #sizing: Sizing<Client>;
  readonly #ports: Ports;
  readonly #queries = new Queries();
  readonly #questions: Questions;
  #window: Client | undefined;
  /** Windows that were told not to answer (AN1). */
  readonly #silent = new Set<Client>();

  constructor(clock: Clock, sizing: Sizing<Client>, ports: Ports) {
    this.#sizing = sizing;
    this.#ports = ports;
    this.#questions = new Questions(clock, ports);
  }

  get open(): readonly HolderQuestion[] {
    return this.#questions.open;
  }

  /** It ignores what was sent before its WELCOME. */
  welcomed(client: Client): void {
    if (this.#silent.has(client)) this.#tell(client, false);
  }

  left(client: Client): void {
    this.#silent.delete(client);
    if (this.#window === client) this.#window = undefined;
  }

  /** Called when a window has come, gone, changed or was typed into. */
  choose(): void {
    const { answerer, clients } = this.#sizing;
    const told = clients.filter((client) => client !== answerer && !this.#silent.has(client));
    if (answerer === this.#window && told.length === 0) return;
    this.#ports.flush(); // AN1
    for (const client of told) this.#tell(client, false);
    if (answerer !== undefined && this.#silent.has(answerer)) this.#tell(answerer, true);
    this.#window = answerer;
  }

  /** Input of a window: its own answers are among it. */
  typed(input: Uint8Array): void {
    this.#queries.typed(input);
  }

  /** Output that is on its way to the tape. */
  output(bytes: Uint8Array): void {
    if (this.#window !== undefined) {
      this.#queries.skip(); // AN2
      return;
    }
    const answers = this.#queries.answersTo(bytes, this.#sizing.size);
    if (answers.length > 0) this.#questions.add(answers, this.#ports.flush()); // The screen program reads the tape.
  }

  /** What the screen program knows. */
  answer(n: number, text: string): void {
    this.#questions.answer(n, text);
  }

  close(): void {
    this.#questions.close();
  }

  #tell(client: Client, answers: boolean): void {
    if (answers) this.#silent.delete(client);
    else this.#silent.add(client);
    client.send(jsonFrame(ANSWERS, { answers }));
  }
}
