// A broadcast that is too much for one transaction: through a crash at every call of the disk, and in a real daemon.
import { expect, test } from "bun:test";
import { callOf } from "../../src/core/agent/tools.ts";
import { AgentCheckpoints } from "../../src/daemon/agent/checkpoints.ts";
import { AgentStore, agentFolding } from "../../src/daemon/agent/store.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { foldNow } from "../daemon/border.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import { simWorld } from "../sim/world.ts";
import { until } from "../until.ts";
import { agentHomes } from "./agent-home.ts";
import { AROUND, planFor } from "./house.ts";

const TEXT = "x".repeat(80_000);
const [ROOT, SENDER, ...OTHERS] = ["a", "b", "c", "d", "e", "f"].map((letter) => letter.repeat(32)) as [
  string,
  string,
  ...string[],
];

class Life {
  readonly log: EventLog;
  readonly store: AgentStore;

  static async begin(disk: SimDisk): Promise<Life> {
    const world = { ...simWorld(1, disk), home: "/h" };
    const log = await EventLog.open(world, { segmentBytes: 2 << 20, ballastBytes: 0 });
    return new Life(world, log);
  }

  private constructor(world: ReturnType<typeof simWorld> & { home: string }, log: EventLog) {
    const nothing = () => undefined;
    this.log = log;
    this.store = new AgentStore(log, world.clock, () => AROUND, { publish: nothing, perform: nothing, onBug });
    const checkpoints = new AgentCheckpoints(world, { isOff: () => true, say: nothing });
    expect(foldNow(log, this.store, agentFolding(checkpoints))).toEqual([]);
  }

  async create(id: string, parent?: string): Promise<void> {
    const wish = { id, name: id.slice(0, 4), parent, instructions: "", plan: planFor("scripted"), settings: {} };
    await this.store.submit({ kind: "create", ...wish });
  }

  broadcast() {
    return this.store.submit({ kind: "call", id: SENDER, call: "c1", tool: "broadcast", args: { text: TEXT } });
  }

  async passAll(): Promise<void> {
    while ((this.store.settledAgent(SENDER)?.broadcasts.length ?? 0) > 0) {
      const done = await this.store.submit({ kind: "pass-on", id: SENDER });
      expect(done.ok).toBe(true);
    }
  }

  /** How often each of the others got it. */
  got(): number[] {
    return OTHERS.map(
      (id) => this.store.settledAgent(id)?.inbox.filter(({ payload }) => payload === TEXT).length ?? -1,
    );
  }
}

function onBug(error: unknown): never {
  throw error;
}

test("an answered broadcast reaches every sibling once, whenever the power goes; one that was not answered can be repeated", async () => {
  const start = new SimDisk();
  const first = await Life.begin(start);
  await first.create(ROOT);
  for (const id of [SENDER, ...OTHERS]) await first.create(id, ROOT);
  await first.log.close();
  const survived = await everyCrash<boolean>({
    start,
    nothingPromised: false,
    takesLong: true,
    randomEndings: 3,
    live: async (disk, promise) => {
      const life = await Life.begin(disk);
      promise((await life.broadcast()).ok);
      await life.passAll();
      expect(life.got()).toEqual(OTHERS.map(() => 1));
      await life.log.close();
    },
    check: async (disk, answered) => {
      const life = await Life.begin(disk);
      const sender = life.store.settledAgent(SENDER);
      if (answered) expect(sender && callOf(sender, "c1")?.ok).toBe(true);
      else await life.broadcast(); // As the shim does.
      await life.passAll();
      expect(life.got()).toEqual(OTHERS.map(() => 1));
      await life.log.close();
    },
  });
  expect(survived).toBeGreaterThan(20);
});

const home = agentHomes();

test("a long text reaches all siblings in a real daemon, also those that the next daemon has to pass it on to", async () => {
  const place = home();
  const daemon = await place.live();
  const root = await place.agent("root");
  const [sender = "", ...others] = await Promise.all(
    Array.from({ length: 6 }, (_, at) => place.agent(`kid${at}`, { parent: root })),
  );
  await place.say(sender, `>> call broadcast ${JSON.stringify({ text: TEXT })}`);
  await until(
    "it is answered",
    () => place.events(sender).includes("tool.answered"),
    () => place.events(sender),
  );
  daemon.process.kill("SIGKILL");
  await daemon.process.exited;
  await place.live();
  for (const id of others) await place.rests(id, 1);
  for (const id of others) expect(place.text(`agents/${id}/events.jsonl`).split('"kind":"broadcast"')).toHaveLength(2);
});
