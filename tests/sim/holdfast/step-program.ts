// The program of a workflow's step: leaves a mark that nothing can undo, prints something, and exits; each after a
// moment, so that anything may happen in between.
import type { Command, Ending, PipeChild, PipeEvents } from "../../../src/world/children.ts";
import { ACT_MS, type Machine } from "../machine.ts";
import { type Life, mortalClock } from "../mortal.ts";
import type { Witness } from "./witness.ts";

type Stage = { readonly machine: Machine; readonly witness: Witness };

export function startStep({ machine, witness }: Stage, { env }: Command, events: PipeEvents, holder: Life): PipeChild {
  const born = machine.born(undefined, env);
  const clock = mortalClock(machine.clock, born.life);
  const end = (ending: Ending) => {
    if (born.life.dead) return;
    born.life.end();
    holder.act(() => events.ended(ending));
  };
  const print = () => {
    holder.act(() => void events.output(Buffer.from(`${env["HOLDFAST_STEP"]}\n`), "stdout"));
    end({ kind: "exited", code: 0 });
  };
  clock.after(ACT_MS, () => {
    machine.moment("the effect");
    if (born.life.dead) return;
    witness.acted({ mark: `${env["HOLDFAST_KEY"]}#${env["HOLDFAST_TRY"]}`, attempt: env["HOLDFAST_ATTEMPT"] ?? "" });
    machine.moment("the effect is there");
    clock.after(ACT_MS, print);
  });
  return {
    pid: born.who.pid,
    write: async () => undefined,
    closeInput: () => undefined,
    signal: (signal) => {
      end({ kind: "signalled", signal });
      return true;
    },
  };
}
