// A simulated machine on which some programs are hostile: they print what they are given, and stay until they are
// ended. One of them is an agent, the other a step of a workflow.
import type { Command, Ending, PipeChild, PipeEvents } from "../../../../src/world/children.ts";
import { HoldfastMachine, SETTINGS } from "../../holdfast/machine.ts";
import { ACT_MS } from "../../machine.ts";
import { type Life, mortalClock } from "../../mortal.ts";

export const HOSTILE = "hostile";
/** One that prints and ends. */
const TURN = "turn";

export class HostileMachine extends HoldfastMachine {
  /** What they print, and how often one has. */
  readonly output: Uint8Array[] = [];
  printed = 0;

  constructor(seed: number) {
    super(
      seed,
      `${SETTINGS}[agents]\nsandbox = false\n[provider.turns]\nkind = "command"\ncommand = ["${HOSTILE}", "${TURN}"]\nresume = ["${HOSTILE}", "${TURN}"]\n`,
    );
  }

  protected override startProgram(command: Command, events: PipeEvents, starter: Life): PipeChild {
    if (!command.argv.join(" ").includes(HOSTILE)) return super.startProgram(command, events, starter);
    starter.mustLive();
    const born = this.born(undefined, command.env);
    const isShort = command.env["HOLDFAST_ATTEMPT"] !== undefined || command.argv.includes(TURN);
    const clock = mortalClock(this.clock, born.life);
    const end = (ending: Ending) => {
      if (born.life.dead) return;
      born.life.end();
      if (!starter.dead) starter.act(() => events.ended(ending));
    };
    const print = () => {
      if (!starter.dead) starter.act(() => void events.output(Buffer.concat(this.output), "stdout"));
      this.printed += 1;
      if (isShort) clock.after(ACT_MS, () => end({ kind: "exited", code: 0 }));
    };
    clock.after(ACT_MS, print);
    return {
      pid: born.who.pid,
      write: async () => undefined,
      closeInput: () => void (!isShort && end({ kind: "exited", code: 0 })),
      signal: (signal) => {
        end({ kind: "signalled", signal });
        return true;
      },
    };
  }
}
