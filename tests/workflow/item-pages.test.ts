// The items of a long map beside its checkpoints: written once, shared by all of them, and let go from memory.
import { expect, test } from "bun:test";
import { isFault } from "../../src/base/fault.ts";
import type { Json } from "../../src/base/json.ts";
import { applyWorkflow } from "../../src/core/workflow/apply.ts";
import { CHECKPOINT_FACTS, toCheckpoint } from "../../src/core/workflow/checkpoint.ts";
import { pagesOf } from "../../src/core/workflow/item-list.ts";
import type { Run } from "../../src/core/workflow/run.ts";
import { readOldFiles } from "../../src/daemon/workflow/old-files.ts";
import { CheckpointStorage } from "../../src/home/checkpoint-storage.ts";
import { CheckpointStore } from "../../src/log/checkpoint/store.ts";
import { deadLettersOf, itemOf, itemStatesOf } from "../../src/wire/rpc/listed-run.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import { nothing } from "../sim/survive.ts";
import { bytes, get } from "../world/places.ts";
import { Story, set, shell } from "./stories.ts";

const ITEMS = 200;
const SESSION = "state/w/sessions/r1";
const PAGES = `/h/${SESSION}/items.jsonl`;
const HEAD = `/h/${SESSION}/checkpoint.json`;

/** Every seventh item fails. */
function mapped(text = "value"): Story {
  const result = set("s", { result: ["$", "{item.name} of $", "{item_index}"].join("") });
  const fails = set("f", { x: ["$", "{missing}"].join("") }, { when: "item.rest == 0" });
  const map = { input: { kind: "file", path: "x" }, max_parallel: 3, steps: [result, fails] } as const;
  const story = new Story({ mode: "mapreduce", setup: [], map, reduce: [shell("r")] });
  const items: Json[] = Array.from({ length: ITEMS }, (_, at) => ({ name: `${text}-${at}`, rest: at % 7 }));
  story.say({ kind: "items-read", from: 0, items, last: true });
  return story;
}

const plain = (run: Run): Json => JSON.parse(JSON.stringify({ ...toCheckpoint(run, "Manual", ""), created_at: "" }));

function storageOn(disk: SimDisk): CheckpointStorage {
  return new CheckpointStorage({ disk, clock: new SimClock(), home: "/h" }, 3);
}

function emptyHome(): SimDisk {
  const disk = new SimDisk();
  disk.plant("/h/other", bytes(""));
  return disk;
}

/** The run at several times, each with its seq; as text, because saving lets pages go. */
function stages(story: Story): { readonly seq: number; readonly run: Run; readonly text: Json }[] {
  const found: { seq: number; run: Run; text: Json }[] = [];
  for (let seq = 1; story.run.items.succeeded + story.run.items.failed < ITEMS; seq += 1) {
    found.push({ seq, run: story.run, text: plain(story.run) });
    story.later(10).say({ kind: "advance" });
  }
  return [...found, { seq: found.length + 1, run: story.run, text: plain(story.run) }];
}

async function save(storage: CheckpointStorage, run: Run, seq: number): Promise<void> {
  const saved = await storage.save(run, "Manual", seq);
  if (!saved.ok) throw new Error(saved.error.message);
}

function newest(storage: CheckpointStorage) {
  const loaded = storage.load(SESSION);
  if (!loaded.ok) throw new Error(loaded.error.message);
  return loaded.value;
}

test("UC-4(b) the checkpoints of a long map share its pages, and each is read back as it was", async () => {
  const disk = emptyHome();
  const storage = storageOn(disk);
  const all = stages(mapped());
  expect(all.length).toBeGreaterThan(4);
  for (const { seq, run } of all) await save(storage, run, seq);
  const lines = get(disk, PAGES).trimEnd().split("\n");
  const written = lines.flatMap((line) => JSON.parse(line)).length;
  expect(written).toBeLessThan(3 * ITEMS); // Waiting and ended, and not once for each checkpoint.
  const next = storageOn(disk);
  for (const { seq, text } of all.slice(-4)) {
    const found = next.loadAt(SESSION, seq);
    expect(found.ok && JSON.parse(JSON.stringify({ ...found.value, created_at: "", integrity_hash: "" }))).toEqual(
      text,
    );
  }
  expect(next.files(SESSION).map(({ found }) => found.kind === "whole" && found.seq)).toEqual(
    all
      .slice(-4)
      .reverse()
      .map(({ seq }) => seq),
  );
});

test("IP2 a page that is durable is let go from memory, and the run goes on as if it were there", async () => {
  const [ours, other] = [mapped(), mapped()];
  const storage = storageOn(emptyHome());
  const held = () => pagesOf(ours.run.items.all).filter(({ content }) => content.kind === "held").length;
  for (let seq = 1; ours.run.items.succeeded + ours.run.items.failed < ITEMS; seq += 1) {
    await save(storage, ours.run, seq);
    expect(held()).toBeLessThan(3); // What is in flight, and the last page, which is not full.
    for (const story of [ours, other]) story.later(10).say({ kind: "advance" });
  }
  await save(storage, ours.run, 100);
  expect([held(), plain(ours.run)]).toEqual([1, plain(other.run)]);
  expect(deadLettersOf(ours.run, 0)).toEqual(deadLettersOf(other.run, 0));
  expect(itemOf(ours.run, 70)).toEqual(itemOf(other.run, 70));
  const states = Array.from({ length: ITEMS }, (_, at) => (at % 7 === 0 ? "f" : "s")).join("");
  expect(itemStatesOf(ours.run, 0)).toEqual({ from: 0, states, next: null });
  expect(itemStatesOf(ours.run, 150)).toEqual({ from: 150, states: states.slice(150), next: null });
  expect(itemStatesOf(ours.run, 5000)).toEqual({ from: 5000, states: "", next: null });
  const acts = [
    () => [ours, other].map((story) => story.ends("r")),
    () => [ours, other].map((story) => story.say({ kind: "dlq-clear", items: [0, 7] })),
    () => [ours, other].map((story) => story.say({ kind: "dlq-retry", items: "all" })),
    () => [ours, other].map((story) => story.say({ kind: "advance" })),
  ];
  for (const [at, act] of acts.entries()) {
    const [said, expected] = act();
    expect([said, plain(ours.run)]).toEqual([expected, plain(other.run)]);
    await save(storage, ours.run, 101 + at);
  }
  const back = { records: 0, items: 90, phase: "map", iteration: 1, index: 0, kept: [], at: "" } as const;
  const event = { event: "workflow.rolledback", id: "r1", data: back } as const;
  expect(plain(applyWorkflow(ours.run, event))).toEqual(plain(applyWorkflow(other.run, event)));
});

test("TC-4 UC-5(a,d) a crash at any call leaves the last acknowledged checkpoint whole with its pages; saving goes on", async () => {
  const all = stages(mapped());
  const [last] = all.slice(-1);
  if (last === undefined) throw new Error("there is a last one");
  const some = [all[0], all[1], all[3], last].flatMap((one) => one ?? []);
  const live = async (disk: SimDisk, promised: (seq: number) => void) => {
    const storage = storageOn(disk);
    for (const { seq, run } of some.map(({ seq }) => ({ seq, run: fresh(seq) }))) {
      await save(storage, run, seq);
      promised(seq);
    }
  };
  const check = async (disk: SimDisk, promised: number) => {
    const storage = storageOn(disk);
    const { newest: found, problems } = newest(storage);
    const at = some.findIndex(({ seq }) => seq === promised);
    expect([promised, some[at + 1]?.seq ?? promised]).toContain(found?.seq ?? 0);
    expect(problems).toEqual([]);
    if (found !== undefined) expect(plain(found.run)).toEqual(some.find(({ seq }) => seq === found.seq)?.text ?? null);
    expect(storage.listHistory(SESSION).filter(({ valid }) => !valid)).toEqual([]);
    // A second life: what was loaded goes on, and is saved again.
    await save(storage, found?.run ?? fresh(last.seq), 100);
    const after = newest(storageOn(disk.powerCut(nothing)));
    expect([after.problems, after.newest && plain(after.newest.run)]).toEqual([
      [],
      some.find(({ seq }) => seq === (found?.seq ?? last.seq))?.text,
    ]);
  };
  const start = emptyHome();
  expect(await everyCrash({ start, nothingPromised: 0, takesLong: true, live, check })).toBeGreaterThan(100);
});

/** The run at that stage, with all of its pages in memory. */
function fresh(seq: number): Run {
  const found = stages(mapped()).find((one) => one.seq === seq);
  if (found === undefined) throw new Error(`there is no stage ${seq}`);
  return found.run;
}

test("UC-5(a,d) a call that fails once is a Fault or harmless; the next save works", async () => {
  const all = stages(mapped());
  const [, second] = all;
  const [last] = all.slice(-1);
  if (second === undefined || last === undefined) throw new Error("there are stages");
  let fired = 1;
  for (let index = 1; fired > 0; index += 1) {
    const disk = emptyHome();
    const storage = storageOn(disk);
    await save(storage, fresh(second.seq), second.seq);
    const from = disk.calls;
    disk.fault = (call) => (call.index === from + index ? { kind: "fail", code: "ENOSPC" } : undefined);
    await save(storage, fresh(last.seq), last.seq).catch((error: unknown) => {
      if (!isFault(error)) throw error;
    });
    fired = disk.fired.length;
    disk.fault = undefined;
    const next = storageOn(disk);
    expect([second.seq, last.seq]).toContain(newest(next).newest?.seq ?? 0);
    await save(next, newest(next).newest?.run ?? last.run, 100);
    expect(newest(storageOn(disk.powerCut(nothing)))).toMatchObject({ newest: { seq: 100 }, problems: [] });
    expect(disk.openCount).toBe(0);
  }
});

test("a failed sync of the pages is never repeated: nothing more is saved in this process", async () => {
  const disk = emptyHome();
  const storage = storageOn(disk);
  disk.fault = ({ operation, path }) =>
    operation === "datasync" && path === PAGES ? { kind: "fail", code: "EIO" } : undefined;
  await expect(storage.save(fresh(2), "Manual", 2)).rejects.toThrow("datasync");
  disk.fault = undefined;
  await expect(storage.save(fresh(3), "Manual", 3)).rejects.toThrow("datasync");
  await save(storageOn(disk), fresh(3), 3); // The next process can.
});

test("PF2 UC-7(d) a damaged page, a page of another file, or none is never taken for it: an older one or the log is used", async () => {
  const all = stages(mapped());
  const [first, second] = all;
  const [last] = all.slice(-1);
  if (first === undefined || second === undefined || last === undefined) throw new Error("there are stages");
  const home = async (text?: string) => {
    const disk = emptyHome();
    const storage = storageOn(disk);
    for (const { seq, run } of stages(mapped(text)))
      if (seq === second.seq || seq === last.seq) await save(storage, run, seq);
    return disk;
  };
  const swapped = await home();
  const other = get(await home("VALUE"), PAGES);
  swapped.unlink(PAGES);
  swapped.plant(PAGES, bytes(other));
  const gone = await home();
  gone.unlink(PAGES);
  for (const disk of [swapped, gone]) {
    const found = newest(storageOn(disk));
    expect([found.newest, found.problems.map(({ code }) => code)]).toEqual([undefined, ["bad-pages", "bad-pages"]]);
  }
  const rotten = await home();
  rotten.rot(PAGES, get(rotten, PAGES).length - 100, 1);
  const fallen = newest(storageOn(rotten));
  expect(fallen).toMatchObject({ newest: { seq: second.seq }, problems: [{ path: HEAD, code: "bad-pages" }] });
  expect(
    storageOn(rotten)
      .files(SESSION)
      .map(({ found }) => found.kind),
  ).toEqual(["bad", "whole"]);
  await save(storageOn(rotten), fresh(last.seq), 100);
  expect(newest(storageOn(rotten))).toMatchObject({ newest: { seq: 100 }, problems: [] });
});

test("UC-1(a) a file of version 2, with all items in it, is read; the next one names pages", async () => {
  const disk = emptyHome();
  const [, second] = stages(mapped());
  if (second === undefined) throw new Error("there is a stage");
  const { version: _, created_at: _time, integrity_hash: _hash, ...body } = toCheckpoint(second.run, "Manual", "");
  const keep = { history: `/h/${SESSION}/history`, limit: 3 };
  const old = { ...CHECKPOINT_FACTS, version: 2, home: "/h", path: HEAD, keep };
  await new CheckpointStore(disk, new SimClock(), old).save(body, second.seq);
  const storage = storageOn(disk);
  const { newest: found } = newest(storage);
  expect(found && plain(found.run)).toEqual(second.text);
  if (found !== undefined) await save(storage, found.run, 9);
  expect(found && plain(found.run)).toEqual(second.text); // From its pages.
  const text = JSON.parse(get(disk, HEAD));
  expect([text.version, text.mapreduce_state.all, typeof text.mapreduce_state.pages[1]]).toEqual([
    3,
    undefined,
    "string",
  ]);
  storage.delete(SESSION);
  expect(disk.list(`/h/${SESSION}`)).toEqual(["history"]);
});

test("UC-10(a) a checkpoint whose log is gone is migrated with its items; without them it is refused", async () => {
  const disk = emptyHome();
  const [last] = stages(mapped()).slice(-1);
  if (last === undefined) throw new Error("there is a stage");
  await save(storageOn(disk), last.run, last.seq);
  const file = { path: HEAD, layout: "unified", id: "r1" } as const;
  const [[record] = []] = readOldFiles(disk, [file]).runs;
  const items = record?.read.ok === true ? (record.read.value.map?.items ?? []) : [];
  expect([items.length, items[1]?.result, items[7]?.state]).toEqual([ITEMS, "value-1 of 1", "failed"]);
  disk.unlink(PAGES);
  expect(readOldFiles(disk, [file]).bad.map(({ read }) => !read.ok && read.error.code)).toEqual(["no-items"]);
});
