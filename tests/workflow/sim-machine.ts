// The simulated machine for workflows: its programs leave a mark that nothing can undo.
import type { Command, Ending, PipeChild, PipeEvents } from "../../src/world/children.ts";
import { ACT_MS, Machine } from "../sim/machine.ts";
import { mortalClock } from "../sim/mortal.ts";

/** What a program did: the step, item and iteration, the try and the attempt. */
export type Mark = { readonly mark: string; readonly attempt: string };

export class WorkflowMachine extends Machine {
  readonly marks: Mark[] = [];
  /** The output of a program that lists the items of a map, by its directory. */
  readonly lists = new Map<string, string>();

  /** Leaves its mark, prints something, and exits; each after a moment, so that anything may happen in between. */
  protected override startProgram(command: Command, events: PipeEvents): PipeChild {
    const { env } = command;
    const born = this.born(undefined, env);
    const clock = mortalClock(this.clock, born.life);
    const heard: Uint8Array[] = [];
    const end = (ending: Ending) => {
      if (born.life.dead) return;
      born.life.end();
      events.ended(ending);
    };
    const act = () => {
      const done = doingOf(command, Buffer.concat(heard).toString(), this.lists);
      this.moment("the effect");
      if (born.life.dead) return;
      this.marks.push({ mark: done.mark, attempt: env["HOLDFAST_ATTEMPT"] ?? "" });
      this.moment("the effect is there");
      clock.after(ACT_MS, () => {
        void events.output(Buffer.from(done.output), "stdout");
        end({ kind: "exited", code: done.code });
      });
    };
    let begun = false;
    const acts = () => {
      if (!begun) clock.after(ACT_MS + ((env["HOLDFAST_KEY"]?.length ?? 0) % 3), act);
      begun = true; // It does not exit twice.
    };
    if (!isAgent(command)) acts();
    return {
      pid: born.who.pid,
      write: async (bytes) => void heard.push(new Uint8Array(bytes)),
      closeInput: () => {
        if (isAgent(command)) acts(); // It has its prompt now, and all of it.
      },
      signal: (signal) => {
        end({ kind: "signalled", signal });
        return true;
      },
    };
  }
}

function isAgent({ argv }: Command): boolean {
  return argv[0] === "agent";
}

/**
 * A program depends only on its arguments, its values and its try: `work ok`, `work fail`, `work fail-2` (the first two
 * times).
 */
function doingOf({ argv, env, cwd }: Command, prompt: string, lists: ReadonlyMap<string, string>) {
  const [, word = "ok"] = /\bwork (\S+)/.exec(argv.join(" ")) ?? [];
  const failures = word === "fail" ? Number.POSITIVE_INFINITY : Number(/^fail-(\d+)$/.exec(word)?.[1] ?? 0);
  const said = `${env["HOLDFAST_STEP"]}(${env["HOLDFAST_VALUE_1"] ?? prompt})\n`;
  return {
    mark: `${env["HOLDFAST_KEY"]}#${env["HOLDFAST_TRY"]}`,
    code: Number(env["HOLDFAST_TRY"]) <= failures ? 1 : 0,
    output: env["HOLDFAST_STEP"] === "map.input" ? (lists.get(cwd) ?? "") : said,
  };
}
