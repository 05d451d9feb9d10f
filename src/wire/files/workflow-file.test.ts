import { expect, test } from "bun:test";
import { readAll, readText } from "../../../scripts/files.ts";
import { fileProblemText } from "./source.ts";
import { readWorkflow, workflowRefusal } from "./workflow-file.ts";
import { workflowJsonSchema } from "./workflow-json-schema.ts";

const read = (text: string) => readWorkflow(new TextEncoder().encode(text), "file");

function problems(text: string): string[] {
  const found = read(text);
  return found.ok ? [] : found.error.map((problem) => fileProblemText("f", problem));
}

function definition(text: string) {
  const found = read(text);
  if (!found.ok) throw new Error(problems(text).join("\n"));
  return found.value;
}

test("a file of every kind of step, with short forms written out", () => {
  const found = definition(`
name: all
parameters:
  who: { default: world }
  n: { type: number, required: true, description: how many }
env: { CI: "1" }
interpreter: [bash, -euo, pipefail, -c]
steps:
  - id: one
    shell: echo \${who} \${n}
    when: n > 1
    cwd: sub
    env: { A: "\${who}" }
    timeout: 1.5m
    retry: 3
    capture: out
    continue_on_error: true
    on_uncertain: fail
  - set: { list: [1, "\${out}"], deep: { a: true } }
  - agent: { provider: scripted, prompt: "Do \${list}", command: [./a, "\${n}"] }
    idempotent: true
  - claude: Look at \${out}
    retry: { attempts: 2, backoff: 500ms, max_backoff: 100ms, exit_codes: [1, 75] }
    capture: { answer: json, first: "$.a[0]", code: exit_code }
    on_failure:
      - shell: echo \${error.message}
`);
  expect(found).toEqual({
    name: "all",
    parameters: { who: { type: "string", default: "world" }, n: { type: "number", required: true, says: "how many" } },
    env: { CI: "1" },
    interpreter: ["bash", "-euo", "pipefail", "-c"],
    flow: {
      mode: "standard",
      steps: [
        {
          id: "one",
          work: { kind: "shell", command: "echo ${who} ${n}" },
          when: "n > 1",
          cwd: "sub",
          env: { A: "${who}" },
          timeout_ms: 90_000,
          retry: { attempts: 3, backoff_ms: 1000, max_backoff_ms: 60_000 },
          on_uncertain: "fail",
          capture: { out: "stdout" },
          continue_on_error: true,
        },
        { id: "set-list-deep", work: { kind: "set", values: { list: [1, "${out}"], deep: { a: true } } } },
        {
          id: "do-list",
          work: { kind: "agent", provider: "scripted", prompt: "Do ${list}", command: ["./a", "${n}"] },
          idempotent: true,
        },
        {
          id: "look-at-out",
          work: { kind: "agent", provider: "claude", prompt: "Look at ${out}" },
          retry: { attempts: 2, backoff_ms: 500, max_backoff_ms: 500, exit_codes: [1, 75] },
          on_failure: [{ id: "echo-error-message", work: { kind: "shell", command: "echo ${error.message}" } }],
          capture: { answer: "json", first: "$.a[0]", code: "exit_code" },
        },
      ],
    },
  });
});

test("iterative and map-reduce files", () => {
  expect(
    definition("mode: iterative\nmax_iterations: 3\nuntil: ok\nsteps:\n  - shell: x\n    capture: ok").flow,
  ).toEqual({
    mode: "iterative",
    max_iterations: 3,
    until: "ok",
    steps: [{ id: "x", work: { kind: "shell", command: "x" }, capture: { ok: "stdout" } }],
  });
  const { flow } = definition(`
mode: mapreduce
setup: [{ shell: prepare }]
map:
  input: { command: ls }
  json_path: $.items
  filter: item.score > 2
  sort: { by: item.score, order: descending }
  max_items: 5
  agent_template:
    - claude: Do \${item.name}
reduce:
  - shell: echo \${map.results} \${map.failed}
`);
  expect(flow).toMatchObject({
    mode: "mapreduce",
    map: {
      input: { kind: "command", command: "ls" },
      json_path: "$.items",
      filter: "item.score > 2",
      sort: { by: "item.score", descending: true },
      max_items: 5,
      max_parallel: 4,
      steps: [{ id: "do-item-name" }],
    },
  });
  const inputOf = (input: string) => {
    const found = definition(`mode: mapreduce\nmap: { input: ${input}, sort: item, steps: [{ shell: x }] }`).flow;
    return found.mode === "mapreduce" ? found.map.input : undefined;
  };
  expect(inputOf("x.json")).toEqual({ kind: "file", path: "x.json" });
  expect(inputOf("{ file: y }")).toEqual({ kind: "file", path: "y" });
  expect(inputOf("{ glob: '*.ts' }")).toEqual({ kind: "glob", pattern: "*.ts" });
});

test("a generated id follows from what a step does, and avoids ids that are given", () => {
  const ids = (text: string) => {
    const { flow } = definition(text);
    return flow.mode === "standard" ? flow.steps.map(({ id }) => id) : [];
  };
  const two = ["npm-test", "echo-a"];
  expect(ids("steps: [{ shell: npm test }, { shell: echo a }]")).toEqual(two);
  expect(ids("steps: [{ shell: ls }, { shell: npm test }, { shell: echo a }]")).toEqual(["ls", ...two]);
  expect(ids("steps: [{ shell: ls }, { shell: ls }, { id: ls, shell: x }, { shell: 7z x }]")).toEqual([
    "ls-2",
    "ls-3",
    "ls",
    "shell-7z-x",
  ]);
});

test.each([
  ["", "f:1:1: The file is empty. Begin with `steps:`; docs/WORKFLOWS.md has examples."],
  ["steps: [", /^f:1:9: Not valid YAML: /],
  ["a: 1\na: 2", /^f:2:1: Not valid YAML: Map keys must be unique/],
  ["[]", "f:1:1: the workflow is an empty list. It takes names and values (name, description, parameters, env …)."],
  ["stpes: []", 'f:1:1: There is no key "stpes" in the workflow. Did you mean steps?'],
  ["steps: []", "f:1:8: steps is an empty list. It takes a list (- …) that is not empty."],
  ["name: x", "f:1:1: steps is missing. A workflow of mode standard needs it."],
  ["steps:\n  - id: x", "f:2:5: steps.1 does nothing. Give it one of shell, set, agent, claude."],
  [
    "steps:\n  - shell: x\n    claude: y",
    "f:2:5: steps.1 has shell and claude. Give it one of shell, set, agent, claude.",
  ],
  ["steps:\n  - run: make", 'f:2:5: There is no key "run" in steps.1. Did you mean shell?'],
  ["steps:\n  - shell: x\n    if: a", 'f:3:5: There is no key "if" in steps.1. Did you mean when?'],
  ["steps:\n  - shell: x\n    name: a", 'f:3:5: There is no key "name" in steps.1. Did you mean id?'],
  ["steps:\n  - shell: x\n    retyr: 3", 'f:3:5: There is no key "retyr" in steps.1. Did you mean retry?'],
  [
    "steps:\n  - shell: x\n    timeout: soon",
    'f:3:14: steps.1.timeout is "soon". It takes a time, such as 500ms, 30s, 5m or 2h.',
  ],
  [
    "steps:\n  - shell: x\n    retry: { backoff: 1s }",
    "f:3:12: steps.1.retry.attempts is missing. It takes a whole number from 1 to 100.",
  ],
  ["steps:\n  - shell: x\n    id: a.b", /^f:3:9: steps.1.id is "a.b"\. It takes a letter/],
  [
    "steps:\n  - { id: a, shell: x }\n  - { id: a, shell: y }",
    "f:3:11: There is a step a already, on line 2. Give each step an id of its own.",
  ],
  ["steps:\n  - shell: x\n    when: a >", /^f:3:14: A name or a value is missing at the end/],
  ["steps:\n  - shell: echo ${x", /^f:2:20: The \} that closes/],
  [
    "steps:\n  - shell: |\n      true\n      echo ${HOME}",
    /^f:4:12: Nothing sets the variable HOME\. .*write \$HOME or \$\$\{HOME\}\./,
  ],
  ["steps:\n  - shell: |\n      echo $((${iteration}))", /^f:3:15: A value cannot stand in/],
  [
    "steps:\n  - shell: echo ${nmae}\n  - set: { name: x }",
    /^f:2:19: Nothing sets the variable nmae\. Did you mean name\?/,
  ],
  [
    "steps:\n  - shell: echo ${item}",
    "f:2:19: ${item} is only there in map, for each item. Use it there, or set a variable.",
  ],
  ["steps:\n  - shell: echo ${error.step}", /only there in on_failure/],
  ["steps:\n  - shell: echo ${map.results}", /only there in reduce/],
  ["steps:\n  - set: { map: 1 }", "f:2:12: map always means the same and cannot be set. Take another name."],
  ["steps:\n  - shell: x\n    capture: item", /f:3:14: item always means the same/],
  ["steps:\n  - shell: x\n    capture: { a: stderr }", /f:3:19: steps.1.capture.a is "stderr"/],
  ["steps:\n  - shell: x\n    capture: { a: '$.b[' }", /is not a JSON path/],
  [
    "steps:\n  - set: { a: 1 }\n    timeout: 5s",
    "f:3:5: timeout does nothing in a set step, which runs in process. Leave it out.",
  ],
  ["steps:\n  - set: { a-b: 1 }", /f:2:12: "a-b" cannot be a name here/],
  [
    "steps:\n  - shell: x\n    on_failure: [{ shell: y, on_failure: [{ shell: z }] }]",
    /f:3:30: on_failure does nothing in a step of on_failure/,
  ],
  [
    "steps:\n  - agent: { provider: scripted, prompt: x }",
    "f:2:12: A scripted agent needs a command. Give the program and its arguments: command: [./agent, --once].",
  ],
  [
    "max_iterations: 3\nsteps: [{ shell: x }]",
    "f:1:1: max_iterations is not for mode standard. It is for: mode: iterative.",
  ],
  [
    "mode: iterative\nsteps: [{ shell: x }]",
    "f:1:1: max_iterations is missing. A workflow of mode iterative needs it.",
  ],
  ["mode: mapreduce\nmap: { input: x }", /f:2:6: map has either steps or agent_template/],
  ["mode: mapreduce\nmap: { input: { file: x, glob: y }, steps: [{ shell: x }] }", /f:2:15: input has one source/],
  ["mode: mapreduce\nmap: { input: x, json_path: a.b, steps: [{ shell: x }] }", /f:2:29: "a.b" is not a JSON path/],
  [
    "parameters: { a: { type: number, default: x } }\nsteps: [{ shell: x }]",
    /f:1:43: The default of a is not of type number/,
  ],
  ["parameters: { a: { required: true, default: x } }\nsteps: [{ shell: x }]", /a is required and has a default/],
  ["steps: [{ shell: x, env: *nothing }]", /f:1:26: /],
  ["steps: [{ shell: x, capture: a, when: !defined(a) }]", /f:1:39: What begins with ! is a tag/],
  ["1: x", /A key is a text/],
  [
    "steps: [{ agent: { provider: scripted, prompt: x, command: [sh, -c, 'echo ${run.id}'] } }]",
    /^f:1:69: A value cannot stand in the script of a shell/,
  ],
  ["steps: [{ shell: 'eval ${run.id}' }]", /^f:1:24: A value cannot stand in this argument of eval: /],
  ['steps:\n  - shell: |\n      x=1\n      sh -c "${run.id}"', /^f:4:14: .* in the text that another shell runs: /],
  ["steps: [{ shell: x, timeout: .inf }]", /f:1:30: This is neither/],
])("the problem with %j is reported with its position", (text, expected) => {
  const [first = ""] = problems(text);
  if (typeof expected === "string") expect(first).toBe(expected);
  else expect(first).toMatch(expected);
});

test("all problems are reported at once, in the order of the file", () => {
  const found = problems("nmae: x\nsteps:\n  - shell: x\n    retyr: 1\n  - shell: [y]");
  expect(found.map((one) => one.split(" ")[0])).toEqual(["f:1:1:", "f:4:5:", "f:5:12:"]);
  const refusal = read("steps: 1");
  expect(refusal.ok ? "" : workflowRefusal("w.yml", refusal.error).message).toContain("w.yml:1:8: steps is 1.");
});

test("bytes that are not text, and a file that is too large, are refused", () => {
  const bad = readWorkflow(new Uint8Array([0xff, 0xfe]), "x");
  expect(bad.ok ? "" : bad.error[0]?.message).toBe("The file is not in UTF-8.");
  const large = readWorkflow(new Uint8Array(5 << 20), "x");
  expect(large.ok ? "" : large.error[0]?.message).toContain("5242880 bytes");
});

test("aliases stand for what they name, and cannot make a small file large", () => {
  const { flow } = definition("steps:\n  - &a { shell: x }\n  - *a");
  expect(flow.mode === "standard" ? flow.steps.map(({ id }) => id) : []).toEqual(["x", "x-2"]);
  const levels = Array.from({ length: 12 }, (_, n) => `  l${n + 1}: &l${n + 1} [${`*l${n},`.repeat(10)}]`);
  const bomb = `steps:\n  - set:\n      x: 1\nenv:\n  l0: &l0 x\n${levels.join("\n")}`;
  expect(problems(bomb)[0]).toContain("too large or too deep");
});

test("the JSON Schema has every key, and is the one in docs/", () => {
  const schema = JSON.parse(workflowJsonSchema());
  expect(Object.keys(schema.properties)).toContain("max_iterations");
  expect(schema.definitions.step.properties.on_failure.items).toEqual({ $ref: "#/definitions/step" });
  expect(readText("docs/workflow.schema.json")).toBe(workflowJsonSchema());
});

test("every example of docs/WORKFLOWS.md is a workflow", () => {
  const [page] = readAll("docs/WORKFLOWS.md");
  const examples = [...(page?.text ?? "").matchAll(/```yaml\n(.*?)```/gs)].map(([, text = ""]) => text);
  expect(examples.length).toBeGreaterThanOrEqual(4);
  for (const example of examples) expect({ example, wrong: problems(example) }).toEqual({ example, wrong: [] });
});
