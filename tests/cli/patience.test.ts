// How long a command waits for a recovery: as long as the recovery makes progress, and not much longer.
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ok } from "../../src/base/result.ts";
import { liveDaemon } from "../../src/cli/client.ts";
import type { DaemonCommandWorld } from "../../src/cli/daemon-command-world.ts";
import { Bus } from "../../src/daemon/bus.ts";
import { RpcServer } from "../../src/daemon/rpc-server.ts";
import type { Clock } from "../../src/world/clock.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realProcesses } from "../../src/world/real/process.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { fakeConsole } from "./fake-console.ts";

const TOKEN = "a".repeat(64);
/** The longest pause of a command between two status requests. */
const MAX_PAUSE_MS = 100;
const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Time passes only when the command pauses: a busy machine makes no daemon late, and half a minute takes a second. */
function pausingClock(): Clock {
  const real = realClock();
  let elapsed = 0;
  const after: Clock["after"] = (ms, fn) => {
    if (ms > MAX_PAUSE_MS) return () => undefined; // A timeout for late answers.
    return real.after(1, () => {
      elapsed += ms;
      fn();
    });
  };
  return { ...real, elapsed: () => elapsed, after };
}

type Recovery = { readonly stage: string; readonly reading: object | null };

/** A home whose daemon answers that its recovery is as `look` says, and what a command there prints. */
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
  const doors = {
    disk: realDisk(),
    processes: realProcesses(),
    sockets: realSockets(),
    clock: pausingClock(),
    console,
  };
  return { home, console, world: doors as unknown as DaemonCommandWorld };
}

test("a recovery that makes progress is waited for, however long, and its progress is shown", async () => {
  const { home, console, world } = await recovering((asked) =>
    asked > (1.6 * 30_000) / MAX_PAUSE_MS
      ? { stage: "LIVE", reading: null }
      : { stage: "INVENTORYING", reading: { what: "agents", done: asked, total: 1000 } },
  );
  const live = await liveDaemon(world, home);
  expect(live.ok).toBe(true);
  expect(console.printed.err).toMatch(/recovering: INVENTORYING, reading agents \d+ of 1000 …/);
  if (live.ok) live.value.close();
});

test("a recovery that makes no progress is not waited for: try later", async () => {
  const { home, world } = await recovering(() => ({
    stage: "INVENTORYING",
    reading: { what: "agents", done: 3, total: 1000 },
  }));
  expect(await liveDaemon(world, home)).toMatchObject({ ok: false, error: { code: "not-live" } });
});
