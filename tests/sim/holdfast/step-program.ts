// The program of a workflow's step: leaves a mark that nothing can undo, prints something, and exits; each after a
// moment, so that anything may happen in between. It depends only on its words, its values and its try: `work ok`,
// `work fail`, `work fail-2` (the first two times), `work never`. `think` works once it has its whole input.
import type { Command, Ending, PipeChild, PipeEvents } from "../../../src/world/children.ts";
import { ACT_MS, type Machine } from "../machine.ts";
import { type Life, mortalClock } from "../mortal.ts";
import type { Witness } from "./witness.ts";

type Stage = { readonly machine: Machine; readonly witness: Witness };

export const THINK = "think";

export function startStep({ machine, witness }: Stage, command: Command, events: PipeEvents, holder: Life): PipeChild {
  const { env, argv } = command;
  const born = machine.born(undefined, env);
  const clock = mortalClock(machine.clock, born.life);
  const heard: Uint8Array[] = [];
  const end = (ending: Ending) => {
    if (born.life.dead) return;
    born.life.end();
    holder.act(() => events.ended(ending));
  };
  const print = () => {
    holder.act(() => void events.output(Buffer.from(outputOf(machine, command, Buffer.concat(heard))), "stdout"));
    end({ kind: "exited", code: codeOf(command) });
  };
  const act = () => {
    machine.moment("the effect");
    if (born.life.dead) return;
    witness.acted({ mark: `${env["HOLDFAST_KEY"]}#${env["HOLDFAST_TRY"]}`, attempt: env["HOLDFAST_ATTEMPT"] ?? "" });
    machine.moment("the effect is there");
    clock.after(ACT_MS, print);
  };
  let begun = false;
  const begin = () => {
    if (!begun && !argv.join(" ").includes("work never"))
      clock.after(ACT_MS + ((env["HOLDFAST_KEY"]?.length ?? 0) % 3), act);
    begun = true;
  };
  if (argv[0] !== THINK) begin();
  return {
    pid: born.who.pid,
    write: async (bytes) => void heard.push(new Uint8Array(bytes)),
    closeInput: begin,
    signal: (signal) => {
      end({ kind: "signalled", signal });
      return true;
    },
  };
}

function codeOf({ argv, env }: Command): number {
  const [, word = "ok"] = /\bwork (\S+)/.exec(argv.join(" ")) ?? [];
  const failures = word === "fail" ? Number.POSITIVE_INFINITY : Number(/^fail-(\d+)$/.exec(word)?.[1] ?? 0);
  return Number(env["HOLDFAST_TRY"]) <= failures ? 1 : 0;
}

/** The command that lists the items of a map prints those of its directory. */
function outputOf({ disk }: Machine, { env, cwd }: Command, prompt: Buffer): string {
  if (env["HOLDFAST_STEP"] !== "map.input") return `${env["HOLDFAST_STEP"]}(${env["HOLDFAST_VALUE_1"] ?? prompt})\n`;
  const items: unknown[] = JSON.parse(Buffer.from(disk.peek(`${cwd}/items.json`) ?? []).toString());
  return items.map((item) => `${JSON.stringify(item)}\n`).join("");
}
