import { expect, test } from "bun:test";
import { SimClock } from "../../../tests/sim/clock.ts";
import { SimDisk } from "../../../tests/sim/disk.ts";
import type { Terminal, TerminalState } from "../../core/terminal/terminal.ts";
import { realProcesses } from "../../world/real/process.ts";
import { stopOrphans } from "./orphan-stop.ts";

const AT = "2026-01-01T00:00:00.000Z";

function terminal(id: string, state: TerminalState): Terminal {
  const recipe = { argv: ["sh"], cwd: "/tmp", env: {}, size: { cols: 80, rows: 24 } };
  const fixed = { id, name: id, lane: "default", recipe, generation: 1, createdAt: AT, removed: false };
  const restoring = { unset: [], policy: "auto", restored: undefined, restorations: [], rollingBack: false } as const;
  return { ...fixed, ...restoring, state, signal: undefined };
}

/** How often the processes of the machine are read. */
async function looks(...terminals: readonly Terminal[]): Promise<number> {
  let count = 0;
  const list = () => {
    count += 1;
    return [];
  };
  const place = { disk: new SimDisk(), clock: new SimClock(), home: "/h", processes: { ...realProcesses(), list } };
  expect(await stopOrphans(place, terminals)).toEqual([]);
  return count;
}

test("OS3 the processes of the machine are read only if a terminal could have left some", async () => {
  const ended = terminal("t1", { kind: "ended", code: 0, signal: null, at: AT });
  const lost = terminal("t2", { kind: "uncertain", reason: "its holder is gone", child: undefined });
  expect([await looks(), await looks(ended), await looks(ended, lost)]).toEqual([0, 0, 1]);
});
