// The simulated machine for agents: scripted programs on pipes (sim-actor.ts), a bare LLM (sim-model.ts), and their own
// record of what they received and sent.
import type { Command, Ending, PipeChild, PipeEvents } from "../../src/world/children.ts";
import type { HttpClient } from "../../src/world/http.ts";
import { ACT_MS, type Born, Machine } from "../sim/machine.ts";
import { type Life, mortalClock } from "../sim/mortal.ts";
import type { Chooser } from "../sim/survive.ts";
import { Actor, keyOf, type Told, type Transcript } from "./sim-actor.ts";
import { SimModel } from "./sim-model.ts";

/** The input of a process: the prompt's id, and its command lines. */
export type Given = { readonly session: string; readonly uuid: string; readonly lines: readonly string[] };
/** A call of one of our tools whose result has arrived: the caller relies on it. */
export type Acknowledged = { readonly tool: string; readonly args: Readonly<Record<string, string>> };

export class AgentMachine extends Machine {
  readonly notes: string[] = [];
  /** Sequence number. */
  readonly noted: number[] = [];
  readonly given: Given[] = [];
  readonly acknowledged: Acknowledged[] = [];
  readonly model = new SimModel();
  /** Everything that programs received, as JSON. */
  readonly told: string[] = [];
  /** What each process has said, by its holder's name, and whether its record may have lost the end. */
  readonly said = new Map<string, { readonly keys: string[]; record: "whole" | "harmed" }>();
  /** The number of turns that programs have ended. */
  ended = 0;
  /** The number of programs that have hung. */
  hung = 0;
  /** Whether programs do everything at once, without pauses. */
  eager = false;
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
    let hangs: "not" | "softly" | "hard" = "not";
    const crash = () => end({ kind: "exited", code: 9 });
    this.#programs.add(crash);
    born.life.onEnd(() => this.#programs.delete(crash));
    const hang = (hard: boolean) => {
      this.hung += 1;
      hangs = hard ? "hard" : "softly";
    };
    const say = (message: Told) => {
      // The machine may go down in the middle of what it does.
      if (!born.life.dead) this.#says(env["HOLDFAST_TERMINAL"] ?? "", message, events);
    };
    const actor = new Actor(this, { life: born.life, say, crash, hang });
    let heard = "";
    return {
      pid: born.who.pid,
      write: async (bytes) => {
        const lines = (heard + Buffer.from(bytes).toString()).split("\n");
        heard = lines.pop() ?? "";
        for (const line of lines) actor.told(JSON.parse(line));
      },
      closeInput: () => {
        if (hangs === "not") this.#later(born, () => end({ kind: "exited", code: 0 }));
      },
      signal: (signal) => {
        if (hangs !== "hard" || signal === "SIGKILL") end({ kind: "signalled", signal });
        return true;
      },
    };
  }

  #later({ life }: Born, act: () => void): void {
    mortalClock(this.clock, life).after(ACT_MS, act);
  }

  #says(process: string, message: Told, events: PipeEvents): void {
    const said = this.said.get(process) ?? { keys: [], record: "whole" };
    this.said.set(process, said);
    said.keys.push(keyOf(message));
    const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
    // Without its holder nothing reads it.
    Promise.try(() => events.output(bytes, "stdout")).catch((error) => this.crashedOr(error));
  }

  /** The end of the output may be lost. */
  #harmed(): void {
    for (const said of this.said.values()) said.record = "harmed";
  }

  override powerCut(choose: Chooser): void {
    this.#harmed();
    super.powerCut(choose);
  }

  /** One of the running programs crashes, a moment later. */
  crashProgram(which: number): void {
    const crash = [...this.#programs][which % Math.max(1, this.#programs.size)];
    if (crash !== undefined) this.clock.after(0, crash);
  }

  /** The same for holders. The program lives on until it is killed. */
  crashHolder(which: number): void {
    const { life } = [...this.holders][which % Math.max(1, this.holders.size)] ?? {};
    if (life === undefined) return;
    this.clock.after(0, () => {
      this.#harmed();
      life.end();
    });
  }

  /** SA1 of sim-actor.ts */
  transcript(session: string): Transcript {
    const found = this.#transcripts.get(session) ?? { lines: [], done: 0 };
    this.#transcripts.set(session, found);
    return found;
  }

  /** An agent never has two processes at once. */
  opened(session: string, life: Life): void {
    const before = this.#lives.get(session);
    if (before !== undefined && before !== life && !before.dead) this.failed(new Error(`two processes of ${session}`));
    this.#lives.set(session, life);
  }

  note(what: string, done: () => void): void {
    this.moment("the effect");
    this.notes.push(what);
    this.noted.push(this.clock.now());
    done();
    this.moment("the effect is there");
  }

  llm(life: Life): HttpClient {
    return this.model.door(mortalClock(this.clock, life), (what) => this.moment(what));
  }
}
