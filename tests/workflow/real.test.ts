// A workflow file, run by a real shell: from YAML to variables.
import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toRecord } from "../../src/base/table.ts";
import { applyWorkflow } from "../../src/core/workflow/apply.ts";
import type { WorkflowCommand, WorkflowEffect } from "../../src/core/workflow/commands.ts";
import { decideWorkflow } from "../../src/core/workflow/decide.ts";
import { effectsOf } from "../../src/core/workflow/effects.ts";
import { inputPlace, itemPages } from "../../src/core/workflow/items.ts";
import { launchOf } from "../../src/core/workflow/launch.ts";
import { type Run, stateOf } from "../../src/core/workflow/run.ts";
import { readWorkflow } from "../../src/wire/files/workflow-file.ts";
import { isOver } from "./stories.ts";

/** A minimal runner: one effect after the other, with time standing still. */
function runFile(text: string, cwd: string): Run {
  const definition = readWorkflow(new TextEncoder().encode(text), "real");
  if (!definition.ok) throw new Error(JSON.stringify(definition.error));
  const runs = new Map<string, Run>();
  let now = 0;
  const submit = (command: WorkflowCommand): Run => {
    const decided = decideWorkflow(runs, command, new Date(now).toISOString());
    if (!decided.ok) throw new Error(decided.error.message);
    for (const event of decided.value.events) runs.set(event.id, applyWorkflow(runs.get(event.id), event));
    const run = runs.get(command.id);
    if (run === undefined) throw new Error("there is no run");
    return run;
  };
  const place = { path: "x.yml", repo: "r", cwd, worktree: undefined, environment: { PATH: "/usr/bin:/bin" } };
  let run = submit({
    kind: "create",
    id: "r1",
    ...place,
    definition: definition.value,
    sourceSha256: "",
    parameters: {},
  });
  while (!isOver(run)) {
    const [effect] = effectsOf(run);
    if (effect === undefined) throw new Error(`nothing to do in ${stateOf(run)}`);
    if (effect.kind === "timer") now = Date.parse(effect.at);
    run = submit(effect.kind === "timer" ? { kind: "wake", id: "r1" } : performed(run, effect));
  }
  return run;
}

function performed(run: Run, effect: WorkflowEffect): WorkflowCommand {
  if (effect.kind === "advance") return { kind: "advance", id: run.id };
  if (effect.kind === "read-items") {
    const listed = inputPlace(run);
    const bytes = listed.ok && listed.value !== undefined ? readFileSync(listed.value.path) : new Uint8Array();
    const pages = itemPages(run, { kind: "text", bytes }, effect.from);
    const [first = "[]", ...rest] = pages.ok ? pages.value : [];
    return { kind: "items-read", id: run.id, from: effect.from, items: JSON.parse(first), last: rest.length === 0 };
  }
  if (effect.kind !== "start") throw new Error(`not in this test: ${effect.kind}`);
  const { attempt } = effect;
  const launch = launchOf(run, attempt, run.cwd);
  if (!launch.ok || launch.value.kind !== "program") throw new Error("it cannot be launched");
  for (const { path, text } of launch.value.files) writeFileSync(path, text);
  const { stdout, exitCode } = Bun.spawnSync([...launch.value.argv], { cwd: launch.value.cwd, env: launch.value.env });
  const output = { text: stdout.toString(), bytes: stdout.length };
  return { kind: "attempt-ended", id: run.id, attempt, code: exitCode, signal: null, output };
}

function inDirectory<T>(use: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-workflow-"));
  try {
    return use(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test("a file with captures, retries, conditions and on_failure reaches the end it describes", () => {
  inDirectory((directory) => {
    const run = runFile(
      `
parameters: { who: { default: "it's $(echo me); \\"you\\"" } }
steps:
  - { shell: "printf '%s\\n' \${who}; printf '{\\"n\\": 4}' > j", capture: who_again }
  - { shell: cat j, capture: { n: $.n, all: json } }
  - { shell: "test -e flag || { touch flag; exit 3; }", retry: { attempts: 2, backoff: 1ms } }
  - set: { twice: "\${n * 2}" }
  - { shell: "echo never", when: twice != 8, capture: nothing }
  - shell: |
      echo before
      false
      echo after
    capture: { code: exit_code }
    continue_on_error: true
    on_failure:
      - { shell: "echo \${error.step} > failed" }
`,
      directory,
    );
    expect([stateOf(run), toRecord(run.variables)]).toEqual([
      "done",
      {
        ...{ who: 'it\'s $(echo me); "you"', who_again: 'it\'s $(echo me); "you"' },
        n: 4,
        all: { n: 4 },
        twice: 8,
        code: 1,
      },
    ]);
    expect(readFileSync(join(directory, "failed"), "utf8")).toBe("echo-before-false\n");
  });
});

test("a map over a file, with a reduce that reads all results from a file", () => {
  inDirectory((directory) => {
    writeFileSync(
      join(directory, "items.json"),
      JSON.stringify({
        files: [
          { p: "a b", n: 2 },
          { p: "c", n: 1 },
          { p: "d", n: 0 },
        ],
      }),
    );
    const run = runFile(
      `
mode: mapreduce
map:
  input: items.json
  json_path: $.files[*]
  filter: item.n > 0
  sort: item.n
  steps:
    - { shell: "echo \${item.p}-\${item_index}", capture: result }
reduce:
  - { shell: "cat \${file(map.results)}", capture: { all: json } }
`,
      directory,
    );
    expect(toRecord(run.variables)).toEqual({ all: ["c-0", "a b-1"] });
  });
});
