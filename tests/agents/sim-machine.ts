// The simulated machine for agents: a scripted program on pipes that does what its prompts tell it, and a bare LLM that does likewise.
//   note X       leaves a mark, which nothing takes back;  ask TOOL X   asks for a permission, and notes what was decided
//   call T JSON  calls one of our tools (all that the LLM can do)
// SA1. A program keeps a transcript that no crash takes, as the agents' own services do: one that comes after it goes on where it was,
//      repeats what it has no result of under the same id, and does nothing twice.
// SA2. The LLM knows nothing but the request. What it says depends on that alone.
import { Fault } from "../../src/base/fault.ts";
import type { Command, Ending, PipeChild, PipeEvents } from "../../src/world/children.ts";
import type { HttpClient } from "../../src/world/http.ts";
import { ACT_MS, Machine } from "../sim/machine.ts";
import { type Life, mortalClock } from "../sim/mortal.ts";

/** What a process was given: the prompt's id, and the lines that it has for us. */
export type Given = { readonly session: string; readonly uuid: string; readonly lines: readonly string[] };
type Told = { readonly type: string; readonly [name: string]: unknown };
type Transcript = { readonly lines: string[]; done: number };
/** A call of one of our tools whose result has come: the caller takes it for a fact. */
export type Acknowledged = { readonly tool: string; readonly args: Readonly<Record<string, string>> };
export type Asked = { readonly role: string; readonly [name: string]: unknown };

export class AgentMachine extends Machine {
  readonly notes: string[] = [];
  readonly given: Given[] = [];
  readonly acknowledged: Acknowledged[] = [];
  /** What bare LLMs were asked, in order. */
  readonly asked: (readonly Asked[])[] = [];
  /** How many turns programs have ended. */
  ended = 0;
  readonly #programs = new Set<() => void>();
  /** The last process of each session. */
  readonly #lives = new Map<string, Life>();
  readonly #transcripts = new Map<string, Transcript>();

  protected override startProgram({ env }: Command, events: PipeEvents): PipeChild {
    const born = this.born(undefined, env);
    const end = (ending: Ending) => {
      if (born.life.dead) return;
      born.life.end();
      events.ended(ending);
    };
    const crash = () => end({ kind: "exited", code: 9 });
    this.#programs.add(crash);
    born.life.onEnd(() => this.#programs.delete(crash));
    const actor = new Actor(this, born.life, (message) => {
      const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
      // Where its holder is gone nobody hears it.
      Promise.try(() => events.output(bytes, "stdout")).catch((error) => this.crashedOr(error));
    });
    let heard = "";
    return {
      pid: born.who.pid,
      write: async (bytes) => {
        const lines = (heard + Buffer.from(bytes).toString()).split("\n");
        heard = lines.pop() ?? "";
        for (const line of lines) actor.told(JSON.parse(line));
      },
      closeInput: () => mortalClock(this.clock, born.life).after(ACT_MS, () => end({ kind: "exited", code: 0 })),
      signal: (signal) => {
        end({ kind: "signalled", signal });
        return true;
      },
    };
  }

  /** One of the programs that run crashes, a moment later. */
  crashProgram(which: number): void {
    const crash = [...this.#programs][which % Math.max(1, this.#programs.size)];
    if (crash !== undefined) this.clock.after(0, crash);
  }

  /** The same of the holders. The program lives on until somebody ends it. */
  crashHolder(which: number): void {
    const { life } = [...this.holders][which % Math.max(1, this.holders.size)] ?? {};
    if (life !== undefined) this.clock.after(0, () => life.end());
  }

  /** SA1 */
  transcript(session: string): Transcript {
    const found = this.#transcripts.get(session) ?? { lines: [], done: 0 };
    this.#transcripts.set(session, found);
    return found;
  }

  /** There is never a second process of an agent beside the first. */
  opened(session: string, life: Life): void {
    const before = this.#lives.get(session);
    if (before !== undefined && before !== life && !before.dead) this.failed(new Error(`two processes of ${session}`));
    this.#lives.set(session, life);
  }

  note(what: string, done: () => void): void {
    this.moment("the effect");
    this.notes.push(what);
    done();
    this.moment("the effect is there");
  }

  /** SA2. The door that a daemon has to it. */
  llm(life: Life): HttpClient {
    const clock = mortalClock(this.clock, life);
    return {
      post: async ({ body }, stopped) => {
        const { messages } = JSON.parse(body);
        this.moment("the model is asked");
        this.asked.push(messages);
        const answer = answerTo(messages);
        const went = new Promise<boolean>((answered) => clock.after(ACT_MS, () => answered(true)));
        if (!(await Promise.race([went, stopped.then(() => false)])))
          throw new Fault({ code: "ECANCELED", operation: "post", path: "the model" });
        return { status: 200, header: () => null, text: () => once(answer), stop: () => undefined };
      },
    };
  }
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

/** One call for each line that it was told, one at a time; then it says how many there were. */
function answerTo(messages: readonly Asked[]): string {
  const lines = messages.flatMap(({ role, content }) => (role === "user" ? linesOf(String(content)) : []));
  const called = messages.filter((message) => message["tool_calls"] !== undefined).length;
  const [, name, text] = /^call (\S+) (.*)$/.exec(lines[called] ?? "") ?? [];
  const call = { index: 0, id: `llm-${called}`, function: { name, arguments: text } };
  const delta = name === undefined ? { content: `I did ${called}.` } : { tool_calls: [call] };
  return `data: ${JSON.stringify({ choices: [{ delta, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`;
}

/** What is to be done stands behind markers. */
function linesOf(text: string): string[] {
  return [...text.matchAll(/^.*?>> (.*)$/gm)].map(([, line = ""]) => line);
}

/** One process of the scripted program. */
class Actor {
  readonly #machine: AgentMachine;
  readonly #life: Life;
  readonly #say: (message: object) => void;
  readonly #waiting = new Map<string, (told: Told) => void>();
  #session = "";

  constructor(machine: AgentMachine, life: Life, say: (message: object) => void) {
    this.#machine = machine;
    this.#life = life;
    this.#say = say;
  }

  told(told: Told): void {
    if (told.type === "open") {
      this.#session = String(told["session"]);
      this.#machine.opened(this.#session, this.#life);
    }
    if (told.type === "prompt") void this.#turn(told).catch((error) => this.#machine.crashedOr(error));
    if (told.type === "answer") this.#waiting.get(String(told["request"]))?.(told);
    if (told.type === "result") this.#waiting.get(String(told["call"]))?.(told);
  }

  async #turn(told: Told): Promise<void> {
    const { given } = this.#machine;
    const transcript = this.#machine.transcript(this.#session);
    const lines = linesOf(String(told["text"]));
    given.push({ session: this.#session, uuid: String(told["id"]), lines });
    transcript.lines.push(...lines.filter((line) => !transcript.lines.includes(line)));
    while (transcript.done < transcript.lines.length) {
      await this.#pause();
      await this.#act(transcript, transcript.lines[transcript.done] ?? "");
    }
    await this.#pause();
    this.#machine.ended += 1;
    this.#say({ type: "done", response: `${transcript.done}` });
  }

  async #act(transcript: Transcript, line: string): Promise<void> {
    const [verb, tool = "", ...rest] = line.split(" ");
    const id = `${this.#session.slice(0, 8)}-${transcript.done}`;
    const done = () => {
      transcript.done += 1;
    };
    if (verb === "note") return this.#machine.note(tool, done);
    const words = rest.join(" ");
    if (verb === "ask") {
      const answer = await this.#exchange(id, { type: "ask", request: id, tool, input: { command: words } });
      return this.#machine.note(`${words} ${answer["decision"]}`, done);
    }
    const args = JSON.parse(words);
    const answer = await this.#exchange(id, { type: "call", call: id, tool, args });
    if (answer["ok"] !== true) throw new Error(`${line}: ${JSON.stringify(answer)}`);
    this.#machine.acknowledged.push({ tool, args });
    done();
  }

  #exchange(key: string, message: object): Promise<Told> {
    const { promise, resolve } = Promise.withResolvers<Told>();
    this.#waiting.set(key, (told) => {
      if (!this.#life.dead) resolve(told);
    });
    this.#say(message);
    return promise;
  }

  #pause(): Promise<void> {
    return new Promise((resume) => mortalClock(this.#machine.clock, this.#life).after(ACT_MS, resume));
  }
}
