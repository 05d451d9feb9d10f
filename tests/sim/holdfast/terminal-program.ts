// The program on a simulated terminal: prints a prompt, answers every line with its number, and ends with `exit N`.
// TM1. It ends by a hangup with its holder, as the kernel does it for the session of a terminal.
import type { Command, Ending, PtyChild, PtyEvents } from "../../../src/world/children.ts";
import { ACT_MS, HOME, type Machine } from "../machine.ts";
import { type Life, mortalClock } from "../mortal.ts";
import type { Witness } from "./witness.ts";

const ENDING_SIGNALS = ["SIGHUP", "SIGTERM", "SIGKILL", "SIGINT", "SIGQUIT"];

type Stage = { readonly machine: Machine; readonly witness: Witness };

export function startOnTerminal(
  { machine, witness }: Stage,
  { env }: Command,
  events: PtyEvents,
  holder: Life,
): PtyChild {
  const id = env["HOLDFAST_TERMINAL"] ?? "";
  const end = (ending: Ending) => {
    if (born.life.dead) return;
    born.life.end();
    if (!holder.dead) holder.act(() => events.ended(ending));
  };
  const signal = (name: string) => {
    if (ENDING_SIGNALS.includes(name)) end({ kind: "signalled", signal: name });
    return true;
  };
  const born = machine.born(() => signal("SIGHUP"), env);
  const clock = mortalClock(machine.clock, born.life);
  const say = (text: string) => clock.after(ACT_MS, () => holder.act(() => events.output(Buffer.from(text))));
  witness.started(id, generationOf(machine, id), born);
  holder.onEnd(() => signal("SIGHUP")); // TM1
  say("$ ");
  let typed = "";
  let count = 0;
  const read = (line: string) => {
    const [verb, code] = line.split(" ");
    if (line === "") return;
    witness.read(line);
    count += 1;
    say(`${count} ${line}\r\n$ `);
    if (verb === "exit") clock.after(2 * ACT_MS, () => end({ kind: "exited", code: Number(code) }));
  };
  return {
    pid: born.who.pid,
    readsKeys: true,
    waiting: 0,
    resize: () => undefined,
    signal,
    write: (bytes) => {
      const lines = (typed + Buffer.from(bytes).toString()).split(/[\r\n]/);
      typed = lines.pop() ?? "";
      for (const line of lines) read(line);
    },
  };
}

/** As its holder was told. */
function generationOf({ disk }: Machine, id: string): number {
  const spec = disk.peek(`${HOME}/terminals/${id}/holder.json`) ?? Buffer.from("{}");
  return Number(JSON.parse(Buffer.from(spec).toString()).generation);
}
