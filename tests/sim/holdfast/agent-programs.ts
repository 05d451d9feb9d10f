// The scripted agents of a simulated machine: the actors of agent/sim-actor.ts, and what they keep outside of it.
// AP1. An agent never has two processes at once.
import type { Command, Ending, PipeChild, PipeEvents } from "../../../src/world/children.ts";
import { Actor, type Stage, type Told, type Transcript } from "../../agent/sim-actor.ts";
import type { SimClock } from "../clock.ts";
import { ACT_MS, type Machine } from "../machine.ts";
import { type Life, mortalClock } from "../mortal.ts";
import type { Witness } from "./witness.ts";

export class AgentPrograms implements Stage {
  readonly told: string[] = [];
  readonly given: Stage["given"] = [];
  readonly acknowledged: Stage["acknowledged"] = [];
  readonly eager = false;
  readonly clock: SimClock;
  ended = 0;
  readonly #machine: Machine;
  readonly #witness: Witness;
  readonly #transcripts = new Map<string, Transcript>();
  readonly #lives = new Map<string, Life>();

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
    done();
    this.#machine.moment("the effect is there");
  }

  start({ env }: Command, events: PipeEvents, holder: Life): PipeChild {
    const born = this.#machine.born(undefined, env);
    const end = (ending: Ending) => {
      if (born.life.dead) return;
      born.life.end();
      holder.act(() => events.ended(ending));
    };
    const say = (message: Told) => {
      if (!born.life.dead) void this.#say(message, events, holder);
    };
    const crash = () => end({ kind: "exited", code: 9 });
    const actor = new Actor(this, { life: born.life, say, crash, hang: () => undefined });
    let heard = "";
    return {
      pid: born.who.pid,
      write: async (bytes) => {
        const lines = (heard + Buffer.from(bytes).toString()).split("\n");
        heard = lines.pop() ?? "";
        for (const line of lines) actor.told(JSON.parse(line));
      },
      closeInput: () => void mortalClock(this.clock, born.life).after(ACT_MS, () => end({ kind: "exited", code: 0 })),
      signal: (signal) => {
        end({ kind: "signalled", signal });
        return true;
      },
    };
  }

  async #say(message: Told, events: PipeEvents, holder: Life): Promise<void> {
    if (holder.dead) return; // Nothing reads it.
    try {
      await events.output(Buffer.from(`${JSON.stringify(message)}\n`), "stdout");
    } catch (error) {
      this.crashedOr(error);
    }
  }
}
