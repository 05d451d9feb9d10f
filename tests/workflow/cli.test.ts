// `holdfast run`, `workflows`, `resume` and `cancel` as a user types them.
import { afterEach, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { MINUTE, place } from "./place.ts";

afterEach(endAll);

test(
  "run --check reports line and column of every mistake, and starts nothing",
  async () => {
    const { home, write, file } = place();
    write("bad.yml", "steps:", "  - shel: ls", "  - shell: echo ${nothing}");
    const bad = await home.run("run", "--check", "bad.yml");
    expect(bad.code).toBe(1);
    expect(bad.err).toContain("bad.yml:2:5: ");
    write("good.yml", "steps:", "  - shell: ls", "  - set: { a: 1 }");
    expect(await home.run("run", "--check", "good.yml")).toMatchObject({
      code: 0,
      err: "holdfast: good.yml is valid: standard, 2 steps.\n",
    });
    write("one.yml", "steps:", "  - shell: ls");
    expect((await home.run("run", "--check", "one.yml")).err).toBe("holdfast: one.yml is valid: standard, 1 step.\n");
    expect(await home.json("run", "--check", "good.yml")).toMatchObject({ name: "good", mode: "standard", steps: 2 });
    expect((await home.run("run", "nowhere.yml")).code).toBe(4);
    expect(existsSync(file("run"))).toBe(false);
  },
  MINUTE,
);

test(
  "run follows to the end and returns the workflow's exit code; parameters come from arguments and from a file",
  async () => {
    const { home, write, text } = place();
    write("set.yml", "steps:", "  - set: { a: 1 }", "  - set: { b: '${a}' }", "  - set: { c: '${a + b}' }");
    const quick = await home.run("run", "set.yml");
    expect(quick).toMatchObject({ code: 0, out: "" });
    expect(quick.err).toMatch(
      /set is running as [0-9a-f]{8}\.\n(?:set\S*: done \(0\.0 s\)\n){3}holdfast: set is done\.\n/,
    );
    write("params.yml", "count: 3", "who: nobody");
    write(
      "flow.yml",
      "name: greet",
      "parameters: { who: { required: true }, count: { type: number, default: 1 } }",
      "steps:",
      "  - id: one",
      "    shell: echo ${who} ${count} >> said",
      "  - id: two",
      "    shell: exit 9",
    );
    const failed = await home.run("run", "flow.yml", "--param-file", "params.yml", "--param", "who=ann b");
    expect(failed.code).toBe(9);
    expect(failed.err).toContain("one: done");
    expect(failed.err).toContain("two: FAILED");
    expect(failed.err).toMatch(/greet failed: two: It ended with exit code 9\.\n {2}→ holdfast resume [0-9a-f]{8}/);
    expect(text("said")).toBe("ann b 3\n");
    expect((await home.run("run", "flow.yml")).err).toContain("The parameter who is missing.");
    expect((await home.run("run", "flow.yml", "--param", "who")).code).toBe(2);
    const rows = await home.json("workflows");
    expect(rows.map(({ name, state, step, steps }: Record<string, unknown>) => [name, state, step, steps])).toEqual([
      ["set", "done", 3, 3],
      ["greet", "failed", 2, 2],
    ]);
    expect(Object.keys(rows[0]).slice(0, 7)).toEqual(["id", "name", "path", "state", "step", "steps", "startedAt"]);
    expect(await home.ok("workflows")).toMatch(/greet .* failed: step 2 \(two\) +holdfast resume [0-9a-f]{8}\n/);
    expect((await home.run("resume", "greet")).code).toBe(9);
    expect((await home.run("resume", "set")).err).toContain("set is done.");
    expect((await home.run("cancel", "nobody")).code).toBe(4);
    await home.ok("cancel", "greet");
    expect((await home.run("resume")).err).toContain("There is no run to resume.");
  },
  MINUTE,
);

test(
  "Ctrl-C interrupts the run and resume continues it; Ctrl-\\ only stops watching; the daemon's death is not noticed",
  async () => {
    const { home, write, text } = place();
    const slow = "echo two >> said; until [ -e go ]; do sleep 0.05; done";
    write("flow.yml", "steps:", "  - id: one", "    shell: echo one >> said", "  - id: two", `    shell: ${slow}`);
    const window = home.window(["run", "flow.yml"]);
    await until(
      "step two runs",
      () => text("said") === "one\ntwo\n",
      () => text("said"),
    );
    await window.shows("running: step 2 of 2 (two)");
    window.type("\x1c");
    expect(await window.exited).toBe(0);
    expect(window.seen).toContain("flow continues");
    const [{ id }] = await home.json("workflows");
    const again = home.window(["resume", id]);
    await again.shows("running: step 2 of 2");
    const { daemon } = await home.status();
    process.kill(daemon.pid, "SIGKILL");
    await until(
      "another daemon lives",
      async () => (await home.status()).daemon.pid !== daemon.pid,
      async () => (await home.status()).daemon.pid,
    );
    again.type("\x03");
    expect(await again.exited).toBe(130);
    expect(again.seen).toContain("flow was interrupted");
    expect((await home.json("workflows"))[0].state).toBe("interrupted");
    writeFileSync(join(home.path, "go"), "");
    expect((await home.run("resume")).code).toBe(0);
    expect(text("said")).toBe("one\ntwo\ntwo\n");
  },
  MINUTE,
);

test(
  "an uncertain step is shown with the possible answers, exit 3, and continues with a person's answer",
  async () => {
    const { home, write, text } = place();
    write(
      "flow.yml",
      "steps:",
      "  - id: one",
      "    shell: echo $PPID > holder; sleep 1000",
      "  - shell: echo two >> said",
    );
    const id = (await home.ok("run", "-d", "flow.yml")).trim();
    await until(
      "step one runs",
      () => text("holder").trim() !== "",
      () => text("holder").trim(),
    );
    process.kill(Number(text("holder")), "SIGKILL");
    await until(
      "it is uncertain",
      async () => (await home.json("workflows"))[0].state === "uncertain",
      async () => (await home.json("workflows"))[0].state,
    );
    expect(await home.ok("workflows")).toContain("uncertain: step 1 (one)");
    const asked = await home.run("resume");
    expect(asked.code).toBe(3);
    expect(asked.err).toContain(`holdfast resume ${id.slice(0, 8)} --done`);
    expect((await home.run("resume", "--done", "--rerun")).code).toBe(2);
    expect((await home.run("resume", id.slice(0, 6), "--done")).code).toBe(0);
    expect(text("said")).toBe("two\n");
    expect((await home.run("resume", id, "--done")).code).toBe(1);
  },
  MINUTE,
);

test(
  "down leaves a step running and up adopts it; down --kill interrupts the run first",
  async () => {
    const { home, write, text } = place();
    write("flow.yml", "steps:", "  - shell: echo $$ > pid; until [ -e go ]; do sleep 0.05; done; echo one >> said");
    await home.ok("run", "-d", "flow.yml");
    await until(
      "it runs",
      () => text("pid") !== "",
      () => text("pid"),
    );
    await home.ok("down");
    // Settled: `down` leaves it running; had it ended, it would stay so.
    expect(existsSync(`/proc/${text("pid").trim()}`)).toBe(true);
    expect((await home.json("workflows"))[0].state).toBe("running"); // Read from disk.
    await home.ok("up");
    expect((await home.json("workflows"))[0].state).toBe("running");
    await home.ok("down", "--kill");
    // Settled: `down --kill` returns when it is gone.
    expect(existsSync(`/proc/${text("pid").trim()}`)).toBe(false);
    writeFileSync(join(home.path, "go"), "");
    expect((await home.json("workflows"))[0].state).toBe("interrupted");
    expect((await home.run("resume", "--json")).out).toContain('"state":"done"');
    expect(text("said")).toBe("one\n");
  },
  MINUTE,
);

test(
  "down --kill on a home that is down ends the program of a step, and its run is interrupted",
  async () => {
    const { home, write, text } = place();
    write("flow.yml", "steps:", "  - shell: echo $$ > pid; until [ -e go ]; do sleep 0.05; done; echo one >> said");
    await home.ok("run", "-d", "flow.yml");
    await until(
      "it runs",
      () => text("pid") !== "",
      () => text("pid"),
    );
    await home.ok("down");
    await home.ok("down", "--kill");
    // Settled: `down --kill` returns when it is gone.
    expect(existsSync(`/proc/${text("pid").trim()}`)).toBe(false);
    const { watchdog, daemon } = await home.status();
    expect([watchdog.pid, daemon.pid]).toEqual([null, null]);
    expect((await home.json("workflows"))[0].state).toBe("interrupted");
    await home.ok("down", "--kill");
    writeFileSync(join(home.path, "go"), "");
    expect((await home.run("resume", "--json")).out).toContain('"state":"done"');
    expect(text("said")).toBe("one\n");
  },
  MINUTE,
);

test(
  "a changed file is shown step by step, and resume takes the changes or continues with the old one",
  async () => {
    const { home, write, text } = place();
    const one = ["steps:", "  - id: one", "    shell: echo one >> said"];
    write("flow.yml", ...one, "  - id: two", "    shell: exit 5");
    expect((await home.run("run", "flow.yml")).code).toBe(5);
    write(
      "flow.yml",
      ...one,
      "  - id: two",
      "    shell: echo two >> said",
      "  - id: three",
      "    shell: echo 3 >> said",
    );
    const asked = await home.run("resume");
    expect(asked.code).toBe(3);
    expect(asked.err).toContain("changed: two\n  added: three\n");
    expect((await home.run("resume", "--unchanged")).code).toBe(5);
    expect((await home.run("resume", "--accept-changes")).code).toBe(0);
    expect(text("said")).toBe("one\ntwo\n3\n");
  },
  MINUTE,
);

test(
  "UC-11(b) failed items are listed, retried after the run's end, and removed",
  async () => {
    const { home, write, text } = place();
    write(
      "flow.yml",
      "mode: mapreduce",
      "map:",
      "  input: { command: seq 1 5 }",
      "  steps:",
      "    - id: work",
      "      shell: '[ -e go-${item} ] || [ ${item} -lt 4 ]'",
      "reduce:",
      "  - shell: echo ${map.successful} ${map.failed} >> said",
    );
    const ran = await home.run("run", "flow.yml");
    expect([ran.code, ran.err]).toEqual([
      1,
      expect.stringContaining("flow is done with 2 failed items.\n  → holdfast dlq ls "),
    ]);
    expect(await home.ok("workflows")).toContain("done with 2 failed items");
    expect(await home.json("workflows")).toMatchObject([{ state: "done_with_failures", items: { failed: 2 } }]);
    expect((await home.run("resume", "flow")).err).toContain("holdfast dlq retry");
    const letters: { item: number; value: string; step: string }[] = await home.json("dlq", "ls", "flow");
    expect(letters.map(({ item, value, step }) => [item, value, step])).toEqual([
      [3, "4", "work"],
      [4, "5", "work"],
    ]);
    writeFileSync(join(home.path, "go-4"), "");
    expect((await home.run("dlq", "retry", "flow")).code).toBe(1);
    expect(await home.ok("dlq", "ls", "flow")).toMatch(/^ITEM .*\n4 .*work .*exit code 1\. +5\n$/);
    await home.ok("dlq", "clear", "flow");
    expect((await home.run("dlq", "ls", "flow")).err).toContain("The dead-letter queue is empty.");
    expect(text("said")).toBe("3 2\n4 1\n");
  },
  MINUTE,
);

test(
  "UC-11(b) single items are shown in full, retried and removed; a number that is in no queue is refused",
  async () => {
    const { home, write, text } = place();
    write("items.json", '[{"n":1},{"n":2},{"n":3}]');
    write(
      "flow.yml",
      "mode: mapreduce",
      "map:",
      "  input: items.json",
      "  on_item_failure: continue",
      "  steps:",
      "    - id: work",
      "      shell: '[ -e go-${item.n} ]'",
      "reduce:",
      "  - shell: echo ${map.successful} ${map.failed} >> said",
    );
    expect((await home.run("run", "flow.yml")).code).toBe(0);
    expect(await home.json("dlq", "show", "flow.yml", "1")).toMatchObject({
      item: 1,
      value: { n: 2 },
      state: "failed",
      tries: 1,
      error: { step: "work", exitCode: 1 },
    });
    expect(await home.ok("dlq", "show", "flow", "0")).toContain('value: {\n  "n": 1\n}\n');
    expect((await home.run("dlq", "show", "flow", "9")).code).toBe(4);
    write("go-1", "");
    write("go-3", "");
    expect((await home.run("dlq", "retry", "flow", "0", "1")).code).toBe(0);
    expect(text("said")).toBe("0 3\n1 2\n");
    expect((await home.run("dlq", "retry", "flow", "0")).err).toContain("Item 0 is not in the dead-letter queue.");
    expect((await home.run("dlq", "retry", "flow", "x")).code).toBe(2);
    await home.ok("dlq", "clear", "flow", "1");
    const left: { item: number; tries: number }[] = await home.json("dlq", "ls", "flow");
    expect(left.map(({ item, tries }) => [item, tries])).toEqual([[2, 1]]);
    expect((await home.ok("__complete", "--", "dlq", "retry", "")).split("\n")).toContain("flow");
  },
  MINUTE,
);
