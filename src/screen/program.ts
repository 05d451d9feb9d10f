// The screen program: `bun src/screen/main.ts` reads requests as JSON lines on its input
// and writes the answers to its output, in order. It is separate from the daemon because
// parsing a flood takes a whole processor, and because the emulator is foreign code.
// S1. One request at a time; the next line is read when this one is answered. Clients that ask too much wait.
// S2. It ends when its input ends, and after a while without requests: the next request starts it again.
import { decodeLine, LineReader } from "../wire/lines.ts";
import { MAX_SCREEN_LINE, parseScreenRequest } from "../wire/screen.ts";
import type { Clock } from "../world/clock.ts";
import type { Program } from "../world/program.ts";
import { realClock } from "../world/real/clock.ts";
import { realConsole } from "../world/real/console.ts";
import { realDisk } from "../world/real/disk.ts";
import { realInput } from "../world/real/input.ts";
import { realProgram } from "../world/real/program.ts";
import { answer } from "./answer.ts";
import { LiveScreens } from "./live.ts";

/** S2. Checkpoints come at most every minute; an idle terminal needs none. */
const IDLE_MS = 60_000;
const IDLE_OVERRIDE = "HOLDFAST_SCREEN_IDLE_MS";
const TOO_LONG = 1;

async function main(program: Program, clock: Clock): Promise<void> {
  const { out, env } = realConsole();
  const live = new LiveScreens({ disk: realDisk(), clock });
  const reader = new LineReader(MAX_SCREEN_LINE);
  const idleMs = Number(env(IDLE_OVERRIDE)) || IDLE_MS;
  const idle = () => clock.after(idleMs, () => program.exit(0));
  let cancel = idle(); // S2
  for await (const bytes of realInput()) {
    cancel();
    const lines = reader.push(bytes);
    if (lines === undefined) return program.exit(TOO_LONG);
    for (const line of lines) {
      const asked = parseScreenRequest(decodeLine(line) ?? {});
      if (asked === undefined) continue;
      const result = asked.request.ok ? await answer(live, clock, asked.request.value) : asked.request; // S1
      await out.write(`${JSON.stringify({ n: asked.n, ...result })}\n`);
    }
    cancel = idle();
  }
  program.exit(0);
}

void main(realProgram(), realClock()); // Not awaited: the bundle is not a module.
