// The database program: `bun src/database/main.ts` reads requests as JSON lines on its input and writes the answers to
// its output, in order. It reads the databases in which other programs keep their conversations, and is separate from
// the daemon because such a file may be anything: a query of it may take for ever, and the library is foreign code.
// DB1. A database that cannot be read, or has other tables than we know, is refused; the next one is read all the same.
// DB2. It ends when its input ends, and after a while without requests: the next request starts it again.
import { isFault } from "../base/fault.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { OPENCODE_QUERY } from "../wire/agent-records.ts";
import { type DatabaseRequest, MAX_DATABASE_LINE, parseDatabaseRequest } from "../wire/database.ts";
import { decodeLine, LineReader } from "../wire/lines.ts";
import type { Clock } from "../world/clock.ts";
import type { Program } from "../world/program.ts";
import { realClock } from "../world/real/clock.ts";
import { realConsole } from "../world/real/console.ts";
import { realInput } from "../world/real/input.ts";
import { realProgram } from "../world/real/program.ts";
import { sqliteRows } from "../world/real/sqlite.ts";

/** DB2. An agent at work is looked at every two seconds. */
const IDLE_MS = 20_000;
const TOO_LONG = 1;

function answer({ path, directory, sinceMs }: DatabaseRequest): Result<unknown> {
  try {
    return ok(sqliteRows(path, OPENCODE_QUERY, [directory, sinceMs]));
  } catch (error) {
    if (!isFault(error)) throw error;
    const why = error.cause instanceof Error ? error.cause.message : error.message;
    return refused("database.unreadable", `${path} cannot be read: ${why}`, error.hint); // DB1
  }
}

async function main(program: Program, clock: Clock): Promise<void> {
  const { out } = realConsole();
  const reader = new LineReader(MAX_DATABASE_LINE);
  const idle = () => clock.after(IDLE_MS, () => program.exit(0));
  let cancel = idle(); // DB2
  for await (const bytes of realInput()) {
    cancel();
    const lines = reader.push(bytes);
    if (lines === undefined) return program.exit(TOO_LONG);
    for (const line of lines) {
      const asked = parseDatabaseRequest(decodeLine(line) ?? {});
      if (asked === undefined) continue;
      const result = asked.request.ok ? answer(asked.request.value) : asked.request;
      await out.write(`${JSON.stringify({ n: asked.n, ...result })}\n`);
    }
    cancel = idle();
  }
  program.exit(0);
}

void main(realProgram(), realClock()); // Not awaited, like the others.
