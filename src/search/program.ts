// The search program: `bun src/search/main.ts find HOME` answers searches, as JSON lines; `… index` reads one order on
// its input, brings the index up to date, and exits. Both are separate from the daemon, because they read much, and
// from each other, because an answer is urgent and the index is not.
// SP1. One search at a time; the next line is read when this one is answered.
// SP2. Both end when their input ends: with the daemon. The one that answers also ends after a while without requests.
import { isFault } from "../base/fault.ts";
import { decodeLine, LineReader } from "../wire/lines.ts";
import { indexOrderIn, MAX_SEARCH_LINE, parseSearchRequest } from "../wire/search.ts";
import type { Clock } from "../world/clock.ts";
import type { Program } from "../world/program.ts";
import { realClock } from "../world/real/clock.ts";
import { realConsole } from "../world/real/console.ts";
import { realDisk } from "../world/real/disk.ts";
import { giveWay } from "../world/real/give-way.ts";
import { realInput } from "../world/real/input.ts";
import { realProgram } from "../world/real/program.ts";
import { realSelf } from "../world/self.ts";
import { Answering } from "./answering.ts";
import { Indexer } from "./indexer.ts";

/** SP2 */
const IDLE_MS = 60_000;
const IDLE_OVERRIDE = "HOLDFAST_SEARCH_IDLE_MS";
const FAILED = 1;

async function find(program: Program, clock: Clock, home: string): Promise<void> {
  const { out, env } = realConsole();
  const answering = new Answering({ disk: realDisk(), clock, home });
  const idleMs = Number(env(IDLE_OVERRIDE)) || IDLE_MS;
  const idle = () => clock.after(idleMs, () => program.exit(0));
  let cancel = idle();
  for await (const line of lines()) {
    cancel();
    const asked = parseSearchRequest(decodeLine(line) ?? {});
    if (asked !== undefined) {
      const result = asked.request.ok ? answering.answer(asked.n, asked.request.value) : asked.request; // SP1
      await out.write(`${JSON.stringify({ n: asked.n, ...result })}\n`);
    }
    cancel = idle();
  }
  program.exit(0); // SP2
}

async function index(program: Program, clock: Clock): Promise<void> {
  giveWay();
  const { out, err } = realConsole();
  for await (const line of lines()) {
    const order = indexOrderIn(line);
    if (order === undefined) continue;
    const world = { disk: realDisk(), clock, collect: () => realSelf().collect("all") };
    const indexer = new Indexer(world, order, (said) => void out.write(`${JSON.stringify(said)}\n`));
    void indexer.run().then(
      () => program.exit(0),
      async (error: unknown) => {
        await err.write(`${isFault(error) ? `${error.message}. ${error.hint}` : String(error)}\n`);
        program.exit(FAILED);
      },
    );
  }
  program.exit(0); // SP2
}

async function* lines(): AsyncGenerator<string> {
  const reader = new LineReader(MAX_SEARCH_LINE);
  for await (const bytes of realInput()) {
    const found = reader.push(bytes);
    if (found === undefined) return;
    yield* found;
  }
}

function main(program: Program, clock: Clock): Promise<void> {
  const [what, home = ""] = program.args;
  return what === "find" ? find(program, clock, home) : index(program, clock);
}

void main(realProgram(), realClock()); // Not awaited: the bundle is not a module.
