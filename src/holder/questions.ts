// Questions of the program that no window answers, and that the screen program answers better than we do: it knows the
// cursor and the modes. The daemon gets a notice that there are some, and passes them on.
// QO1. Answers are typed in the order of the questions: programs take a later one for the end of the earlier ones.
// QO2. Each question is answered once: by the daemon, or if it takes too long, by us with what we know (queries.ts).
// QO3. If nobody answered in time, as while the daemon is down, nobody is asked for a while.
// QO4. Their number is bounded, and how often the daemon is asked: a program that floods us gets our own answers.
import { isExhausted, newBudget, spend } from "../base/budget.ts";
import type { HolderQuestion } from "../wire/holder/protocol.ts";
import type { Clock } from "../world/clock.ts";
import type { QueryAnswer } from "./queries.ts";

/** QO2. The first start of the screen program takes 0.4 s; programs that wait for an answer wait for two seconds. */
const ANSWER_MS = 1_500;
/** QO3 */
const QUIET_MS = 30_000;
/** QO4. A shell asks at each prompt, an editor a few times when it starts. */
const MAX_ASKED = 50;
const ASKED_MS = 10_000;
const MAX_WAITING = 200;

/** One that is not typed yet; `answer` is known, or still asked for. */
type Waiting = HolderQuestion & { readonly own: string; answer?: string };

type Ports = {
  type(text: string): void;
  /** Tells the daemon that there are questions. */
  ask(): void;
};

export class Questions {
  readonly #clock: Clock;
  readonly #ports: Ports;
  readonly #waiting: Waiting[] = [];
  #asked = newBudget(MAX_ASKED, ASKED_MS);
  #quietUntil = 0;
  #last = 0;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, ports: Ports) {
    this.#clock = clock;
    this.#ports = ports;
  }

  get open(): readonly HolderQuestion[] {
    const open = this.#waiting.filter(({ answer }) => answer === undefined);
    return open.map(({ n, offset, query }) => ({ n, offset, query }));
  }

  /** `end`: the offset after the output that asked. */
  add(answers: readonly QueryAnswer[], end: number): void {
    const before = this.#last;
    for (const answer of answers) this.#waiting.push(this.#waitingFor(answer, end));
    if (this.#waiting.length > MAX_WAITING)
      this.#giveUp(); // QO4
    else this.#type();
    if (this.#last > before && this.#waiting.length > 0) this.#ports.ask();
  }

  /** Ignored if it was answered meanwhile (QO2). */
  answer(n: number, text: string): void {
    const question = this.#waiting.find((waiting) => waiting.n === n && waiting.answer === undefined);
    if (question === undefined) return;
    question.answer = text;
    this.#type();
  }

  close(): void {
    this.#cancel?.();
    this.#waiting.length = 0;
  }

  #waitingFor({ text, query, after }: QueryAnswer, end: number): Waiting {
    const now = this.#clock.elapsed();
    const asks = query !== undefined && now >= this.#quietUntil && !isExhausted(this.#asked, now);
    if (!asks) return { n: 0, offset: end - after, query: "", own: text, answer: text };
    this.#asked = spend(this.#asked, now);
    this.#last += 1;
    return { n: this.#last, offset: end - after, query, own: text };
  }

  /** QO1 */
  #type(): void {
    const open = this.#waiting.findIndex(({ answer }) => answer === undefined);
    const known = this.#waiting.splice(0, open < 0 ? this.#waiting.length : open);
    if (known.length > 0) this.#ports.type(known.map(({ answer }) => answer).join(""));
    if (known.length > 0 || this.#cancel === undefined) this.#limitWait();
  }

  /** QO2: the time limit is for each answer. */
  #limitWait(): void {
    this.#cancel?.();
    this.#cancel = this.#waiting.length === 0 ? undefined : this.#clock.after(ANSWER_MS, () => this.#giveUp());
  }

  #giveUp(): void {
    this.#quietUntil = this.#clock.elapsed() + QUIET_MS; // QO3
    for (const question of this.#waiting) question.answer ??= question.own;
    this.#type();
  }
}
