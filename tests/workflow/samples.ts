// One workflow of each mode with a little of everything, for worlds in which `work ok`, `work fail` and `work fail-1`
// are programs.
import type { Definition } from "../../src/core/workflow/definition.ts";

export const SAMPLES: readonly Definition[] = [
  {
    name: "standard",
    flow: {
      mode: "standard",
      steps: [
        {
          id: "a",
          work: { kind: "agent", provider: "scripted", prompt: "think", command: ["think", "work ok"] },
          capture: { x: "stdout" },
        },
        { id: "b", work: { kind: "set", values: { y: "${x}!" } } },
        {
          id: "c",
          work: { kind: "shell", command: "work fail-1 ${y}" },
          retry: { attempts: 2, backoff_ms: 10, max_backoff_ms: 10 },
        },
        {
          id: "d",
          work: { kind: "shell", command: "work fail" },
          on_failure: [{ id: "e", work: { kind: "shell", command: "work ok ${error.exit_code}" } }],
          continue_on_error: true,
        },
        { id: "f", work: { kind: "shell", command: "work ok ${x}" }, capture: { z: "stdout" } },
      ],
    },
  },
  {
    name: "iterative",
    flow: {
      mode: "iterative",
      max_iterations: 5,
      until: "n >= 3",
      steps: [
        { id: "a", work: { kind: "set", values: { n: "${default(n, 0) + 1}" } } },
        { id: "b", work: { kind: "shell", command: "work ok ${n}" }, capture: { x: "stdout" } },
      ],
    },
  },
  {
    name: "mapreduce",
    flow: {
      mode: "mapreduce",
      setup: [{ id: "a", work: { kind: "shell", command: "work ok" } }],
      map: {
        input: { kind: "command", command: "work ok" },
        max_parallel: 2,
        steps: [
          { id: "b", work: { kind: "shell", command: "work ok ${item}" }, capture: { result: "stdout" } },
          { id: "c", work: { kind: "shell", command: "work fail" }, when: "item == 2" },
        ],
      },
      reduce: [
        { id: "d", work: { kind: "shell", command: "work ok ${map.results}" }, capture: { all: "stdout" } },
        { id: "e", work: { kind: "set", values: { bad: "${map.failed}" } } },
      ],
    },
  },
];
