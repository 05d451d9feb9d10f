// Files that older programs left of runs, in the layouts of the source document.

export const AT = "2026-01-02T03:04:05.000Z";
export const LATER = "2026-01-02T03:05:00.000Z";

/** Three steps; the second captures a value that the third uses. */
export const THREE = [
  "name: release",
  "parameters: { who: { default: nobody } }",
  "steps:",
  "  - id: one",
  "    shell: echo one >> effects",
  "  - id: two",
  "    shell: echo two >> effects",
  "    capture: tag",
  "  - id: three",
  "    shell: echo three ${who} ${tag} >> effects",
  "",
].join("\n");

export const MAPPING = [
  "name: mapping",
  "mode: mapreduce",
  "map:",
  "  input: { command: seq 1 5 }",
  "  max_parallel: 1",
  "  steps:",
  "    - id: work",
  "      shell: echo item ${item} >> effects; echo r${item}",
  "reduce:",
  "  - id: sum",
  "    shell: echo sum ${map.successful} ${map.failed} >> effects",
  "",
].join("\n");

export function sessionState(
  change: Readonly<Record<string, unknown>> = {},
  data: Readonly<Record<string, unknown>> = {},
) {
  return {
    id: "session-aaa",
    session_type: "Workflow",
    status: "Failed",
    started_at: AT,
    updated_at: LATER,
    error: "500 error",
    metadata: { workflow_path: "/w/flow.yml" },
    workflow_data: {
      workflow_id: "session-aaa",
      workflow_name: "release",
      current_step: 2,
      total_steps: 3,
      completed_steps: [0, 1],
      variables: { who: "ann", tag: "v1" },
      iterations_completed: 0,
      ...data,
    },
    mapreduce_data: null,
    ...change,
  };
}

export function completed(index: number, command: string, variables: Readonly<Record<string, string>> = {}) {
  const duration = { secs: 1, nanos: 500_000_000 };
  return {
    step_index: index,
    command,
    success: true,
    output: `out ${index}\n`,
    captured_variables: variables,
    duration,
    completed_at: AT,
  };
}

export function checkpointFile(
  change: Readonly<Record<string, unknown>> = {},
  state: Readonly<Record<string, unknown>> = {},
) {
  return {
    workflow_id: "session-bbb",
    workflow_path: "/w/flow.yml",
    workflow_name: "release",
    execution_state: {
      current_step_index: 2,
      total_steps: 3,
      status: "Interrupted",
      start_time: AT,
      last_checkpoint: LATER,
      ...state,
    },
    completed_steps: [
      completed(0, "shell: echo one >> effects"),
      completed(1, "shell: echo two >> effects", { tag: "v2" }),
    ],
    variable_state: { who: "bob", tag: "v2" },
    mapreduce_state: null,
    timestamp: LATER,
    version: 1,
    ...change,
  };
}

export function unified(state: unknown, change: Readonly<Record<string, unknown>> = {}) {
  return {
    version: 1,
    session_id: "session-ccc",
    workflow_path: "/w/flow.yml",
    worktree_path: "/w",
    state,
    completed_steps: [completed(0, "echo one >> effects"), completed(1, "echo two >> effects", { tag: "v3" })],
    variables: { who: "eve", tag: "v3" },
    workflow_type: "Standard",
    mapreduce_state: null,
    created_at: LATER,
    reason: "StepFailed",
    integrity_hash: "",
    ...change,
  };
}

/** Items 0 and 3 are done, 1 has failed, 2 was in progress, and the rest is pending. */
export function jobState(change: Readonly<Record<string, unknown>> = {}) {
  return {
    job_id: "mapreduce-123",
    config: { workflow_path: "/w/map.yml" },
    started_at: AT,
    updated_at: LATER,
    work_items: ["1", "2", "3", "4", "5"],
    agent_results: {
      item_0: { item_id: "item_0", status: "Success", output: "r1" },
      item_3: { item_id: "item_3", status: "Success", output: "r4" },
    },
    completed_agents: ["item_0", "item_3"],
    failed_agents: { item_1: { item_id: "item_1", attempts: 3, last_error: "no luck", last_attempt: AT } },
    pending_items: ["item_4"],
    checkpoint_version: 3,
    reduce_phase_state: null,
    is_complete: false,
    variables: {},
    setup_completed: true,
    ...change,
  };
}
