// The files that lie in the golden home before anything runs: its configuration, its workflows and the words of its
// agents.
// Steps and agents are shell one-liners that write nothing: they run on any machine, whatever directories it has.

/** A scripted agent (docs/AGENTS.md): one word of its prompt says what it does. */
export const AGENT = `while read -r line; do
  n=$((n + 1))
  case $line in
    *'"type":"prompt"'*SPAWN*) echo '{"type":"call","call":"spawn","tool":"spawn_agent","args":{"name":"kid","instructions":"TELL your parent"}}' ;;
    *'"type":"prompt"'*TELL*) echo '{"type":"call","call":"tell","tool":"send_message","args":{"to":"parent","text":"the kid is well"}}' ;;
    *'"type":"prompt"'*REMIND*) echo '{"type":"call","call":"remind","tool":"remind_me","args":{"in_seconds":604800,"text":"look again"}}' ;;
    *'"type":"prompt"'*SOON*) echo '{"type":"call","call":"soon","tool":"remind_me","args":{"in_seconds":1,"text":"it is time"}}' ;;
    *'"type":"prompt"'*ASK*) echo '{"type":"text","text":"May I?"}'
      echo '{"type":"ask","request":"r'$n'","tool":"Bash","input":{"command":"rm -rf build"}}' ;;
    *'"type":"prompt"'*GIT*) echo '{"type":"ask","request":"r'$n'","tool":"Bash","input":{"command":"git status"}}' ;;
    *'"type":"prompt"'*COMPLETE*) echo '{"type":"call","call":"complete","tool":"complete","args":{"result":"all of it"}}' ;;
    *'"type":"prompt"'*WITHDRAW*) echo '{"type":"ask","request":"r'$n'","tool":"Bash","input":{"command":"ls"}}'
      echo '{"type":"withdrawn","request":"r'$n'"}'
      echo '{"type":"done","response":"Never mind."}' ;;
    *'"type":"prompt"'*LIMIT*) echo '{"type":"limit","until":"2099-01-01T00:00:00Z"}' ;;
    *'"type":"prompt"'*FAIL*) echo '{"type":"failed","reason":"it cannot be done"}' ;;
    *'"type":"prompt"'*CRASH*) exit 9 ;;
    *'"type":"prompt"'*HOLD*) echo '{"type":"text","text":"I hold on."}' ;;
    *'"type":"prompt"'*) echo '{"type":"text","text":"I was told something."}'
      echo '{"type":"done","response":"Done."}' ;;
    *'"type":"answer"'*'"allow"'*) echo '{"type":"done","response":"Removed."}' ;;
    *'"type":"answer"'*) echo '{"type":"done","response":"Kept."}' ;;
    *'"type":"interrupt"'*) echo '{"type":"failed","reason":"stopped"}' ;;
    *'"type":"result"'*) echo '{"type":"done","response":"Called."}' ;;
  esac
done`;

const words = (...all: readonly string[]) => JSON.stringify(all);

export function configuration(model: string): string {
  return `# The configuration of the golden home: what it says must be understood for ever.
[daemon]
heartbeat_ms = 500
unresponsive_kill_s = 60

[crash_loop]
crashes = 5
window_s = 30

[recovery]
stage_timeout_s = 60
max_attempts = 4

[terminal]
tape_bytes = 1048576
segment_bytes = 65536
detach_key = "ctrl-a"
shell = "/bin/sh"
term = "xterm-256color"
env_allow = ["KEPT_TOKEN"]
env_deny = ["HIDDEN_*"]

[checkpoint]
interval_ms = 1000
max_age_h = 48
scrollback_bytes = 4096

[retention]
removed_days = 2
ended_days = 31
tape_bytes = 1073741824
run_days = 32
run_bytes = 1073741825
agent_days = 33
agent_bytes = 1073741826
report_days = 91
reports = 40
quarantine_days = 92
quarantine_bytes = 1073741827
histories = 15

[tmux]
save_s = 1
scrollback_lines = 500

[agents]
provider = "scripted"
slots = 16
env = ["PATH", "HOME"]
hung_after_s = 86400
prompt_days = 30
recovery = "auto"
recovery_prompt = "You were interrupted: ASK again."
sleep_on_limit = true

[web]
enabled = true
port = 0

[log]
segment_bytes = 2097152
max_segments = 4
max_queued_bytes = 1048576
ballast_bytes = 65536

[watch.idle]
command = ["/bin/sleep", "100000"]
cwd = "/usr"
env = { GOLDEN = "yes" }
heartbeat_ms = 0

[restore.sleeper]
match = "sleep 1*"
run = "{command}"

[provider.worker]
kind = "scripted"
command = ${words("/bin/sh", "-c", AGENT)}

[provider.line]
kind = "command"
command = ${words("/bin/sh", "-c", 'echo "{\\"session_id\\":\\"s-1\\"}"; echo "first: $1"', "sh", "{prompt}")}
resume = ${words("/bin/sh", "-c", 'echo "{\\"session_id\\":\\"$1\\"}"; echo "then: $2"', "sh", "{session}", "{prompt}")}
session_path = "$.session_id"

[provider.model]
kind = "openai"
base_url = "${model}"
key_env = "GOLDEN_KEY"
model = "golden/model"
`;
}

/** One whose second step takes as long as the machine lives. */
function long(name: string): string {
  return `name: ${name}
steps:
  - id: before
    shell: echo before
    capture: first
  - id: long
    shell: echo begun; sleep 100000
  - id: after
    shell: echo after \${first}
    capture: last
`;
}

/** Each is run once, unless the story says otherwise. */
export const FLOWS: Readonly<Record<string, string>> = {
  "done.yml": `name: done
parameters:
  version: { required: true }
  publish: { type: boolean, default: false }
env: { CI: "1" }
steps:
  - id: hello
    shell: echo hello \${version}; echo a word aside >&2
    capture: greeting
  - id: facts
    shell: echo '{"files":[{"name":"a.txt"}],"count":2}'
    capture: { file: "$.files[0].name", all: json, code: exit_code }
    retry: { attempts: 3, backoff: 1s, max_backoff: 2s, exit_codes: [1] }
    timeout: 5m
    idempotent: true
  - set: { note: "\${greeting}, \${file}" }
  - id: skipped
    shell: echo published
    when: publish
  - id: tolerated
    shell: exit 4
    continue_on_error: true
`,
  "failed.yml": `name: failed
steps:
  - id: first
    shell: echo one
    capture: first
  - id: breaks
    shell: echo "cannot do that" >&2; exit 7
    retry: { attempts: 2, backoff: 100ms }
    on_failure:
      - id: notify
        shell: echo "\${error.step} failed with \${error.exit_code}"
  - id: never
    shell: echo never
`,
  "changed.yml": `name: changed
steps:
  - id: stays
    shell: echo stays
    capture: kept
  - id: breaks
    shell: exit 3
`,
  "map.yml": `name: map
mode: mapreduce
setup:
  - id: before
    shell: echo before
map:
  input: { command: seq 1 5 }
  filter: item != 2
  max_parallel: 2
  steps:
    - id: work
      shell: "[ \${item} -lt 4 ] || exit 6; echo r\${item}"
      capture: result
reduce:
  - id: sum
    shell: echo "\${map.successful} of them, not \${map.failed}"
    capture: sum
`,
  "back.yml": `name: back
steps:
  - id: one
    shell: echo one; sleep 0.3
    capture: one
  - id: two
    shell: echo two; sleep 0.3
    capture: two
  - id: three
    shell: echo three \${one} \${two}
    capture: three
`,
  "loop.yml": `name: loop
mode: iterative
max_iterations: 5
until: round >= 3
steps:
  - id: count
    shell: echo \${iteration}
    capture: round
`,
  "resolved.yml": long("resolved"),
  "uncertain.yml": long("uncertain"),
  "asks.yml": `name: asks
steps:
  - id: review
    agent: { provider: worker, prompt: "ASK first" }
    capture: review
  - id: after
    shell: echo \${review}
    capture: said
`,
  "held.yml": `name: held
resume: ask
steps:
  - id: safe
    shell: sleep 100000
    idempotent: true
`,
  "old.yml": `name: old
steps:
  - id: tags
    shell: echo v2
    capture: tag
  - id: says
    shell: echo \${tag}
    capture: said
`,
  "tree.yml": `name: tree
steps:
  - id: where
    shell: git rev-parse --abbrev-ref HEAD
    capture: branch
`,
  "cancelled.yml": `name: cancelled
steps:
  - id: long
    shell: sleep 100000
`,
};

/** What an older program left of a run, in the layout of the source document: its first step is done. */
export function older(root: string): string {
  return JSON.stringify({
    id: "session-old",
    session_type: "Workflow",
    status: "Failed",
    started_at: "2026-01-02T03:04:05.000Z",
    updated_at: "2026-01-02T03:05:00.000Z",
    error: "500 error",
    metadata: { workflow_path: `${root}/flows/old.yml` },
    workflow_data: {
      workflow_id: "session-old",
      workflow_name: "old",
      current_step: 1,
      total_steps: 2,
      completed_steps: [0],
      variables: { tag: "v1" },
      iterations_completed: 0,
    },
    mapreduce_data: null,
  });
}

/** The same file when a person has mended it. */
export const CHANGED = `name: changed
steps:
  - id: stays
    shell: echo stays
    capture: kept
  - id: mended
    shell: echo "\${kept} and goes on"
    capture: mended
`;
