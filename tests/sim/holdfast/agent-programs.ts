// The scripted agents of a simulated machine: the actors of agent/sim-actor.ts, and their own record of what they
// received, sent and did.
// AP1. An agent never has two processes at once.
// AP2. A process of an agent is started at most once: the next one has another name.
import type { Command, Ending, PipeChild, PipeEvents } from "../../../src/world/children.ts";
import { Actor, keyOf, type Stage, type Told, type Transcript } from "../../agent/sim-actor.ts";
import type { SimClock } from "../clock.ts";
import { ACT_MS, type Machine } from "../machine.ts";
import { type Life, mortalClock } from "../mortal.ts";
import type { Witness } from "./witness.ts";

/** What a process has said, and whether its record may have lost the end. */
type Said = { readonly keys: string[]; record: "whole" | "harmed" };

export class AgentPrograms implements Stage {
  readonly told: string[] = [];
  readonly given: Stage["given"] = [];
  readonly acknowledged: Stage["acknowledged"] = [];
  readonly clock: SimClock;
  /** By its holder's name. */
  readonly said = new Map<string, Said>();
  /** When each note was made. */
  readonly noted: number[] = [];
  eager = false;
  ended = 0;
  /** The number of programs that have hung. */
  hung = 0;
  readonly #machine: Machine;
  readonly #witness: Witness;
  readonly #transcripts = new Map<string, Transcript>();
  readonly #started = new Set<string>();
  readonly #lives = new Map<string, Life>();
  /** How each running program crashes, by its holder's name. */
  readonly running = new Map<string, () => void>();

  constructor(machine: Machine, witness: Witness) {
    this.#machine = machine;
    this.#witness = witness;
    this.clock = machine.clock;
  }

  failed(error: unknown): void {
    this.#machine.failed(error);
  }

  crashedOr(error: unknown): void {
    this.#machine.crashedOr(error);
  }

  /** AP1 */
  opened(session: string, life: Life): void {
    const before = this.#lives.get(session);
    if (before !== undefined && before !== life && !before.dead) this.failed(new Error(`two processes of ${session}`));
    this.#lives.set(session, life);
  }

  transcript(session: string): Transcript {
    const found = this.#transcripts.get(session) ?? { lines: [], done: 0 };
    this.#transcripts.set(session, found);
    return found;
  }

  note(what: string, done: () => void): void {
    this.#machine.moment("the effect");
    this.#witness.notes.push(what);
    this.noted.push(this.clock.now());
    done();
    this.#machine.moment("the effect is there");
  }

  /** The end of what was said may be lost. */
  harm(): void {
    for (const said of this.said.values()) said.record = "harmed";
  }

  /** One of the running programs crashes, a moment later. */
  crash(which: number): void {
    const crash = [...this.running.values()][which % Math.max(1, this.running.size)];
    if (crash !== undefined) this.clock.after(0, crash);
  }

  start({ env }: Command, events: PipeEvents, holder: Life): PipeChild {
    const born = this.#machine.born(undefined, env);
    const name = env["HOLDFAST_TERMINAL"] ?? "";
    if (this.#started.has(name)) this.failed(new Error(`the process ${name} is started twice`)); // AP2
    this.#started.add(name);
    const end = (ending: Ending) => {
      if (born.life.dead) return;
      born.life.end();
      holder.act(() => events.ended(ending));
    };
    const say = (message: Told) => {
      if (!born.life.dead) void this.#say(name, message, events, holder);
    };
    const crash = () => end({ kind: "exited", code: 9 });
    this.running.set(name, crash);
    born.life.onEnd(() => this.running.delete(name));
    let hangs: "not" | "softly" | "hard" = "not";
    const hang = (hard: boolean) => {
      this.hung += 1;
      hangs = hard ? "hard" : "softly";
    };
    const actor = new Actor(this, { life: born.life, say, crash, hang });
    const leave = () => void mortalClock(this.clock, born.life).after(ACT_MS, () => end({ kind: "exited", code: 0 }));
    let heard = "";
    return {
      pid: born.who.pid,
      write: async (bytes) => {
        const lines = (heard + Buffer.from(bytes).toString()).split("\n");
        heard = lines.pop() ?? "";
        for (const line of lines) actor.told(JSON.parse(line));
      },
      closeInput: () => void (hangs === "not" && leave()),
      signal: (signal) => {
        if (hangs !== "hard" || signal === "SIGKILL") end({ kind: "signalled", signal });
        return true;
      },
    };
  }

  async #say(process: string, message: Told, events: PipeEvents, holder: Life): Promise<void> {
    const said = this.said.get(process) ?? { keys: [], record: "whole" };
    this.said.set(process, said);
    said.keys.push(keyOf(message));
    if (holder.dead) return; // Nothing reads it.
    try {
      await events.output(Buffer.from(`${JSON.stringify(message)}\n`), "stdout");
    } catch (error) {
      this.crashedOr(error);
    }
  }
}
