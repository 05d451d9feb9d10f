// The screen program on a simulated machine: the real answers (src/screen/answer.ts) from the tapes on its disk.
// As the real one, it ends with its starter.

import { answer } from "../../../src/screen/answer.ts";
import { LiveScreens } from "../../../src/screen/live.ts";
import { decodeLine, LineReader } from "../../../src/wire/lines.ts";
import { MAX_SCREEN_LINE, parseScreenRequest } from "../../../src/wire/screen.ts";
import type { PipeChild, PipeEvents } from "../../../src/world/children.ts";
import { ACT_MS, type Machine } from "../machine.ts";
import { type Life, mortalClock } from "../mortal.ts";

export function startScreens(machine: Machine, events: PipeEvents, starter: Life): PipeChild {
  const born = machine.born();
  const { disk, clock } = machine.doors(born);
  const live = new LiveScreens({ disk, clock });
  const reader = new LineReader(MAX_SCREEN_LINE);
  const end = (code: number) => {
    if (born.life.dead) return;
    born.life.end();
    starter.act(() => events.ended({ kind: "exited", code }));
  };
  const answerTo = async (line: string): Promise<void> => {
    const asked = parseScreenRequest(decodeLine(line) ?? {});
    if (asked === undefined) return;
    const result = asked.request.ok ? await answer(live, clock, asked.request.value) : asked.request;
    const said = Buffer.from(`${JSON.stringify({ n: asked.n, ...result })}\n`);
    if (!born.life.dead) starter.act(() => void events.output(said, "stdout"));
  };
  let work = Promise.resolve();
  starter.onEnd(() => end(0));
  return {
    pid: born.who.pid,
    write: async (bytes) => {
      for (const line of reader.push(bytes) ?? []) work = work.then(() => answerTo(line));
      work.catch((error) => machine.crashedOr(error));
    },
    closeInput: () => void mortalClock(machine.clock, born.life).after(ACT_MS, () => end(0)),
    signal: () => {
      end(1);
      return true;
    },
  };
}
