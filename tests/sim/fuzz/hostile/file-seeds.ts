// Valid files of every kind that is read, to be changed by attacks.ts.
import { readAll } from "../../../../scripts/files.ts";
import { storedOf } from "../../../../src/core/agent/checkpoint.ts";
import { AgentFixture } from "../../../agent/house.ts";
import { AT, checkpointFile, jobState, MAPPING, sessionState, THREE, unified } from "../../../workflow/old-layouts.ts";
import { messageOf } from "./border.ts";
import type { Message } from "./seeds.ts";

export const WORKFLOWS: readonly string[] = [
  ...[THREE, MAPPING, ...readAll("examples/workflows/*.yml").map(({ text }) => text)],
  [
    "name: all",
    "env: { A: b }",
    "steps:",
    "  - &one { id: one, shell: 'echo ${x}', retry: { attempts: 2, backoff: 1s }, timeout: 5s, capture: { x: $.a[0] } }",
    "  - claude: look",
    "  - set: { n: '${default(n, 0) + 1}' }",
    "    when: n < 3 and not defined(y)",
    "    on_failure: [{ shell: echo }]",
  ].join("\n"),
];

export const CONFIGURATIONS: readonly string[] = readAll("examples/configuration/*.toml").map(({ text }) => text);

export const OUTPUTS: readonly Message[] = [
  { a: [{ b: 1, c: "x" }], d: null },
  { x: 1, y: [1, 2, 3] },
];

/** Everything that happens to an agent in two turns, as its log has it. */
function lived(): AgentFixture {
  const house = new AgentFixture();
  house.create("a", { instructions: "go" });
  house.create("b", { parent: "a" });
  house.start("a");
  house.says(
    "a",
    { kind: "text", text: "hello" },
    { kind: "ask", request: "r", tool: "Bash", input: { command: "ls" } },
  );
  house.says("a", { kind: "call", call: "c", tool: "remind_me", args: { in_seconds: 5, text: "x" } });
  house.call("a", "c2", "send_message", { to: "b", text: "x" });
  house.done("a");
  house.ends("a", 1);
  return house;
}

const house = lived();
const AGENT_EVENTS = house.events.map(({ event, data }): readonly [string, Message] => [event, messageOf(data)]);

export const EVENTS: readonly (readonly [string, Message])[] = [
  ...AGENT_EVENTS,
  [
    "terminal.created",
    { name: "t", lane: "main", argv: ["sh"], cwd: "/", env: {}, size: { cols: 80, rows: 24 }, generation: 1, at: AT },
  ],
  ["terminal.ended", { code: 0, signal: null, generation: 1, at: AT }],
  [
    "tmux.adopted",
    { socket: "/s", name: "n", policy: "auto", session: "$1", server: { pid: 1, startTime: 1 }, at: AT },
  ],
  ["workflow.attempt.started", { attempt: "1", step: "s", item: null, try: 1, at: AT }],
];

const PANE = { title: "t", directory: "/", active: true, command: ["sh"], scrollback: "x" };
const WINDOW = {
  ...{ index: 0, name: "w", automatic: true, layout: "b25d,80x24,0,0,0", size: { cols: 80, rows: 24 } },
  ...{ active: true, last: false, zoomed: false, panes: [PANE] },
};

export const CHECKPOINTS: readonly (readonly [string, Message])[] = [
  ["agent", messageOf(storedOf(house.agent("a")))],
  ["tmux", { name: "n", environment: { A: "b" }, leftOut: [], windows: [WINDOW] }],
  ["workflow", messageOf(checkpointFile())],
];

export const SMALL_FILES: readonly Message[] = [
  { v: 1, pid: 7, startTime: 70, bootId: "boot", file: "1:2" },
  { from: "a", offset: 1, length: 2, reason: "r", at: AT, sha256: "0" },
  { offset: 1, cols: 80, rows: 24 },
  {
    ...{ v: 1, subscriptions: [{ id: "s", device: "d", endpoint: "https://p/1", p256dh: "B", auth: "A", madeAt: AT }] },
    calls: [{ prompt: "p", target: "s", agent: "a", name: "n", tool: "t", state: "sent", over: null }],
    records: [{ target: "s", okAt: AT, failedAt: null, why: "", failures: 0 }],
  },
];

export const OLD_RUNS: readonly Message[] = [sessionState(), checkpointFile(), jobState(), unified({})].map(messageOf);
