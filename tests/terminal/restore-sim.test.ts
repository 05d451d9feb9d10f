// A restoration on a disk that forgets unsynced data: a power cut at every call, and then another life.
import { expect, test } from "bun:test";
import type { TerminalHolders } from "../../src/daemon/terminal/holders.ts";
import { Restorer } from "../../src/daemon/terminal/restorer.ts";
import { TERMINAL_FOLDING, TerminalStore } from "../../src/daemon/terminal/store.ts";
import { claim } from "../../src/holder/records.ts";
import { setAsideBefore } from "../../src/home/held/generations.ts";
import { readHeld } from "../../src/home/held/held-state.ts";
import { writeTerminalSpec } from "../../src/home/held/holder-files.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { readWhole } from "../../src/log/file/file.ts";
import { parseClaim } from "../../src/wire/holder/json.ts";
import { foldNow } from "../daemon/border.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import { nothing } from "../sim/survive.ts";
import { type SimWorld, simWorld } from "../sim/world.ts";

const HOME = "/h";
const ID = "0123456789ab4def8123456789abcdef";
const DIRECTORY = `${HOME}/terminals/${ID}`;
const TAPE = { segmentBytes: 4096, maxBytes: 65_536 };

/** The state a boot finds, after `boots` earlier ones. */
function worldAt(disk: SimDisk, boots: number): SimWorld {
  const world = simWorld(1, disk);
  for (let boot = 0; boot < boots; boot += 1) world.processes.reboot();
  return world;
}

async function open(world: SimWorld) {
  const log = await EventLog.open({ ...world, home: HOME }, { segmentBytes: 64 << 10, ballastBytes: 0 });
  const store = new TerminalStore(log, world.clock, {
    publish: () => undefined,
    perform: () => undefined,
    onBug: (error) => {
      throw error;
    },
  });
  expect(foldNow(log, store, TERMINAL_FOLDING)).toEqual([]);
  return { log, store };
}

/**
 * Does what the effects do for a starting terminal, up to the claim of its holder. Returns false if there already was
 * one.
 */
async function start(world: SimWorld, store: TerminalStore): Promise<boolean> {
  const terminal = store.terminals.get(ID);
  if (terminal === undefined) throw new Error("it was created");
  const { generation, recipe } = terminal;
  const place = { ...world, home: HOME };
  await setAsideBefore({ ...place, directory: DIRECTORY }, generation);
  if (readHeld({ ...place, directory: DIRECTORY }, generation).kind !== "unclaimed") return false;
  await writeTerminalSpec(place, { id: ID, generation, recipe, token: "t", tape: TAPE });
  return claim({ ...world, directory: DIRECTORY }, generation);
}

async function firstLife(): Promise<SimDisk> {
  const disk = new SimDisk();
  const world = worldAt(disk, 0);
  const { log, store } = await open(world);
  const recipe = { argv: ["sh"], cwd: "/", env: {}, size: { cols: 80, rows: 24 } };
  await store.submit({ kind: "create", id: ID, name: "one", lane: "main", recipe });
  expect(await start(world, store)).toBe(true);
  const child = { pid: 7, startTime: 70, bootId: world.processes.bootId() };
  await store.submit({ kind: "started", id: ID, child, holder: world.processes.pid });
  await log.close();
  return disk.powerCut(nothing);
}

function restorerOf(world: SimWorld, store: TerminalStore): Restorer {
  const holders = { settled: async () => undefined } as unknown as TerminalHolders;
  const place = { ...world, home: HOME };
  return new Restorer({
    place,
    store,
    holders,
    shell: "/bin/sh",
    rules: [],
    known: async () => ({ evidence: undefined, doubt: null }),
  });
}

type Promised = { readonly generation: number; readonly claimed: boolean };

test("a power cut at any call of a restoration: decisions hold, and each generation is started at most once", async () => {
  const survived = await everyCrash<Promised>({
    start: await firstLife(),
    nothingPromised: { generation: 1, claimed: false },
    live: async (disk, promised) => {
      const world = worldAt(disk, 1);
      const { log, store } = await open(world);
      const terminal = store.terminals.get(ID);
      if (terminal === undefined) throw new Error("it was created");
      expect(readHeld({ ...world, directory: DIRECTORY }, 1)).toMatchObject({ kind: "lost" });
      const wish = { reason: "the machine went down", found: true, way: "plan", asked: false } as const;
      await restorerOf(world, store).restore(terminal, wish);
      promised({ generation: 2, claimed: false });
      expect(await start(world, store)).toBe(true);
      promised({ generation: 2, claimed: true });
      await log.close();
    },
    check: async (disk, { generation, claimed }) => {
      const world = worldAt(disk, 2);
      const { log, store } = await open(world);
      const now = store.terminals.get(ID)?.generation ?? 0;
      expect(now).toBeGreaterThanOrEqual(generation);
      if (claimed) expect(await start(world, store)).toBe(false);
      else if (now === 2) await start(world, store);
      const kept = readWhole(disk, `${DIRECTORY}/${now === 2 ? "claim-1" : "claim"}.json`);
      expect(kept === undefined ? undefined : parseClaim(kept)?.generation).toBe(1);
      await log.close();
    },
  });
  expect(survived).toBeGreaterThan(100);
});
