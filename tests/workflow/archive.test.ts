// Runs that have ended are archived by a whole daemon in the simulated world, and are found as before.
import { expect, test } from "bun:test";
import { idOf } from "../sim/holdfast/script.ts";
import { Site } from "../sim/holdfast/site.ts";
import { HOME } from "../sim/machine.ts";

const SET = "steps:\n  - set: { a: 1 }\n";
const FAILS = "steps:\n  - id: one\n    shell: work fail\n";

class Runs extends Site {
  async run(id: string, text: string) {
    this.machine.disk.plant("/u/flow.yml", Buffer.from(text));
    const run = await this.ask("workflow.run", { id, path: "/u/flow.yml", cwd: "/u", texts: {}, values: {}, env: {} });
    await this.machine.during(this.client.sleep(1000));
    return run;
  }

  /** Later runs carry the mark of what is drained; then a round of the archive comes. */
  async archived(...ids: readonly string[]): Promise<void> {
    for (let turn = 0; turn < 20 && !ids.every((id) => this.names().includes(`_${id}`)); turn += 1) {
      await this.run(idOf(900 + turn), SET);
      await this.machine.during(this.client.sleep(11_000));
    }
    expect(this.names()).toEqual(expect.arrayContaining(ids.map((id) => `_${id}`)));
    for (const id of ids) expect(this.names()).not.toContain(id);
  }

  names(): string[] {
    const repos = this.machine.disk.list(`${HOME}/state`);
    return repos.flatMap((repo) => this.machine.disk.list(`${HOME}/state/${repo}/sessions`));
  }
}

const [DONE, FAILED] = [idOf(1), idOf(2)];

test("a run that has ended is archived, and listed and shown as before, also by the next daemon", async () => {
  const site = new Runs();
  await site.live();
  await site.run(DONE, SET);
  await site.run(FAILED, FAILS);
  const before = await site.ask("workflow.list", {});
  const shown = await site.ask("workflow.show", { id: DONE, from: 0 });
  await site.archived(DONE, FAILED);
  for (const _ of [1, 2]) {
    const listed = await site.ask("workflow.list", {});
    expect(listed.filter(({ id }) => id === DONE || id === FAILED)).toEqual([...before]);
    expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length);
    expect(await site.ask("workflow.show", { id: DONE, from: 0 })).toEqual(shown);
    expect(await site.ask("dlq.list", { id: DONE, from: 0 })).toEqual({ letters: [], next: null });
    expect(site.names()).toContain(`_${DONE}`); // To look at it does not bring it back.
    await site.again();
  }
});

test("WH2 a repeated request for a run that is archived finds it", async () => {
  const site = new Runs();
  await site.live();
  await site.run(DONE, SET);
  await site.archived(DONE);
  expect(await site.run(DONE, FAILS)).toMatchObject({ id: DONE, state: "done" });
});

test("a request that changes an archived run brings it back, and the run is archived again when it has ended", async () => {
  const site = new Runs();
  await site.live();
  await site.run(DONE, SET);
  await site.run(FAILED, FAILS);
  await site.archived(DONE, FAILED);
  expect(await site.ask("workflow.checkpoint", { id: DONE })).toMatchObject({ id: DONE, reason: "Manual" });
  expect(site.names()).toContain(DONE);
  await site.ask("workflow.resume", { id: FAILED, force: false });
  expect(await site.ask("workflow.remove", { id: DONE })).toMatchObject({ id: DONE });
  await site.archived(DONE, FAILED);
  await site.again();
  const listed = await site.ask("workflow.list", {});
  expect(listed.filter(({ id }) => id === DONE || id === FAILED)).toMatchObject([{ id: FAILED, state: "failed" }]);
});

test("a list in pages has the living and the archived runs once each, newest or oldest first", async () => {
  const site = new Runs();
  await site.live();
  const ids = [1, 2, 3, 4, 5].map(idOf);
  for (const id of ids) await site.run(id, SET);
  await site.archived(...ids);
  const all = (await site.ask("workflow.list", {})).map(({ id }) => id);
  expect(all.slice(0, 5)).toEqual(ids);
  for (const newest of [false, true]) {
    const found: string[] = [];
    for (let after: string | undefined, more = true; more; ) {
      const page: unknown = await site.ask("workflow.list", { limit: 2, newest, ...(after && { after }) });
      const { rows, next } = page as { rows: { id: string }[]; next: string | null };
      expect(rows.length).toBeLessThanOrEqual(2);
      found.push(...rows.map(({ id }) => id));
      after = next ?? undefined;
      more = next !== null;
    }
    expect(found).toEqual(newest ? all.toReversed() : all);
  }
  expect(await site.ask("workflow.find", { key: idOf(3).slice(0, 6) })).toMatchObject({ id: idOf(3), state: "done" });
  expect(site.names()).toContain(`_${idOf(3)}`);
});
