// `down --kill` in a home with hundreds of terminals and runs, against a daemon that is played in this process.
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ok } from "../../src/base/result.ts";
import type { DaemonCommandWorld } from "../../src/cli/daemon-command-world.ts";
import { interruptAll } from "../../src/cli/system/down.ts";
import { endTerminals } from "../../src/cli/terminal/end.ts";
import { Bus } from "../../src/daemon/bus.ts";
import { type Handlers, RpcServer } from "../../src/daemon/rpc-server.ts";
import { dial } from "../../src/home/dial.ts";
import { VERSION } from "../../src/wire/version.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realProcesses } from "../../src/world/real/process.ts";
import { realRandom } from "../../src/world/real/random.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { fakeConsole } from "./fake-console.ts";

const TOKEN = "a".repeat(64);
const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const IDS = Array.from({ length: 600 }, (_, at) => `${at}`.padStart(8, "0"));

/** `dialled`: how often the daemon was. */
async function homeWith(handlers: (home: string) => object) {
  const home = mkdtempSync(join(tmpdir(), "hfdm-"));
  ends.push(() => rmSync(home, { recursive: true }));
  mkdirSync(join(home, "run"));
  writeFileSync(join(home, "run/token"), TOKEN);
  const status = async () => ok({ daemon: { pid: 4 }, recovery: { stage: "LIVE", progress: null, reading: null } });
  const all = { status, ...handlers(home) } as unknown as Handlers;
  const clock = realClock();
  const server = new RpcServer(all, new Bus(), { clock, token: TOKEN, version: VERSION, pid: 4 });
  await server.listen(realSockets(), join(home, "run/daemon.sock"));
  ends.push(() => server.close());
  const seen = { dialled: 0 };
  const connect: ReturnType<typeof realSockets>["connect"] = (path, events) => {
    if (path.endsWith("daemon.sock")) seen.dialled += 1;
    return realSockets().connect(path, events);
  };
  const sockets = { ...realSockets(), connect };
  const doors = {
    disk: realDisk(),
    random: realRandom(),
    processes: realProcesses(),
    sockets,
    clock,
    console: fakeConsole({ tty: false }),
  };
  return { home, seen, world: doors as unknown as DaemonCommandWorld };
}

test("EN3 600 terminals are ended over a connection for each 250 of them, and each end is reported", async () => {
  const signalled: string[] = [];
  const { home, seen, world } = await homeWith((path) => ({
    "terminal.signal": async ({ id, signal }: { id: string; signal: string }) => {
      signalled.push(`${id} ${signal}`);
      const directory = join(path, "terminals", id);
      mkdirSync(directory, { recursive: true });
      const exit = {
        v: 1,
        generation: 1,
        code: 0,
        signal: null,
        bootId: "b",
        offset: 0,
        at: "2026-01-01T00:00:00.000Z",
      };
      writeFileSync(join(directory, "exit.json"), JSON.stringify(exit));
      return ok({});
    },
  }));
  const terminals = IDS.map((id) => ({ id, name: id, recipe: { argv: ["sleep", "9"] } }));
  const ended = await endTerminals(world, home, terminals as unknown as Parameters<typeof endTerminals>[2]);
  expect(ended.filter((end) => end.ok && end.value.kind === "ended").length).toBe(IDS.length);
  expect(signalled.sort()).toEqual(IDS.map((id) => `${id} SIGTERM`));
  expect(seen.dialled).toBe(3);
});

test("DN4 600 runs are interrupted, and a daemon that does not say what runs is not taken for one without runs", async () => {
  const running = new Set(IDS);
  let isOff = false;
  const { home, world } = await homeWith(() => ({
    "workflow.list": async () =>
      isOff
        ? { ok: false, error: { code: "x", message: "", hint: "" } }
        : ok([...running].map((id) => ({ id, state: "running" }))),
    "workflow.interrupt": async ({ id }: { id: string }) => ok(running.delete(id)),
  }));
  const client = async () => {
    const line = await dial(world, home);
    if (!line.ok || line.value === undefined) throw new Error("no daemon");
    return line.value;
  };
  expect(await interruptAll(world, await client())).toEqual(ok(undefined));
  expect(running.size).toBe(0);
  isOff = true;
  expect(await interruptAll(world, await client())).toMatchObject({ ok: false });
});
