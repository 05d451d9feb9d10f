// AC1 … AC10 of the specification of unified checkpoints, each by its name: a real daemon, the real command line, and
// the result of `load()`. Steps count from 0, as there: step 3 is the fourth.
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkflowCheckpoint } from "../../src/core/workflow/checkpoint.ts";
import { planResume } from "../../src/core/workflow/resume.ts";
import { endAll, Home } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { checkpointOf, currentRun, stateIn, storageOf } from "./look.ts";

afterAll(endAll);
const MINUTE = 60_000;

/** One Holdfast for all of them; each in its own repository. */
const home = new Home();

class Place {
  readonly name: string;

  constructor(name: string, ...lines: readonly string[]) {
    this.name = name;
    mkdirSync(join(home.path, name, ".git"), { recursive: true });
    this.write("flow.yml", `${lines.join("\n")}\n`);
  }

  write(file: string, text: string): void {
    writeFileSync(join(home.path, this.name, file), text);
  }

  text(file: string): string {
    const path = join(home.path, this.name, file);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  cli(...args: readonly string[]) {
    return home.at(this.name, {}, ...args);
  }

  /** Starts it and returns its id. */
  async begin(): Promise<string> {
    const { code, out, err } = await this.cli("run", "-d", "flow.yml");
    if (code !== 0) throw new Error(err);
    return out.trim();
  }

  /** The canonical place of a run's files. */
  session(id: string): string {
    return join(home.path, "state", this.name, "sessions", id);
  }

  /** `checkpoint.json` itself, without later events of the log. */
  file(id: string): (WorkflowCheckpoint & { kind: string }) | undefined {
    const path = join(this.session(id), "checkpoint.json");
    return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
  }

  async is(id: string, state: string): Promise<void> {
    await until(
      `${this.name} is ${state}`,
      () => stateIn(checkpointOf(home.path, id)) === state,
      () => stateIn(checkpointOf(home.path, id)),
    );
  }
}

/** Three quick steps, the third of which captures a value; then step 3. */
function upToStep3(...more: readonly string[]): string[] {
  return [
    "steps:",
    "  - shell: echo zero >> effects",
    "  - shell: echo one >> effects",
    "  - { shell: 'echo two >> effects; echo kept', capture: x }",
    ...more,
  ];
}

const GATE = "until [ -e go ]; do sleep 0.02; done";
const WAITS = `  - { shell: '${GATE}; echo three $\{x} >> effects; echo out' }`;

const OF_ALL = [
  ...["version", "session_id", "workflow_path", "worktree_path", "state", "completed_steps", "variables"],
  ...["workflow_type", "mapreduce_state", "created_at", "reason", "integrity_hash", "run"],
];

test(
  "UC-1(a,b) AC1 one checkpoint for standard, iterative and map-reduce runs, with path, variables, steps and a version",
  async () => {
    const places = [
      new Place("ac1-standard", "steps:", "  - { shell: echo a, capture: x }"),
      new Place("ac1-iterative", "mode: iterative", "max_iterations: 2", "steps:", "  - set: { x: '${iteration}' }"),
      new Place(
        "ac1-mapreduce",
        ...["mode: mapreduce", "map:", "  input: { command: 'seq 2' }", "  steps: [{ shell: 'echo ${item}' }]"],
        ...["reduce:", "  - set: { x: '${map.successful}' }"],
      ),
    ];
    const seen = await Promise.all(
      places.map(async (place) => {
        expect((await place.cli("run", "flow.yml")).code).toBe(0);
        const id = readdirSync(join(home.path, "state", place.name, "sessions"))[0] ?? "";
        const found = checkpointOf(home.path, id);
        await until(
          "its file is complete",
          () => stateIn(place.file(id)) === stateIn(found),
          () => stateIn(place.file(id)),
        );
        expect(place.file(id)).toMatchObject({
          kind: "workflow",
          integrity_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        });
        return { place, found };
      }),
    );
    for (const { place, found } of seen) {
      expect(Object.keys(found ?? {}).sort()).toEqual(OF_ALL.toSorted());
      expect(found).toMatchObject({ version: 3, workflow_path: join(home.path, place.name, "flow.yml") });
    }
    expect(seen.map(({ found }) => [found?.workflow_type.kind, found?.variables["x"]])).toEqual([
      ["Standard", "a"],
      ["Iterative", 2],
      ["MapReduce", 2],
    ]);
    expect(seen.map(({ found }) => found?.mapreduce_state === null)).toEqual([true, true, false]);
    const [standard] = seen;
    expect(standard?.found?.completed_steps).toMatchObject([
      { step_index: 0, command: "echo a", output: "a\n", captured_variables: { x: "a" } },
    ]);
  },
  MINUTE,
);

test(
  "UC-2(a,b) UC-3(a,b) UC-4(a) AC3 AC4 before step 3 it is BeforeStep 3 in the canonical place; after it Completed 3 with its output, and the previous one is in the history",
  async () => {
    const place = new Place("ac3", ...upToStep3(WAITS));
    const id = await place.begin();
    await place.is(id, "BeforeStep 3");
    await until(
      "its file shows the same state",
      () => stateIn(place.file(id)) === "BeforeStep 3",
      () => stateIn(place.file(id)),
    );
    expect(place.file(id)).toMatchObject({ session_id: id, reason: "BeforeStep", variables: { x: "kept" } });
    place.write("go", "");
    await place.is(id, "Completed 3");
    await until(
      "its file shows the same state",
      () => stateIn(place.file(id)) === "Completed 3",
      () => stateIn(place.file(id)),
    );
    const now = checkpointOf(home.path, id);
    expect(now?.state).toEqual({ kind: "Completed", step_index: 3, output: "out\n" });
    expect(now?.completed_steps.map(({ step_index, outcome }) => [step_index, outcome])).toEqual(
      [0, 1, 2, 3].map((at) => [at, "succeeded"]),
    );
    const before = storageOf(home.path).loadFromHistory(`state/ac3/sessions/${id}`, 0);
    expect(before.ok && stateIn(before.value)).toBe("BeforeStep 3");
  },
  MINUTE,
);

test(
  "UC-2(a,b) UC-3(c) UC-4(a) UC-7(a) UC-8(a,c,d) AC2 AC5 AC7 AC9 AC10 a failure of step 3 is Failed 3, retryable; resume finds it in its place, retries step 3 and no others, with its variables",
  async () => {
    const failing = "  - { shell: 'echo try ${x} >> effects; [ -e mended ]' }";
    const place = new Place("ac5", ...upToStep3(failing, "  - { shell: 'echo four ${x} >> effects' }"));
    const { code } = await place.cli("run", "flow.yml");
    expect(code).toBe(1);
    const [id = ""] = readdirSync(join(home.path, "state/ac5/sessions"));
    await until(
      "AC7 the checkpoint is in its place",
      () => stateIn(place.file(id)) === "Failed 3",
      () => stateIn(place.file(id)),
    );
    const found = checkpointOf(home.path, id);
    const error = "It ended with exit code 1.";
    expect(found?.state).toEqual({ kind: "Failed", step_index: 3, error, retryable: true });
    expect(found?.reason).toBe("StepFailed");
    if (found === undefined) throw new Error("it is there");
    expect(planResume(found, () => ({ kind: "not-started" }))).toMatchObject({
      ...{ start_index: 3, retry_current: true, skip_steps: [0, 1, 2] },
    });
    expect(found.variables).toEqual({ x: "kept" });
    place.write("mended", "");
    const resumed = await place.cli("resume", id);
    expect({ code: resumed.code, effects: place.text("effects").split("\n") }).toEqual({
      code: 0,
      effects: ["zero", "one", "two", "try kept", "try kept", "four kept", ""],
    });
    expect(stateIn(checkpointOf(home.path, id))).toBe("Completed 4");
    expect((await place.cli("resume", "session-abc123")).err).toContain("session-abc123");
  },
  MINUTE,
);

test(
  "UC-2(a,b) UC-3(d) UC-8(d) AC6 Ctrl-C in step 3 is Interrupted 3, in progress, and the step is pending: resume runs it, and nothing before it",
  async () => {
    const place = new Place("ac6", ...upToStep3(WAITS));
    const window = home.window(["run", "ac6/flow.yml"]);
    await window.shows("running: step 4 of 4");
    window.type("\x03");
    expect(await window.exited).toBe(130);
    // It was started in the home's own directory, which is not a repository: the directory's name is used.
    const [row] = (await home.json("workflows")).filter(({ path }: { path: string }) => path.includes("/ac6/"));
    const found = checkpointOf(home.path, row.id);
    expect(found?.state).toEqual({ kind: "Interrupted", step_index: 3, in_progress: true });
    expect(found?.reason).toBe("Signal");
    expect(found && planResume(found, () => ({ kind: "not-started" })).retry_current).toBe(true);
    writeFileSync(join(home.path, "go"), "");
    expect((await home.run("resume", row.id)).code).toBe(0);
    expect(readFileSync(join(home.path, "effects"), "utf8")).toBe("zero\none\ntwo\nthree kept\n");
    expect(place.text("effects")).toBe("");
  },
  MINUTE,
);

test(
  "UC-4(b) UC-7(d) AC8 each write keeps the previous one under a timestamp; a corrupt latest one is skipped and reported, and resume continues",
  async () => {
    const place = new Place("ac8", ...upToStep3(`  - { shell: '${GATE}; exit 1' }`));
    const id = await place.begin();
    await place.is(id, "BeforeStep 3");
    await until(
      "it is saved",
      () => stateIn(place.file(id)) === "BeforeStep 3",
      () => stateIn(place.file(id)),
    );
    place.write("go", "");
    await place.is(id, "Failed 3");
    await until(
      "it is saved",
      () => stateIn(place.file(id)) === "Failed 3",
      () => stateIn(place.file(id)),
    );
    const names = readdirSync(join(place.session(id), "history"));
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !/^checkpoint-\d[\dTZ.:_-]*\.json$/.test(name))).toEqual([]);
    await home.ok("down");
    const whole = checkpointOf(home.path, id);
    writeFileSync(join(place.session(id), "checkpoint.json"), '{"half": ');
    const fallen = currentRun(home.path, id);
    expect(fallen.ok && [stateIn(fallen.value.checkpoint), fallen.value.problems.length]).toEqual(["Failed 3", 1]);
    expect(fallen.ok && fallen.value.from).toContain("/history/checkpoint-");
    expect(fallen.ok && fallen.value.checkpoint.variables).toEqual(whole?.variables ?? {});
    place.write("flow.yml", place.text("flow.yml").replace("exit 1", "echo three ${x} >> effects"));
    const { code, err } = await place.cli("resume", id, "--accept-changes");
    expect({ code, err, effects: place.text("effects") }).toMatchObject({
      code: 0,
      effects: "zero\none\ntwo\nthree kept\n",
    });
  },
  MINUTE,
);
