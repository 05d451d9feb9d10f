// How long a command waits for a recovery: as long as that goes on, and not much longer than that.
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ok } from "../../src/base/result.ts";
import { liveDaemon } from "../../src/cli/client.ts";
import type { Reach } from "../../src/cli/reach.ts";
import { Bus } from "../../src/daemon/bus.ts";
import { RpcServer } from "../../src/daemon/rpc-server.ts";
import type { Clock } from "../../src/world/clock.ts";
import { realClock } from "../../src/world/real-clock.ts";
import { realDisk } from "../../src/world/real-disk.ts";
import { realProcesses } from "../../src/world/real-process.ts";
import { realSockets } from "../../src/world/real-socket.ts";
import { fakeConsole } from "./fake-console.ts";

const TOKEN = "a".repeat(64);
/** A daemon's half a minute passes in a second. */
const FAST = 30;
const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

function fastClock(): Clock {
  const real = realClock();
  return { ...real, elapsed: () => FAST * real.elapsed(), after: (ms, fn) => real.after(ms / FAST, fn) };
}

type Recovery = { readonly stage: string; readonly reading: object | null };

/** A home on which somebody answers that its recovery is as `look` says, and what a command on it gets to see. */
async function recovering(look: (asked: number) => Recovery) {
  const home = mkdtempSync(join(tmpdir(), "hfpt-"));
  ends.push(() => rmSync(home, { recursive: true }));
  mkdirSync(join(home, "run"));
  writeFileSync(join(home, "run/token"), TOKEN);
  let asked = 0;
  const status = async () => {
    asked += 1;
    return ok({ daemon: { pid: 4 }, recovery: { progress: null, ...look(asked) } });
  };
  const server = new RpcServer({ status }, new Bus(), { clock: realClock(), token: TOKEN, version: "1", pid: 4 });
  await server.listen(realSockets(), join(home, "run/daemon.sock"));
  ends.push(() => server.close());
  const console = fakeConsole({ tty: true });
  const doors = { disk: realDisk(), processes: realProcesses(), sockets: realSockets(), clock: fastClock(), console };
  return { home, console, reach: doors as unknown as Reach };
}

test("RS-6 a recovery that goes on is waited for, however long, and it is said how far it is", async () => {
  const began = performance.now();
  const long = () => performance.now() - began > (1.6 * 30_000) / FAST;
  const { home, console, reach } = await recovering((asked) =>
    long()
      ? { stage: "LIVE", reading: null }
      : { stage: "INVENTORYING", reading: { what: "agents", done: asked, total: 1000 } },
  );
  const live = await liveDaemon(reach, home);
  expect(live.ok).toBe(true);
  expect(console.printed.err).toMatch(/recovering: INVENTORYING, reading agents \d+ of 1000 …/);
  if (live.ok) live.value.close();
});

test("RS-6 one that stands still is not waited for: try later", async () => {
  const { home, reach } = await recovering(() => ({
    stage: "INVENTORYING",
    reading: { what: "agents", done: 3, total: 1000 },
  }));
  expect(await liveDaemon(reach, home)).toMatchObject({ ok: false, error: { code: "not-live" } });
});
