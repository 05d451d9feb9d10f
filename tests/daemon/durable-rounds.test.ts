// What a heartbeat's round does for terminals that are still being written: nothing (U6 of session-store.ts).
import { expect, test } from "bun:test";
import { Bus } from "../../src/daemon/bus.ts";
import { openParts } from "../../src/daemon/daemon.ts";
import type { PartPorts } from "../../src/daemon/part.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { loadConfig } from "../../src/wire/files/config.ts";
import type { Children } from "../../src/world/children.ts";
import { WorkflowMachine } from "../workflow/sim-machine.ts";

test("U6 a round during the write of a terminal starts nothing for it", async () => {
  const machine = new WorkflowMachine(1);
  const { clock } = machine;
  const started: string[] = [];
  const doors = machine.doors(machine.born());
  const children: Partial<Children> = {
    detached: ({ argv }) => {
      started.push(argv.at(-1) ?? "");
      return machine.born().who.pid; // It lives, and is never replaced.
    },
  };
  const self = { environment: () => ({}), command: () => ["bun", "holder"] as const, holder: async () => undefined };
  const config = loadConfig({ env: () => undefined, absolute: (path) => path, read: () => undefined });
  const opening = EventLog.open(doors, config.ok ? config.value.config.log : {});
  const partsOn = (log: EventLog) => {
    const ports = {
      world: { ...doors, children, self, watch: { directory: () => undefined } },
      bus: new Bus(),
      config: config.ok ? config.value.config : undefined,
      safeMode: { isActive: () => false },
      say: () => undefined,
      onBug: (error: unknown) => machine.failed(error),
      log,
      isLive: () => true,
    } as unknown as PartPorts;
    return openParts(ports, {
      report: async () => undefined,
      progressed: () => undefined,
      listen: async () => undefined,
    });
  };
  /** Advances the clock, with regular rounds. */
  const pass = async (holds: () => boolean, round: () => void = () => undefined) => {
    for (let ms = 0; ms < 20_000 && !holds(); ms += 10) {
      if (ms % 500 === 0) round();
      clock.advance(10);
      await clock.settle();
    }
  };
  let open = false;
  void opening.finally(() => {
    open = true;
  });
  await pass(() => open);
  const { store, holders } = partsOn(await opening).terminal;
  const recipe = { argv: ["sh"], cwd: "/", env: {}, size: { cols: 80, rows: 24 } };
  const create = (id: string) => store.submit({ kind: "create", id, name: id, lane: "main", recipe });
  void create("a");
  await pass(() => started.length > 0); // So that its syncs are known to be slow.
  const sync = Promise.withResolvers<void>();
  machine.disk.gate = ({ path }) => (path.endsWith(".wal") ? sync.promise : Promise.resolve());
  void create("b");
  await clock.settle();
  expect(store.terminals.get("b")?.state.kind).toBe("starting");
  let ms = 0;
  await pass(
    () => ++ms > 500,
    () => holders.round(),
  );
  expect(started.filter((directory) => directory.endsWith("/b"))).toEqual([]);
  sync.resolve();
  await pass(() => started.some((directory) => directory.endsWith("/b")));
  expect(started.filter((directory) => directory.endsWith("/b"))).toHaveLength(1);
  expect(machine.trouble).toBeUndefined();
});
