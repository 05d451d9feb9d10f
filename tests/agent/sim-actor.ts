// One process of the scripted program on the simulated machine: it executes its prompts line by line.
//   note X leaves a mark, which nothing takes back; ask TOOL X asks for a permission, and notes what was decided
//   call T JSON  calls one of our tools
//   crash        ends with exit code 9;  hang [hard]       says nothing more until SIGTERM (hard: SIGKILL) ends it
//   limit S      has used up what it may use for so many seconds, and waits for the next prompt
// SA1. A program keeps a transcript that survives every crash, as the agents' own services do: its successor continues
//      where it was, repeats calls without a result under the same id, and does nothing twice.
// SA3. A process gets everything once, and only answers to its own requests.

import type { SimClock } from "../sim/clock.ts";
import { ACT_MS } from "../sim/machine.ts";
import { type Life, mortalClock } from "../sim/mortal.ts";

export type Told = { readonly type: string; readonly [name: string]: unknown };
/** The input of a process: the prompt's id, and its command lines. */
export type Given = { readonly session: string; readonly uuid: string; readonly lines: readonly string[] };
export type Transcript = { readonly lines: string[]; done: number };

/** What an actor needs of its machine. */
export type Stage = {
  /** Everything that programs received, as JSON. */
  readonly told: string[];
  readonly given: Given[];
  /** Calls of our tools whose result has arrived: the caller relies on them. */
  readonly acknowledged: { readonly tool: string; readonly args: Readonly<Record<string, string>> }[];
  /** The number of turns that programs have ended. */
  ended: number;
  /** Whether programs do everything at once, without pauses. */
  readonly eager: boolean;
  readonly clock: SimClock;
  /** Leaves a mark, which nothing takes back. */
  note(what: string, done: () => void): void;
  opened(session: string, life: Life): void;
  /** SA1 */
  transcript(session: string): Transcript;
  failed(error: unknown): void;
  crashedOr(error: unknown): void;
};

/** Commands follow markers. */
export function linesOf(text: string): string[] {
  return [...text.matchAll(/^.*?>> (.*)$/gm)].map(([, line = ""]) => line);
}

/** The key by which messages to and from a process are counted: the type, and what distinguishes it. */
export function keyOf(message: Readonly<Record<string, unknown>>): string {
  const { type, kind } = message;
  const [named] = ["id", "request", "call", "response", "until"].filter((name) => message[name] !== undefined);
  return `${type ?? kind} ${named === undefined ? "" : message[named]}`;
}

export type Hands = {
  readonly life: Life;
  say(message: Told): void;
  /** Its own end. */
  crash(): void;
  /** Only a signal ends it now: this one, or a stronger one. */
  hang(hard: boolean): void;
};

export class Actor {
  readonly #machine: Stage;
  readonly #hands: Hands;
  readonly #waiting = new Map<string, (told: Told) => void>();
  /** SA3 */
  readonly #heard = new Set<string>();
  #session = "";

  constructor(machine: Stage, hands: Hands) {
    this.#machine = machine;
    this.#hands = hands;
  }

  told(told: Told): void {
    this.#machine.told.push(JSON.stringify(told));
    const key = keyOf(told);
    if (this.#heard.has(key)) this.#machine.failed(new Error(`a process is told twice: ${key}`));
    this.#heard.add(key);
    if (told.type === "open") {
      this.#session = String(told["session"]);
      this.#machine.opened(this.#session, this.#hands.life);
    }
    if (told.type === "prompt") void this.#turn(told).catch((error) => this.#machine.crashedOr(error));
    if (told.type === "answer") this.#answered(told, String(told["request"]));
    if (told.type === "result") this.#answered(told, String(told["call"]));
  }

  /** SA3 */
  #answered(told: Told, to: string): void {
    const take = this.#waiting.get(to);
    if (take === undefined)
      this.#machine.failed(new Error(`a process is answered what it did not ask: ${keyOf(told)}`));
    else take(told);
  }

  async #turn(told: Told): Promise<void> {
    const { given } = this.#machine;
    const transcript = this.#machine.transcript(this.#session);
    const lines = linesOf(String(told["text"]));
    given.push({ session: this.#session, uuid: String(told["id"]), lines });
    transcript.lines.push(...lines.filter((line) => !transcript.lines.includes(line)));
    while (transcript.done < transcript.lines.length) {
      await this.#pause();
      if (!(await this.#act(transcript, transcript.lines[transcript.done] ?? ""))) return;
    }
    await this.#pause();
    this.#machine.ended += 1;
    this.#hands.say({ type: "done", response: `${transcript.done}` });
  }

  /** Returns false if the turn does not continue by itself. */
  async #act(transcript: Transcript, line: string): Promise<boolean> {
    const [verb, tool = "", ...rest] = line.split(" ");
    const id = `${this.#session.slice(0, 8)}-${transcript.done}`;
    const done = () => {
      transcript.done += 1;
    };
    const words = rest.join(" ");
    if (verb === "note") this.#machine.note(tool, done);
    else if (verb === "ask") {
      const answer = await this.#exchange(id, { type: "ask", request: id, tool, input: { command: words } });
      this.#machine.note(`${words} ${answer["decision"]}`, done);
    } else if (verb === "call") {
      await this.#call(id, tool, JSON.parse(words));
      done();
    } else {
      done();
      this.#trouble(verb ?? "", tool);
      return false;
    }
    return true;
  }

  #trouble(verb: string, how: string): void {
    if (verb === "crash") this.#hands.crash();
    if (verb === "hang") this.#hands.hang(how === "hard");
    if (verb !== "limit") return;
    const until = new Date(this.#machine.clock.now() + Number(how) * 1000).toISOString();
    this.#hands.say({ type: "limit", until });
  }

  async #call(id: string, tool: string, args: Readonly<Record<string, string>>): Promise<void> {
    const answer = await this.#exchange(id, { type: "call", call: id, tool, args });
    if (answer["ok"] !== true) throw new Error(`${tool} was refused: ${JSON.stringify(answer["result"])}`);
    this.#machine.acknowledged.push({ tool, args });
  }

  #exchange(key: string, message: Told): Promise<Told> {
    const { promise, resolve } = Promise.withResolvers<Told>();
    this.#waiting.set(key, (told) => {
      if (!this.#hands.life.dead) resolve(told);
    });
    this.#hands.say(message);
    return promise;
  }

  /** Some continue at once. */
  #pause(): Promise<void> {
    if (this.#machine.eager) return Promise.resolve();
    return new Promise((resume) => mortalClock(this.#machine.clock, this.#hands.life).after(ACT_MS, resume));
  }
}
