// Workflow runs on real daemons, which are killed at chosen moments.
import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { CheckpointStorage, findResumable } from "../../src/home/checkpoint-storage.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { daemonHomes, killIfThere } from "../daemon/home.ts";
import { boot, powerCut } from "../daemon/power-cut.ts";
import { until } from "../until.ts";
import { counting, Runs } from "./runs.ts";

const newHome = daemonHomes();
const MINUTE = 60_000;

test("a run of shell and set steps ends by itself, passes its values on and reports its failures", async () => {
  const home = newHome();
  const runs = new Runs(home);
  await home.live();
  const id = await runs.begin(
    [
      "name: greeting",
      "parameters: { who: { required: true }, times: { type: number, default: 1 } }",
      "steps:",
      "  - shell: printf '%s' ${who}",
      "    capture: name",
      "  - set: { note: 'for ${name}, ${times}' }",
      "  - shell: cat; echo ${note} $MY_TOKEN >> effects",
      "  - agent: { provider: scripted, prompt: 'say ${name}', command: [cat] }",
      "    capture: said",
      "  - shell: echo ${said} >> effects",
    ].join("\n"),
    { who: "a $(touch oops) b", times: "2" },
  );
  const { records, ended, steps, endedAt } = await runs.is(id, "done");
  expect({ ended, steps }).toEqual({ ended: 5, steps: 5 });
  expect(records.map(({ attempt = "" }) => attempt)).toEqual([`${id}.1`, "", `${id}.2`, `${id}.3`, `${id}.4`]);
  expect([...records.map(({ at = "" }) => at), endedAt]).toEqual(
    [...records.map(({ at = "" }) => at), endedAt].toSorted(),
  );
  expect(records.map(({ outcome }) => outcome)).toEqual(Array(5).fill("succeeded"));
  expect(runs.lines()).toEqual(["for a $(touch oops) b, 2 hush", "say a $(touch oops) b"]);
  expect(home.text("oops")).toBe("");
  expect((await home.must("status", {})).counts.workflows).toBe(0);
  expect(await runs.log(id)).not.toContain("hush");
});

test("a failing step fails the run with its exit code, a retry is waited for, and a timeout stops it", async () => {
  const home = newHome();
  const runs = new Runs(home);
  await home.live();
  const failing = await runs.begin("steps:\n  - shell: exit 7\n  - shell: echo never >> effects\n");
  expect((await runs.is(failing, "failed")).error).toMatchObject({ exitCode: 7 });
  const again = await runs.begin(
    'steps:\n  - shell: echo try >> tries; [ "$HOLDFAST_TRY" = 3 ]\n    retry: { attempts: 3, backoff: 10ms }\n',
  );
  expect((await runs.is(again, "done")).records).toMatchObject([{ tries: 3, attempt: `${again}.3` }]);
  expect(runs.lines("tries")).toEqual(["try", "try", "try"]);
  const slow = await runs.begin("steps:\n  - shell: sleep 1000\n    timeout: 50ms\n");
  expect((await runs.is(slow, "failed")).error?.message).toContain("Timed out after 0.05 s.");
  const refused = await runs.begin("steps:\n  - agent: { provider: nobody, prompt: hello }\n");
  expect((await runs.is(refused, "failed")).error?.message).toContain(
    "There is no provider nobody. Use one of claude, ",
  );
  expect(runs.lines()).toEqual([]);
});

test(
  "a machine crash in step 3 makes it uncertain; steps 1 and 2 are not run again, and a decision continues the run",
  async () => {
    const home = newHome();
    const runs = new Runs(home);
    await home.live(boot(1));
    const id = await runs.begin(
      counting(5, 0.1).replace("sleep 0.1; echo s3", "echo begun >> effects; sleep 1000; echo s3"),
    );
    await until(
      "step 3 runs",
      () => runs.lines().includes("begun"),
      () => runs.lines(),
    );
    await powerCut(home);
    writeFileSync(home.file("flow.yml"), "gone: true\n");
    await home.live(boot(2));
    const found = await runs.is(id, "uncertain");
    expect(found.step).toBe(3);
    expect(found.needs).toEqual([
      { attempt: `${id}.3`, step: "s3", why: "the machine went down", agent: null, prompt: null },
    ]);
    expect(runs.lines()).toEqual(["s1", "s2", "begun"]);
    const item = (await home.report()).items.find((one) => one.id === id);
    expect(item).toMatchObject({ what: "workflow", fate: "needs you", next: `holdfast resume ${id.slice(0, 8)}` });
    await home.must("workflow.resolve", { id, attempt: `${id}.3`, verdict: "done" });
    await runs.is(id, "done");
    expect(runs.lines()).toEqual(["s1", "s2", "begun", "s4", "s5"]);
  },
  MINUTE,
);

test(
  "an idempotent step is run again after a machine crash, and one left behind by its holder's death is stopped first",
  async () => {
    const home = newHome();
    const runs = new Runs(home);
    await home.live(boot(1));
    const text = "steps:\n  - shell: echo begun >> effects; [ -e go ] || sleep 1000\n    idempotent: true\n";
    const id = await runs.begin(text);
    await until(
      "it runs",
      () => runs.lines().length === 1,
      () => runs.lines().length,
    );
    await powerCut(home);
    await home.live(boot(2));
    await until(
      "it runs again",
      () => runs.lines().length === 2,
      () => runs.lines().length,
    );
    // Not before it sleeps: until then it may see `go`, and succeed.
    const left = await until(
      "it sleeps",
      () => home.ours().find((pid) => home.commandOf(pid).startsWith("sleep")),
      () => home.ours(),
    );
    writeFileSync(home.file("go"), "");
    killIfThere(runs.holder(id, 2));
    await runs.is(id, "done");
    expect(home.ours()).not.toContain(left);
    expect(runs.lines()).toEqual(["begun", "begun", "begun"]);
  },
  MINUTE,
);

test("interrupt stops what runs and resume restarts that step; cancel is final; a repeated request is one run", async () => {
  const home = newHome();
  const runs = new Runs(home);
  await home.live();
  const id = await runs.begin(
    "steps:\n  - shell: echo one >> effects\n  - shell: echo two >> effects; [ -e go ] || sleep 1000\n",
  );
  expect(await runs.begin("steps: []\n", {}, id)).toBe(id);
  await until(
    "the second runs",
    () => runs.lines().length === 2,
    () => runs.lines().length,
  );
  await home.must("workflow.interrupt", { id });
  await runs.is(id, "interrupted");
  writeFileSync(home.file("go"), "");
  await home.must("workflow.resume", { id, force: false });
  await runs.is(id, "done");
  expect(runs.lines()).toEqual(["one", "two", "two"]);
  const other = await runs.begin("steps:\n  - shell: sleep 1000\n");
  await home.must("workflow.cancel", { id: other });
  await runs.is(other, "cancelled");
  expect(home.ours().filter((pid) => home.commandOf(pid).startsWith("sleep"))).toEqual([]);
});

test(
  "a map processes its items in parallel, from a file, a command and a pattern, and reduces the results",
  async () => {
    const home = newHome();
    const runs = new Runs(home);
    await home.live();
    const flow = (input: string) =>
      [
        "mode: mapreduce",
        "setup:",
        "  - shell: printf 'a\\nb\\nc\\n' > list.txt; mkdir -p in; touch in/x.md in/y.md in/z.txt",
        "map:",
        `  input: ${input}`,
        "  max_parallel: 2",
        "  steps:",
        "    - shell: echo ${item} >> items; [ ${item} != b ]",
        "reduce:",
        "  - shell: echo ${map.successful} ${map.failed} >> effects",
      ].join("\n");
    await runs.is(await runs.begin(flow("list.txt")), "done_with_failures");
    await runs.is(await runs.begin(flow("{ command: cat list.txt }")), "done_with_failures");
    await runs.is(await runs.begin(flow("{ glob: '**/*.md' }")), "done");
    expect(runs.lines()).toEqual(["2 1", "2 1", "2 0"]);
    const missing = await runs.begin(flow("nowhere.txt"));
    expect((await runs.is(missing, "failed")).error?.message).toContain("nowhere.txt");
  },
  MINUTE,
);

test("UC-4(a) UC-6(a,b,c,d,f) UC-7(a,c,d) checkpoints exist when a run rests, are complete with the log's tail, and a damaged one falls back", async () => {
  const home = newHome();
  const runs = new Runs(home);
  const daemon = await home.live();
  // The second waits for a checkpoint from before it: faster changes are combined, and then there is no history.
  const saved = "grep -qs $HOLDFAST_TERMINAL state/*/sessions/*/checkpoint.json";
  const id = await runs.begin(
    `steps:\n  - id: a\n    shell: echo x\n    capture: got\n  - id: b\n    shell: until ${saved}; do sleep 0.01; done; exit 4\n`,
  );
  const { repo } = await runs.is(id, "failed");
  await runs.log(id);
  const place = `state/${repo}/sessions/${id}`;
  const read = () => JSON.parse(home.text(`${place}/checkpoint.json`) || "null");
  await until(
    "the checkpoint is complete",
    () => read()?.state.kind === "Failed",
    () => read()?.state.kind,
  );
  const body = read();
  expect(body).toMatchObject({ kind: "workflow", session_id: id, reason: "StepFailed", variables: { got: "x" } });
  expect(body.completed_steps[0]).toMatchObject({ step: "a", command: "echo x", output: "x\n", outcome: "succeeded" });
  await home.stop(daemon);
  const world = { disk: realDisk(), clock: realClock(), home: home.path };
  const log = await EventLog.open(world, {});
  const storage = new CheckpointStorage(world);
  const loaded = storage.current(log, place);
  expect(loaded).toMatchObject({ ok: true, value: { from: home.file(`${place}/checkpoint.json`), problems: [] } });
  expect(storage.load(place)).toMatchObject({
    ok: true,
    value: { newest: { saved: { session_id: id } }, problems: [] },
  });
  expect(loaded.ok && findResumable([loaded.value]).map(({ session }) => session)).toEqual([place]);
  expect(storage.listHistory(place).every(({ valid }) => valid)).toBe(true);
  expect(storage.loadFromHistory(place, 0)).toMatchObject({ ok: true, value: { session_id: id } });
  expect(storage.loadFromHistory(place, 99).ok).toBe(false);
  writeFileSync(home.file(`${place}/checkpoint.json`), "");
  const fallen = storage.current(log, place);
  if (!fallen.ok || !loaded.ok) throw new Error("it is there");
  expect(fallen.value.problems.map(({ code }) => code)).toEqual(["empty"]);
  expect(fallen.value.from).toContain("/history/");
  const strip = ({ created_at: _, ...rest }: typeof fallen.value.checkpoint) => rest;
  expect(strip(fallen.value.checkpoint)).toEqual(strip(loaded.value.checkpoint));
  for (const name of ["checkpoint.json", "history"]) rmSync(home.file(`${place}/${name}`), { recursive: true });
  const bare = storage.current(log, place);
  expect(bare.ok && bare.value.from).toBe(null);
  expect(bare.ok && strip(bare.value.checkpoint)).toEqual(strip(loaded.value.checkpoint));
  expect(storage.current(log, `state/${repo}/sessions/nobody`).ok).toBe(false);
  await log.close();
});

test("a step that writes far more than is kept is not slowed down, and the end of its output is kept", async () => {
  const home = newHome();
  const runs = new Runs(home);
  await home.live();
  const id = await runs.begin("steps:\n  - shell: head -c 20000000 /dev/zero | tr '\\\\0' x; echo the end\n");
  await runs.is(id, "done");
  expect(await runs.log(id)).toContain('"output_bytes":20000008');
});

test("SM-3(b,g) in safe mode no step begins; waiting ones continue by themselves when the operator leaves it", async () => {
  const home = newHome();
  const runs = new Runs(home);
  await home.live({ HOLDFAST_SAFE_MODE: "a test" });
  const id = await runs.begin("steps:\n  - set: { a: 1 }\n  - shell: echo one >> effects\n");
  const other = await home.open("t", ["sleep", "1000"]);
  await home.is(other, "running");
  expect({ state: (await runs.show(id)).state, lines: runs.lines() }).toEqual({ state: "running", lines: [] });
  await home.must("safe-mode.exit", {});
  await runs.is(id, "done");
  expect(runs.lines()).toEqual(["one"]);
});

test(
  "consecutive steps share a holder; one killed at rest is not missed, and none stays when there is nothing to do",
  async () => {
    const home = newHome();
    const runs = new Runs(home);
    await home.live();
    const id = await runs.begin(`steps:\n  - shell: "true"\n  - shell: "true"\n  - shell: exit 3\n`);
    await runs.is(id, "failed");
    expect([runs.holder(id, 2), runs.holder(id, 3)]).toEqual([runs.holder(id, 1), runs.holder(id, 1)]);
    killIfThere(runs.holder(id, 3));
    const other = await runs.begin('steps:\n  - shell: "true"\n');
    await runs.is(other, "done");
    expect(runs.holder(other, 1)).not.toBe(runs.holder(id, 3));
    await until(
      "none is left",
      () => !home.ours().some((pid) => home.commandOf(pid).includes("--orders")),
      () => home.ours(),
    );
  },
  MINUTE,
);
