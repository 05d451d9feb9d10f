// A decision over several sessions: one transaction, rolled back as one, and the effects of every session it touched
// are performed.
import { expect, test } from "bun:test";
import { type Agent, type AgentRecord, agentSession, isEvictable, needOf } from "../../src/core/agent/agent.ts";
import { applyAgent } from "../../src/core/agent/apply.ts";
import type { AgentCommand, AgentEffect } from "../../src/core/agent/commands.ts";
import { decideAgent } from "../../src/core/agent/decide.ts";
import { agentEffectsOf } from "../../src/core/agent/effects.ts";
import type { AgentEvent } from "../../src/core/agent/events.ts";
import { Tree } from "../../src/core/agent/tree.ts";
import { SessionStore } from "../../src/daemon/session-store.ts";
import { EventLog } from "../../src/log/event-log.ts";
import type { LogOptions } from "../../src/log/log-options.ts";
import { agentEventOf } from "../../src/wire/stored/agent.ts";
import { AROUND, planFor } from "../agent/house.ts";
import { expectSlotsCounted } from "../agent/slot-scan.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { nothing } from "../sim/survive.ts";

type Agents = { state: AgentRecord; command: AgentCommand; event: AgentEvent; effect: AgentEffect };

const SMALL: Partial<LogOptions> = { segmentBytes: 64 << 10, ballastBytes: 0 };

class Site {
  readonly published: string[] = [];
  readonly performed: string[] = [];
  readonly bugs: unknown[] = [];
  readonly tree = new Tree();
  readonly clock: SimClock;
  readonly disk: SimDisk;
  readonly log: EventLog;
  readonly store: SessionStore<Agents>;

  private constructor(disk: SimDisk, clock: SimClock, log: EventLog) {
    this.disk = disk;
    this.clock = clock;
    this.log = log;
    const { tree } = this;
    this.store = new SessionStore<Agents>(
      {
        session: (_, { id }) => agentSession(id),
        decide: (agentRecords, command, at) => decideAgent({ agentRecords, tree, ...AROUND }, command, at),
        apply: applyAgent,
        effectsOf: agentEffectsOf,
        isOver: (record) => record.kind === "agent" && record.terminated !== undefined,
        since: () => "",
        changed: (before, after) => tree.note(before, after),
      },
      log,
      clock,
      {
        publish: ({ event, id }) => void this.published.push(`${event} ${id}`),
        perform: ({ kind, id }) => void this.performed.push(`${kind} ${id}`),
        onBug: (error) => void this.bugs.push(error), // The caller of `submit` gets it too.
      },
    );
  }

  static async begin(disk = new SimDisk()): Promise<Site> {
    const clock = new SimClock();
    const site = new Site(disk, clock, await EventLog.open({ disk, clock, home: "/h" }, SMALL));
    for (const session of site.log.sessions) {
      for (const reading of site.log.read(session)) {
        const event = reading.kind === "entry" ? agentEventOf(reading.entry) : undefined;
        if (event !== undefined) site.store.put(event.id, applyAgent(site.store.states.get(event.id), event));
      }
    }
    return site;
  }

  async family(): Promise<void> {
    for (const [name, parent] of [["a"], ["b", "a"], ["c", "a"]] as const) {
      const wish = { name, parent, instructions: "", plan: planFor("scripted"), settings: {} };
      await this.store.submit({ kind: "create", id: name, ...wish });
    }
  }

  /** Its description of all agents, and of the index over them. */
  sight(): unknown {
    expect(this.tree.snapshot()).toEqual(Tree.of(this.store.states).snapshot());
    expectSlotsCounted(this.tree, this.store.states);
    return JSON.parse(JSON.stringify([...this.store.states].sort(([a], [b]) => (a < b ? -1 : 1))));
  }
}

const MESSAGE = { kind: "call", id: "b", call: "c1", tool: "send_message", args: { to: "c", text: "x" } } as const;

test("AG-3(a) U5 a decision over two sessions is in both logs, and survives a power cut whole", async () => {
  const site = await Site.begin();
  await site.family();
  site.performed.length = 0;
  const answer = await site.store.submit(MESSAGE);
  expect(answer).toMatchObject({ ok: true, value: { id: "b", calls: [{ call: "c1", ok: true }] } });
  expect(site.published.slice(-5)).toEqual([
    ...["message.sent b", "message.enqueued c", "tool.answered b", "turn.start c", "process.starting c"],
  ]);
  expect(site.performed).toEqual(["start c"]);
  const next = await Site.begin(site.disk.powerCut(nothing));
  expect(next.sight()).toEqual(site.sight());
  expect((await next.store.submit({ ...MESSAGE, call: "c2" })).ok).toBe(true); // A second life.
});

test("U3 U5 a decision that does not fit on the disk is rolled back in every session it touched", async () => {
  const site = await Site.begin();
  await site.family();
  const before = site.sight();
  const noRoomOnce = { left: 1 };
  site.disk.fault = ({ operation }) =>
    operation === "write" && noRoomOnce.left-- > 0 ? { kind: "fail", code: "ENOSPC" } : undefined;
  const answers = await Promise.all([
    site.store.submit(MESSAGE),
    site.store.submit({ kind: "send", id: "c", message: "m1", payload: "y", replyTo: undefined }),
    site.store.submit({ kind: "terminate", id: "a", reason: "enough" }),
  ]);
  expect(answers.map((answer) => (answer.ok ? "yes" : answer.error.code))).toEqual(Array(3).fill("log.blocked"));
  expect(site.sight()).toEqual(before);
  site.clock.advance(2000);
  expect((await site.store.submit(MESSAGE)).ok).toBe(true);
  expect((await Site.begin(site.disk.powerCut(nothing))).sight()).toEqual(site.sight());
});

test("U2 if what was decided cannot be made durable, the daemon is stopped, and none of it has left", async () => {
  const site = await Site.begin();
  await site.family();
  const [published, performed] = [site.published.length, site.performed.length];
  site.disk.fault = ({ operation }) => (operation.startsWith("datasync") ? { kind: "fail", code: "EIO" } : undefined);
  const answer = await site.store.submit(MESSAGE).catch((error: unknown) => error);
  expect(answer).toMatchObject({ code: "EIO" });
  expect(site.bugs).toEqual([answer]);
  expect([site.published.length, site.performed.length]).toEqual([published, performed]);
});

test("an agent that is set aside needs nothing, gets nothing, and does not keep the others from being scheduled", async () => {
  const site = await Site.begin();
  await site.family();
  await site.store.submit(MESSAGE);
  expect(agentEffectsOf(agentOf(site, "c")).map(({ kind }) => kind)).toEqual(["start"]);
  expect(agentEffectsOf({ ...agentOf(site, "c"), aside: "why" })).toEqual([]);
  const running = { ...agentOf(site, "b"), process: RUNNING };
  expect([isEvictable(running), isEvictable({ ...running, aside: "why" })]).toEqual([true, false]);
  const rests = { turn: undefined, process: { kind: "Idle", restart: false }, session: { kind: "idle" } } as const;
  expect(needOf({ ...agentOf(site, "c"), ...rests })).toBe("turn"); // Its message waits.
  site.store.put("c", { ...agentOf(site, "c"), ...rests, aside: "why" });
  site.log.freeze(agentSession("c"), "why");
  expect((await site.store.submit({ kind: "schedule", id: "a" })).ok).toBe(true);
  expect(agentOf(site, "c").turn).toBeUndefined();
  expect(await site.store.submit({ ...MESSAGE, call: "c3" })).toMatchObject({ error: { code: "log.frozen" } }); // U5
  expect((await site.store.submit({ kind: "terminate", id: "a", reason: "" })).ok).toBe(true); // With all below it.
  expect(agentOf(site, "c").terminated).toMatchObject({ by: "parent" });
  site.sight();
});

const CHILD = { pid: 1, startTime: 1, bootId: "b" };
const RUNNING = { kind: "Running", child: CHILD, holder: 2, heardAt: "" } as const;

function agentOf({ store }: Site, id: string): Agent {
  const found = store.states.get(id);
  if (found?.kind !== "agent") throw new Error(`${id} is not an agent`);
  return found;
}
