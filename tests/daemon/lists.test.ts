// Lists and names in large homes: the real RPC server, clients and handlers, over stores that are filled directly.
import { beforeAll, describe, expect, test } from "bun:test";
import { ok, type Result } from "../../src/base/result.ts";
import { findAgent } from "../../src/cli/agent/find.ts";
import { findOn } from "../../src/cli/terminal/find.ts";
import { findRun } from "../../src/cli/workflow/rows.ts";
import type { Definition } from "../../src/core/workflow/definition.ts";
import { type AgentHandlerPorts, agentHandlers } from "../../src/daemon/agent/handlers.ts";
import { AgentStore } from "../../src/daemon/agent/store.ts";
import { PAGE_LIMITS, type PageLimits } from "../../src/daemon/pages.ts";
import { PartBorder } from "../../src/daemon/part.ts";
import type { Handlers } from "../../src/daemon/rpc-server.ts";
import { type TerminalHandlerPorts, terminalHandlers } from "../../src/daemon/terminal/handlers.ts";
import { TerminalStore } from "../../src/daemon/terminal/store.ts";
import { type WorkflowHandlerPorts, workflowHandlers } from "../../src/daemon/workflow/handlers.ts";
import { WorkflowStore } from "../../src/daemon/workflow/store.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { TapeStates } from "../../src/log/tape/tape-states.ts";
import type { RpcClient } from "../../src/wire/rpc/client.ts";
import { allRows, eachPage, type Page } from "../../src/wire/rpc/page.ts";
import type { Methods } from "../../src/wire/rpc/rpc.ts";
import { AROUND, planFor } from "../agent/house.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { creation, shell } from "../workflow/stories.ts";
import { nothingToFold } from "./border.ts";
import { client, serve } from "./rpc-peer.ts";

const CONSOLE = { console: { absolute: (path: string) => `/here/${path}` } } as never;
const FLOW: Definition = { name: "flow", flow: { mode: "standard", steps: [shell("a")] } };
const VARIABLES = Object.fromEntries(
  Array.from({ length: 45 }, (_, at) => [`VARIABLE_${at}`, `/a/path/of/usual/length/${at}`.padEnd(80, "x")]),
);

function idOf(at: number): string {
  return `${at.toString(16).padStart(12, "0")}4${"0".repeat(3)}8${"0".repeat(15)}`;
}

/** Later by a millisecond each. */
function timeOf(at: number): string {
  return new Date(Date.UTC(2026, 0, 1) + at).toISOString();
}

class LargeHome {
  readonly handlers: Handlers;
  readonly terminals: TerminalStore;
  readonly runs: WorkflowStore;
  readonly agents: AgentStore;

  private constructor(log: EventLog, clock: SimClock, border: PartBorder) {
    const hooks = { publish: () => undefined, perform: () => undefined, onBug: rethrow };
    this.terminals = new TerminalStore(log, clock, hooks);
    this.runs = new WorkflowStore(log, clock, hooks);
    this.agents = new AgentStore(log, clock, () => AROUND, hooks);
    const holders = {
      connections: { seen: () => ({ reports: true, clients: 1, tape: { end: 0 } }), status: asksHolder },
      ...{ trouble: () => undefined, isWatching: true },
    };
    const attempts = { waitingForSlot: () => 0 };
    const engine = { trouble: () => undefined, secrets: { lacking: () => [] }, attempts };
    const archive = { rows: () => [], rowsWith: () => [], look: () => undefined };
    const common = { border, disk: new SimDisk(), home: "/h", environment: { allow: [], deny: [] } };
    this.handlers = {
      ...terminalHandlers({
        ...common,
        store: this.terminals,
        holders,
        agents: { of: () => undefined },
        tapes: new TapeStates(common.disk, clock),
      } as unknown as TerminalHandlerPorts),
      ...workflowHandlers({ ...common, store: this.runs, engine, archive } as unknown as WorkflowHandlerPorts),
      ...agentHandlers({
        ...{ ...common, store: this.agents, agentConfig: { rules: [] }, trouble: () => undefined },
      } as unknown as AgentHandlerPorts),
    };
  }

  static async open(pages: PageLimits = PAGE_LIMITS): Promise<LargeHome> {
    const [disk, clock] = [new SimDisk(), new SimClock()];
    const border = new PartBorder({ isLive: () => true, onBug: rethrow, say: () => undefined, pages }, "sessions");
    await border.foldAll(clock, nothingToFold(), () => undefined);
    const log = await EventLog.open({ disk, clock, home: "/h" }, { segmentBytes: 1 << 20, ballastBytes: 0 });
    return new LargeHome(log, clock, border);
  }

  /** One is made by a command; the others are like it. */
  async addTerminals(count: number): Promise<void> {
    const recipe = { argv: ["/bin/bash"], cwd: "/work", env: VARIABLES, size: { cols: 80, rows: 24 } };
    const made = must(
      await this.terminals.submit({
        ...{ kind: "create", id: idOf(0), name: "t0", lane: "main", recipe, unset: [] },
      }),
    );
    for (let at = 0; at < count; at += 1) {
      const lane = at % 2 === 0 ? "main" : "side";
      this.terminals.put(idOf(at), {
        ...{ ...made, id: idOf(at), name: `t${at}`, lane, createdAt: timeOf(at), recipe: { ...recipe } },
        state: { kind: "running", pid: at + 1, startTime: 1, bootId: "b", holder: 1 },
      });
    }
  }

  /** A hundred workflows; all but the last run of each are done. */
  async addRuns(count: number): Promise<void> {
    const made = must(await this.runs.submit(creation(FLOW, {}, { id: idOf(0), cwd: "/w" })));
    for (let at = 0; at < count; at += 1) {
      const name = `flow-${at % 100}`;
      const status = at < count - 100 ? ({ kind: "done", at: timeOf(at) } as const) : made.status;
      const named = { id: idOf(at), name, path: `/here/${name}.yml`, createdAt: timeOf(at) };
      this.runs.put(idOf(at), { ...made, ...named, status });
    }
  }

  async addAgents(count: number): Promise<void> {
    const plan = planFor("scripted");
    const nothing = { parent: undefined, instructions: "", settings: {} };
    must(await this.agents.submit({ kind: "create", id: idOf(0), name: "a0", plan, ...nothing }));
    const made = this.agents.agent(idOf(0));
    if (made === undefined) throw new Error("it was made");
    for (let at = 0; at < count; at += 1)
      this.agents.put(idOf(at), { ...made, id: idOf(at), name: `a${at}`, createdAt: timeOf(at) });
  }
}

function rethrow(error: unknown): never {
  throw error;
}

function asksHolder(): never {
  throw new Error("a holder is asked");
}

function must<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

function codeOf(result: Result<unknown>): string {
  return result.ok ? "ok" : result.error.code;
}

type ListMethod = "terminal.list" | "workflow.list" | "agent.list";

/** Reads a list, and checks each page on the way. */
async function pagesOf(daemon: RpcClient, method: ListMethod, filter: Methods[ListMethod]["params"] = {}) {
  const ids: string[] = [];
  let pages = 0;
  const read = await eachPage(daemon, method, filter, (rows) => {
    pages += 1;
    const length = JSON.stringify(rows).length;
    if (rows.length > 1) expect(length).toBeLessThanOrEqual(PAGE_LIMITS.length + rows.length + 1);
    ids.push(...rows.map(({ id }) => id));
  });
  expect(codeOf(read)).toBe("ok");
  return { ids, pages };
}

function idsUpTo(count: number): string[] {
  return Array.from({ length: count }, (_, at) => idOf(at));
}

describe("a home of 10,000 terminals with 45 variables each, 4,000 agents and 100,000 runs", () => {
  let home: LargeHome;

  beforeAll(async () => {
    home = await LargeHome.open();
    await home.addTerminals(10_000);
    await home.addRuns(100_000);
    await home.addAgents(4_000);
  });

  test("each list is read whole, in the order of creation, in pages that are never long", async () => {
    const daemon = await client((await serve(home.handlers)).path);
    for (const [method, count] of [
      ["terminal.list", 10_000],
      ["agent.list", 4_000],
      ["workflow.list", 100_000],
    ] as const) {
      const { ids, pages } = await pagesOf(daemon, method);
      expect(ids).toEqual(idsUpTo(count));
      expect(pages).toBeGreaterThan(1);
    }
  });

  test("a row of a terminal has no environment, and no holder is asked for it", async () => {
    const daemon = await client((await serve(home.handlers)).path);
    const rows = must(await allRows(daemon, "terminal.list", { lane: "side" }));
    expect(rows.length).toBe(5_000);
    expect(JSON.stringify(rows)).not.toContain("VARIABLE_");
    expect(rows[0]).toMatchObject({ name: "t1", clients: 0, recipe: { argv: ["/bin/bash"], cwd: "/work" } });
    expect(must(await findOn(daemon, "t7", "exact")).recipe.env).toEqual(VARIABLES);
  });

  test("the daemon filters: by state, by name, by beginning, and the newest first", async () => {
    const daemon = await client((await serve(home.handlers)).path);
    expect((await pagesOf(daemon, "workflow.list", { state: ["running"] })).ids).toEqual(idsUpTo(100_000).slice(-100));
    expect((await pagesOf(daemon, "workflow.list", { name: "flow-7" })).ids.length).toBe(1_000);
    const last = await pagesOf(daemon, "workflow.list", { newest: true, limit: 3 });
    expect(last).toEqual({ ids: [idOf(99_999), idOf(99_998), idOf(99_997)], pages: 1 });
    expect((await pagesOf(daemon, "agent.list", { starts: "a399" })).ids.length).toBe(11);
  });

  test("names, paths and prefixes are found among all, and unknown ones get a suggestion", async () => {
    const daemon = await client((await serve(home.handlers)).path);
    const ids = async (...found: Promise<Result<{ readonly id: string }>>[]) =>
      (await Promise.all(found)).map((one) => (one.ok ? one.value.id : one.error.code));
    expect(
      await ids(
        findRun(CONSOLE, daemon, "flow-7", { meant: "endable" }), // cancel
        findRun(CONSOLE, daemon, "flow-7.yml", { newest: true }), // logs
        findRun(CONSOLE, daemon, idOf(77_777), {}),
        findRun(CONSOLE, daemon, "flow-7", {}),
        findAgent(daemon, "a3999"),
        findAgent(daemon, idOf(3).slice(0, 14)),
        findOn(daemon, "t9999", "prefix"),
        findOn(daemon, "t99", "exact"),
      ),
    ).toEqual([
      ...[idOf(99_907), idOf(99_907), idOf(77_777), "ambiguous", idOf(3_999), idOf(3), idOf(9_999), idOf(99)],
    ]);
    expect(await findRun(CONSOLE, daemon, "flwo-7", {})).toMatchObject({ ok: false, error: { code: "unknown" } });
    const near = await findRun(CONSOLE, daemon, "flow_99", {});
    expect(near).toMatchObject({ ok: false, error: { hint: expect.stringContaining("Did you mean flow-99?") } });
  });

  test("a run is cancelled by its name", async () => {
    const daemon = await client((await serve(home.handlers)).path);
    const { id } = must(await findRun(CONSOLE, daemon, "flow-9", { meant: "endable" }));
    expect(id).toBe(idOf(99_909));
    must(await daemon.call("workflow.cancel", { id }));
    expect(home.runs.settled(id)?.status).toEqual({ kind: "closing", as: "cancelled" });
  });

  test("an older command, which knows no pages, gets one list as before", async () => {
    const smaller = await LargeHome.open();
    await smaller.addTerminals(1_000);
    const daemon = await client((await serve(smaller.handlers)).path);
    const all = must(await daemon.call("terminal.list", { brief: true }));
    expect(all.length).toBe(1_000);
    expect(all[0]?.recipe.env).toEqual(VARIABLES);
  });
});

describe("pages", () => {
  test("PS1 PS2 with tiny pages, and rows that come and go meanwhile, none that stays is left out or repeated", async () => {
    const home = await LargeHome.open({ rows: 3, length: 1_000, looks: 5 });
    await home.addRuns(120);
    const daemon = await client((await serve(home.handlers)).path);
    const { ids } = await pagesOf(daemon, "workflow.list", { name: "flow-7" });
    expect(ids).toEqual([idOf(7), idOf(107)]);
    const seen: string[] = [];
    let pages = 0;
    await eachPage(daemon, "workflow.list", {}, (rows) => {
      seen.push(...rows.map(({ id }) => id));
      pages += 1;
      home.runs.put(idOf(pages), undefined); // One that was listed: also the last row of a page.
      home.runs.put(idOf(119 - pages), undefined); // One that is still to come.
    });
    const gone = (at: number) => at > 119 - pages && at < 119;
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => idsUpTo(60).includes(id))).toEqual(idsUpTo(60));
    expect(seen.at(-1)).toBe(idOf(119));
    expect(seen.some((id) => gone(Number.parseInt(id.slice(0, 12), 16)) && seen.indexOf(id) > 115)).toBe(false);
  });

  test("PS1 one row that is longer than a page is a page", async () => {
    const home = await LargeHome.open({ rows: 100, length: 10, looks: 100 });
    await home.addRuns(3);
    const daemon = await client((await serve(home.handlers)).path);
    expect(await pagesOf(daemon, "workflow.list")).toEqual({ ids: idsUpTo(3), pages: 3 });
  });

  test("PG3 a daemon that is older than pages and names is asked for everything, and the rules apply here", async () => {
    const home = await LargeHome.open();
    await home.addRuns(150);
    const list = home.handlers["workflow.list"];
    const old: Handlers = { "workflow.list": async () => (await list?.({})) ?? ok([]) };
    const daemon = await client((await serve(old)).path);
    expect((await pagesOf(daemon, "workflow.list", { name: "flow-7" })).ids).toEqual([idOf(7), idOf(107)]);
    expect((await pagesOf(daemon, "workflow.list", { newest: true, limit: 2 })).ids).toEqual([idOf(149), idOf(148)]);
    expect(must(await findRun(CONSOLE, daemon, "flow-49", { newest: true })).id).toBe(idOf(149));
  });

  test("a place that no daemon gave is a place as well: the answer is a page", async () => {
    const home = await LargeHome.open();
    await home.addRuns(5);
    const daemon = await client((await serve(home.handlers)).path);
    for (const after of ["", "l", "l 9999", "a 5", "\u0000", "null"]) {
      const page = must(await daemon.call("workflow.list", { after, limit: 10 })) as unknown as Page<unknown>;
      expect(Array.isArray(page.rows)).toBe(true);
    }
    expect(codeOf(await daemon.call("workflow.list", { limit: 0 }))).toBe("bad-params");
  });
});
