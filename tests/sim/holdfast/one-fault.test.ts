// One call of the whole daemon fails, or one kind of call for a while: what was promised holds, and nothing else stops.
import { describe, expect, test } from "bun:test";
import { Fault } from "../../../src/base/fault.ts";
import type { ListedTerminal, StatusResult } from "../../../src/wire/rpc/rpc.ts";
import { Client } from "./client.ts";
import { HoldfastMachine } from "./machine.ts";
import { idOf } from "./script.ts";

const RECIPE = { argv: ["sh"], cwd: "/u", env: {}, cols: 80, rows: 24 };

/** A machine, its daemon, and a client of it. */
class Site {
  readonly machine = new HoldfastMachine(1);
  daemon = this.machine.begin();
  client = new Client(this.machine);

  /** Fails the first `times` of these calls. */
  refuse(code: string, times: number, isMeant: (operation: string, path: string) => boolean): { left: number } {
    const count = { left: times };
    this.machine.beforeCall = (operation, path) => {
      if (count.left === 0 || !isMeant(operation, path)) return;
      count.left -= 1;
      const fault = new Fault({ code, operation, path });
      this.machine.harm.done(fault);
      throw fault;
    };
    return count;
  }

  live(): Promise<void> {
    return this.machine.during(this.client.live());
  }

  async open(name: string): Promise<string> {
    const made = await this.machine.during(this.client.ask("terminal.new", { name, lane: "default", ...RECIPE }));
    return made.id;
  }

  /** Waits until a terminal is in this state. */
  is(id: string, kind: ListedTerminal["state"]["kind"]): Promise<ListedTerminal> {
    const look = async (): Promise<ListedTerminal> => {
      for (;;) {
        const found = (await this.client.ask("terminal.list", {})).find((one) => one.id === id);
        if (found?.state.kind === kind) return found;
        await this.client.sleep(50);
      }
    };
    return this.machine.during(look());
  }

  /** The status, once it is as expected. */
  status(isMeant: (status: StatusResult) => boolean): Promise<StatusResult> {
    const look = async (): Promise<StatusResult> => {
      for (;;) {
        const status = await this.client.ask("status", {});
        if (isMeant(status)) return status;
        await this.client.sleep(50);
      }
    };
    return this.machine.during(look());
  }

  /** The daemon stops in order. */
  async stop(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.daemon.born.life.onEnd(resolve));
    this.daemon.stop();
    await this.machine.during(ended);
  }

  /** The daemon dies, unless it was stopped, and the next one comes up. */
  async again(): Promise<void> {
    this.client.me.life.end();
    this.daemon.born.life.end();
    this.daemon = this.machine.begin();
    this.client = new Client(this.machine);
    await this.live();
  }
}

async function begun(): Promise<Site> {
  const site = new Site();
  await site.live();
  return site;
}

const WRITING = ["write", "rename", "sync", "datasync"];
const ofSpec = (operation: string, path: string) => WRITING.includes(operation) && path.includes("holder.json");

describe("the spec of a terminal cannot be written", () => {
  test.each(["EIO", "ENOSPC", "ESTALE"])("%s once: its program is started, once", async (code) => {
    const site = await begun();
    const count = site.refuse(code, 1, ofSpec);
    const id = await site.open("one");
    const { generation } = await site.is(id, "running");
    expect([count.left, generation, site.machine.witness.running.size]).toEqual([0, 1, 1]);
  });

  test("EIO that lasts: the terminal waits for a person, with the reason, and can be restored", async () => {
    const site = await begun();
    site.refuse("EIO", Number.POSITIVE_INFINITY, ofSpec);
    const id = await site.open("one");
    const other = await site.open("other"); // It has the same trouble.
    const { state } = await site.is(id, "uncertain");
    expect(state).toMatchObject({
      reason: expect.stringMatching(/^it could not be started: .*holder\.json.*: EIO\. /),
    });
    await site.is(other, "uncertain");
    expect(site.machine.witness.running.size).toBe(0);

    site.machine.beforeCall = () => undefined;
    await site.again(); // It is not started by itself, and nothing is lost.
    await site.is(id, "uncertain");
    await site.machine.during(site.client.ask("terminal.restore", { id, way: "plan" }));
    await site.is(id, "running");
    expect(site.machine.witness.running.size).toBe(1);
  });
});

test("a full disk: status names the terminal that is not started yet, and no longer once it runs", async () => {
  const site = await begun();
  site.refuse("ENOSPC", Number.POSITIVE_INFINITY, ofSpec);
  const id = await site.open("one");
  const trouble = (troubles: StatusResult["troubles"]) => troubles?.find(({ what }) => what.startsWith("one is not"));
  expect(trouble((await site.status(({ troubles }) => trouble(troubles) !== undefined)).troubles)).toEqual({
    what: expect.stringMatching(/^one is not started yet: .*holder\.json.*: ENOSPC\. /),
    next: "holdfast ls",
  });
  site.machine.beforeCall = () => undefined;
  await site.is(id, "running");
  expect((await site.status(() => true)).troubles).toEqual([]);
});

test("EIO that lasts: status names the terminal that waits for a person, until it is restored", async () => {
  const site = await begun();
  site.refuse("EIO", Number.POSITIVE_INFINITY, ofSpec);
  const id = await site.open("one");
  await site.is(id, "uncertain");
  const { troubles } = await site.status(() => true);
  expect(troubles).toEqual([expect.objectContaining({ next: "holdfast restore one" })]);
  site.machine.beforeCall = () => undefined;
  await site.machine.during(site.client.ask("terminal.restore", { id, way: "plan" }));
  await site.is(id, "running");
  expect((await site.status(() => true)).troubles).toEqual([]);
});

test("EIO that lasts: status names the run of which a step waits for a person, until it is resumed", async () => {
  const site = await begun();
  site.machine.disk.plant("/u/one.yml", Buffer.from("name: one\nsteps:\n  - id: s\n    shell: work ok\n"));
  site.refuse("EIO", Number.POSITIVE_INFINITY, ofSpec);
  const id = idOf(1);
  const wish = { id, path: "/u/one.yml", cwd: "/u", texts: {}, values: {}, env: {} };
  await site.machine.during(site.client.ask("workflow.run", wish));
  const waits = ({ troubles }: StatusResult) => troubles?.[0]?.what.includes("was not started: ") === true;
  const { troubles } = await site.status(waits);
  expect(troubles).toEqual([
    {
      what: expect.stringMatching(/^a step of the run .* was not started: it could not be started: .*: EIO\. /),
      next: `holdfast resume ${id.slice(0, 8)} --rerun`,
    },
  ]);
});

/** Two runs of one step each, of which the second is done although this call fails once. */
async function runsBeside(failing: string, ending: string) {
  const site = await begun();
  site.machine.disk.plant("/u/one.yml", Buffer.from("name: one\nsteps:\n  - id: s\n    shell: work ok\n"));
  const count = site.refuse("EIO", 1, (operation, path) => operation === failing && path.endsWith(ending));
  const isDone = async (id: string) => {
    while ((await site.client.ask("workflow.show", { id, from: 0 })).state !== "done") await site.client.sleep(50);
  };
  const [first, second] = [idOf(1), idOf(2)];
  for (const id of [first, second]) {
    const wish = { id, path: "/u/one.yml", cwd: "/u", texts: {}, values: {}, env: {} };
    await site.machine.during(site.client.ask("workflow.run", wish));
  }
  await site.machine.during(isDone(second));
  expect(count.left).toBe(0);
  return { site, firstIsDone: () => site.machine.during(isDone(first)) };
}

test("a failed look for the holders of the daemon before costs no run: those after it are done, too", async () => {
  const { firstIsDone } = await runsBeside("list", "/run");
  await firstIsDone();
});

test("a failed sync of the directory of all runs delays one run, which status names; those after it are done", async () => {
  const { site, firstIsDone } = await runsBeside("syncDirectory", "/sessions");
  const named = /is not started yet: syncDirectory \/h\/state\/u\/sessions: EIO\. .*: holdfast down && holdfast up$/;
  await site.status(({ troubles }) => troubles?.length === 1 && named.test(troubles[0]?.what ?? ""));
  await site.again();
  await firstIsDone();
  expect((await site.status(() => true)).troubles).toEqual([]);
});

test.each(["EMFILE", "EIO"])(
  "%s while a terminal is read at the start: it is read again, and its program runs on",
  async (code) => {
    const site = await begun();
    const [id, other] = [await site.open("one"), await site.open("other")];
    for (const each of [id, other]) await site.is(each, "running");
    const before = new Map([...site.machine.witness.running].map(([each, { who }]) => [each, who.pid]));
    let opened = 0;
    const count = site.refuse(code, 3, (operation, path) => {
      if (!["open", "create"].includes(operation) || !path.includes(`${id}/events`)) return false;
      opened += 1;
      return opened > 1; // The first time, the log itself is recovered.
    });
    await site.again();
    expect(count.left).toBe(0);
    for (const each of [id, other]) await site.is(each, "running");
    expect(new Map([...site.machine.witness.running].map(([each, { who }]) => [each, who.pid]))).toEqual(before);
  },
);

describe("a recovery meets a fault that passes, and continues by itself", () => {
  test.each([
    ["EIO", "claim.json"],
    ["EMFILE", "holder.json"],
    ["EIO", "last-boot.json"],
  ])("%s at %s: it is live, and a program runs on", async (code, file) => {
    const site = await begun();
    const id = await site.open("one");
    const { state } = await site.is(id, "running");
    const count = site.refuse(code, 3, (operation, path) => operation === "open" && path.endsWith(file));
    await site.again();
    expect(count.left).toBe(0);
    expect((await site.is(id, "running")).state).toEqual(state);
  });

  test("EIO while the marker of a clean end is removed: the report still says that it was clean", async () => {
    const site = await begun();
    await site.stop();
    const isRemoval = (operation: string, path: string) => operation === "syncDirectory" && path.endsWith("/recovery");
    const count = site.refuse("EIO", 2, isRemoval); // The first is that of the stage's own record.
    await site.again();
    expect(count.left).toBe(0);
    const report = await site.machine.during(site.client.ask("recovery.report", { name: null }));
    expect(report?.cause).toBe("clean start");
  });
});

test.each(["ENOSPC", "EIO"])("%s while a report is written: it is written later, by itself", async (code) => {
  const site = await begun();
  const reported = async () => (await site.client.ask("recovery.report", { name: null }))?.at;
  const before = await site.machine.during(reported());
  const count = site.refuse(code, 3, (operation, path) => operation === "create" && path.includes("/reports/"));
  await site.again(); // Waits for the report, ten seconds at most.
  expect(count.left).toBe(0);
  expect(await site.machine.during(reported())).not.toBe(before);
  expect(site.daemon.said.filter((words) => words.startsWith("the report of a recovery"))).toHaveLength(1);
});

test("no file can be opened: status names the limit and what to do, and no longer once one can be", async () => {
  const site = await begun();
  const isOpen = (operation: string) => ["open", "create", "list"].includes(operation);
  site.refuse("EMFILE", Number.POSITIVE_INFINITY, isOpen);
  const { disk } = await site.status((status) => status.disk != null);
  expect(disk).toMatchObject({ code: "EMFILE", hint: expect.stringContaining("ulimit -n") });
  site.machine.beforeCall = () => undefined;
  await site.status((status) => status.disk === null);
});

test("status names a failed write of the log for as long as the log refuses everything for it", async () => {
  const site = await begun();
  site.refuse("ENOSPC", 1, (operation, path) => operation === "write" && path.includes("/wal/"));
  const opened = () => site.client.call("terminal.new", { name: "one", lane: "default", ...RECIPE });
  expect((await site.machine.during(opened())).ok).toBe(false);
  expect((await site.status(() => true)).disk).toMatchObject({ code: "ENOSPC", operation: "write" });
  await site.status((status) => status.disk === null);
  expect((await site.machine.during(opened())).ok).toBe(true);
});
