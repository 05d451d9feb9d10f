// A program of ours that answers requests, one JSON line each way, and runs only while it is needed.
// SC1. Every request ends with an answer or a refusal. The program answers in order, so if it dies or stops answering,
//      the first unanswered request is to blame. A request that does this twice is given up; the others are sent again.
// SC2. The program is started when it is first needed. It exits by itself when it is idle; if it ends while no request
//      is pending, nothing needs to be done.
// SC3. Requests are sent one after the other, as the program reads them: each waiting request is in memory only once.
// SC4. An end with requests pending is a crash, and one that is killed for its silence is unresponsive; `crashed` is
//      told (docs/decisions/0025-screen-program.md says why no heartbeat watches it).
import { isFault } from "../base/fault.ts";
import { type Refusal, type Result, refused } from "../base/result.ts";
import { CrashReason, type CrashRecord, crashRecord } from "../home/last-crash.ts";
import { parseAnswer } from "../wire/answer-line.ts";
import { decodeLine, encodeLine, LineReader } from "../wire/lines.ts";
import type { Children, Ending, PipeChild } from "../world/children.ts";
import type { Clock } from "../world/clock.ts";
import type { Self } from "../world/self.ts";

export type AskedWorld = {
  readonly children: Children;
  readonly clock: Clock;
  readonly self: Self;
  readonly home: string;
};

export type AskedOptions = {
  /** For people, and in refusals. */
  readonly name: string;
  /** What starts it, below the installation's root, and its arguments. */
  readonly command: readonly [entry: string, ...args: string[]];
  readonly maxLine: number;
  /** SC1 */
  readonly answerMs: number;
  /** The refusal of a request of which it died twice. */
  readonly kills: Refusal;
  crashed(crash: CrashRecord): void;
};

const MAX_DEATHS = 2;

type Ask = {
  readonly n: number;
  readonly line: Uint8Array;
  readonly settle: (answer: Result<unknown>) => void;
  deaths: number;
};
/** One run of the program. */
type Life = { readonly child: PipeChild; sending: Promise<void>; cancel: () => void; silent: boolean };

export class AskedProgram {
  readonly #world: AskedWorld;
  readonly #options: AskedOptions;
  /** The unanswered requests, in the order in which they were made. */
  readonly #asked = new Map<number, Ask>();
  #life: Life | undefined;
  #last = 0;
  #closed = false;

  constructor(world: AskedWorld, options: AskedOptions) {
    this.#world = world;
    this.#options = options;
  }

  async ask(request: Readonly<Record<string, unknown>>): Promise<Result<unknown>> {
    if (this.#closed) return { ok: false, error: this.#stopping() };
    this.#last += 1;
    const n = this.#last;
    return new Promise<Result<unknown>>((settle) => {
      const ask = { n, line: encodeLine({ n, ...request }), settle, deaths: 0 };
      this.#asked.set(n, ask);
      if (this.#life === undefined) this.#start();
      else this.#send(this.#life, ask);
    });
  }

  /** SC2 */
  #start(): void {
    const { children, self } = this.#world;
    const reader = new LineReader(this.#options.maxLine);
    try {
      const child = children.pipes(
        { argv: self.command(...this.#options.command), cwd: "/", env: self.environment() },
        {
          output: (bytes, from) => {
            if (from === "stdout") this.#heard(reader.push(bytes));
          },
          ended: (ending) => this.#ended(ending),
        },
      );
      this.#life = { child, sending: Promise.resolve(), cancel: () => undefined, silent: false };
      for (const ask of this.#asked.values()) this.#send(this.#life, ask);
    } catch (error) {
      if (!isFault(error)) throw error;
      for (const ask of this.#asked.values())
        this.#settle(ask, refused(`${this.#options.name}.start`, error.message, error.hint));
    }
  }

  /** SC3 */
  #send(life: Life, ask: Ask): void {
    this.#watch(life);
    life.sending = life.sending
      .then(() => (this.#asked.has(ask.n) ? life.child.write(ask.line) : undefined))
      .catch((error: unknown) => {
        if (!isFault(error)) throw error; // The program has ended: `ended` follows.
      });
  }

  /** SC1: the time limit counts from the last answer. */
  #watch(life: Life): void {
    life.cancel();
    if (this.#asked.size === 0) return;
    life.cancel = this.#world.clock.after(this.#options.answerMs, () => {
      life.silent = true;
      life.child.signal("SIGKILL");
    });
  }

  #heard(lines: readonly string[] | undefined): void {
    if (lines === undefined) {
      this.#life?.child.signal("SIGKILL");
      return;
    }
    for (const line of lines) {
      const found = parseAnswer(decodeLine(line) ?? {});
      const ask = found === undefined ? undefined : this.#asked.get(found.n);
      if (found !== undefined && ask !== undefined) this.#settle(ask, found.answer);
    }
    if (this.#life !== undefined) this.#watch(this.#life);
  }

  #ended(ending: Ending): void {
    const life = this.#life;
    life?.cancel();
    this.#life = undefined;
    const [first] = this.#asked.values();
    if (first === undefined || this.#closed) return;
    if (life !== undefined) this.#report(life, ending);
    first.deaths += 1; // SC1
    if (first.deaths === MAX_DEATHS) this.#settle(first, { ok: false, error: this.#options.kills });
    if (this.#asked.size > 0) this.#start();
  }

  /** SC4 */
  #report({ child, silent }: Life, ending: Ending): void {
    const seen = ending.kind === "exited" ? CrashReason.EXIT_CODE : CrashReason.SIGNAL;
    const facts = { name: this.#options.name, pid: child.pid, reason: silent ? CrashReason.UNRESPONSIVE : seen };
    this.#options.crashed(crashRecord(facts, ending, this.#world.clock.now()));
  }

  #settle(ask: Ask, answer: Result<unknown>): void {
    this.#asked.delete(ask.n);
    ask.settle(answer);
  }

  close(): void {
    this.#closed = true;
    this.#life?.cancel();
    this.#life?.child.closeInput();
    for (const ask of this.#asked.values()) this.#settle(ask, { ok: false, error: this.#stopping() });
  }

  #stopping(): Refusal {
    const code = `${this.#options.name}.closed`;
    return { code, message: "The daemon is stopping.", hint: "Ask again when it is up." };
  }
}
