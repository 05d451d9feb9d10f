// Every benchmark by name, with its expectation and its file; a file is loaded only when it is needed.
import type { Bar, Row } from "./row.ts";
import type { Bench } from "./scratch.ts";

/** Runs the named ones of its benchmarks and emits a row for each. */
export type Run = (names: readonly string[], bench: Bench, emit: (row: Row) => void) => Promise<void>;

export type Suite = { readonly names: readonly string[]; readonly load: () => Promise<Run> };

const PEERS = ["fdatasync", "groupcommit", "sqlite", "sqlite-batched"];
const SIZES = ["10k", "250k", "5m"];
const WORKFLOW_PEERS = ["dbos", "restate", "langgraph"];
const STEP_PEERS = [...WORKFLOW_PEERS, "langgraph-shipped"];

export const SUITES: readonly Suite[] = [
  {
    names: [
      ...["1", "25", "250"].flatMap((writers) => PEERS.map((peer) => `log.append.${writers}.${peer}`)),
      "log.append.1.preallocated",
      "log.append.scale",
    ],
    load: async () => (await import("./log-append.ts")).logAppend,
  },
  { names: ["log.growth"], load: async () => (await import("./log-growth.ts")).logGrowth },
  {
    names: ["log.recover.replay", "log.recover.checkpoint"],
    load: async () => (await import("./log-recover.ts")).logRecover,
  },
  {
    names: ["save", "load"].flatMap((what) => SIZES.map((size) => `checkpoint.${what}.${size}`)),
    load: async () => (await import("./checkpoint.ts")).checkpoints,
  },
  {
    names: ["1", "25", "250", "500"].map((terminals) => `recovery.daemon.${terminals}`),
    load: async () => (await import("./recovery-daemon.ts")).recoveryDaemon,
  },
  {
    names: ["25", "250", "250.growth"].map((terminals) => `recovery.machine.${terminals}`),
    load: async () => (await import("./recovery-machine.ts")).recoveryMachine,
  },
  { names: ["recovery.history"], load: async () => (await import("./recovery-history.ts")).recoveryHistory },
  { names: ["watch.restart.pm2"], load: async () => (await import("./watch-restart.ts")).watchRestart },
  {
    names: ["new", "ls", "attach"].flatMap((command) => [`terminal.${command}`, `terminal.${command}.tmux`]),
    load: async () => (await import("./terminal-commands.ts")).terminalCommands,
  },
  {
    names: ["terminal.flood.raw", "terminal.flood.tmux"],
    load: async () => (await import("./terminal-flood.ts")).terminalFlood,
  },
  { names: ["terminal.replay"], load: async () => (await import("./terminal-replay.ts")).terminalReplay },
  {
    names: ["terminal.memory.25", "terminal.memory.25.all", "idle.cpu"],
    load: async () => (await import("./idle.ts")).idle,
  },
  {
    names: ["terminals", "runs"].map((what) => `scale.lists.${what}`),
    load: async () => (await import("./lists.ts")).lists,
  },
  {
    names: ["bytes", "paint", "echo", "flood", "flood.blocked", "thumbnails"].map((what) => `web.${what}`),
    load: async () => (await import("./web.ts")).web,
  },
  { names: ["web.run"], load: async () => (await import("./web-run.ts")).webRun },
  { names: ["web.search"], load: async () => (await import("./web-search.ts")).webSearch },
  {
    names: ["web.replay", "web.agent.blocked"],
    load: async () => (await import("./web-past.ts")).webPast,
  },
  {
    names: ["web.back.host", "web.back.daemon"],
    load: async () => (await import("./web-back.ts")).webBack,
  },
  { names: ["web.notify"], load: async () => (await import("./web-notify.ts")).webNotify },
  {
    names: ["tunnel.echo.first", "tunnel.echo.ssh", "tunnel.flood.ssh"],
    load: async () => (await import("./tunnel.ts")).tunnel,
  },
  {
    names: ["tunnel.reconnect.100", "tunnel.reconnect.100.handshakes", "relay.memory.100", "relay.cpu.100"],
    load: async () => (await import("./relay-homes.ts")).relayHomes,
  },
  { names: ["cli.start"], load: async () => (await import("./cli-start.ts")).cliStart },
  {
    names: ["screen.parse", "screen.snapshot", "screen.restore"],
    load: async () => (await import("./screen.ts")).screens,
  },
  {
    names: ["", ".bytes", ".typing"].map((part) => `checkpoint.terminals.25${part}`),
    load: async () => (await import("./checkpoint-terminals.ts")).checkpointTerminals,
  },
  { names: ["workflow.shell.overhead"], load: async () => (await import("./workflow-shell.ts")).workflowShell },
  { names: ["workflow.shell.flushes"], load: async () => (await import("./workflow-flushes.ts")).workflowFlushes },
  { names: ["workflow.items.growth"], load: async () => (await import("./workflow-items.ts")).workflowItems },
  {
    names: ["workflow.items.memory", "workflow.items.disk"],
    load: async () => (await import("./workflow-items-memory.ts")).workflowItemsMemory,
  },
  { names: ["workflow.resume.10000"], load: async () => (await import("./workflow-resume.ts")).workflowResume },
  {
    names: ["checkpoint.workflow.save", "checkpoint.workflow.load"],
    load: async () => (await import("./workflow-checkpoint.ts")).workflowCheckpoint,
  },
  {
    names: [
      ...["1", "25"].flatMap((workflows) => STEP_PEERS.map((peer) => `workflow.steps.${workflows}.${peer}`)),
      ...["1", "25"].flatMap((workflows) => WORKFLOW_PEERS.map((peer) => `workflow.steps.${workflows}.each.${peer}`)),
      ...["1", "25"].flatMap((workflows) => WORKFLOW_PEERS.map((peer) => `workflow.shell.${workflows}.${peer}`)),
    ],
    load: async () => (await import("./workflow-steps.ts")).workflowSteps,
  },
  {
    names: WORKFLOW_PEERS.flatMap((peer) => ["", ".twice"].map((part) => `workflow.recover.25.${peer}${part}`)),
    load: async () => (await import("./workflow-recover.ts")).workflowRecover,
  },
  {
    names: [...["1", "25", "250", "1000"].map((agents) => `agent.messages.${agents}`), "agent.turns"],
    load: async () => (await import("./agent-messages.ts")).agentMessages,
  },
  {
    names: ["agent.recover.1000", "agent.recover.1000.growth", "agent.memory"],
    load: async () => (await import("./agent-recover.ts")).agentRecover,
  },
  {
    names: ["fleet.append.inserts", "fleet.append.bun", "fleet.read", "fleet.blob"],
    load: async () => (await import("./fleet.ts")).fleet,
  },
  {
    names: [...["1", "25", "250"].map((workflows) => `fleet.steps.${workflows}.dbos`), "fleet.cpu"],
    load: async () => (await import("./fleet-steps.ts")).fleetSteps,
  },
  {
    names: ["1", "25", "250"].map((writers) => `fleet.sync.${writers}`),
    load: async () => (await import("./fleet-sync.ts")).fleetSync,
  },
  { names: ["fleet.idle.1000"], load: async () => (await import("./fleet-idle.ts")).fleetIdle },
  {
    names: ["fleet.takeover.warm", "fleet.takeover.cold"],
    load: async () => (await import("./fleet-takeover.ts")).fleetTakeover,
  },
  { names: ["agent.restart.1000"], load: async () => (await import("./agent-restart.ts")).agentRestart },
];

export const NAMES: readonly string[] = SUITES.flatMap((suite) => suite.names);

/** What the project promises (docs/BENCHMARKS.md says why); the others are there to be looked at. */
export const BARS: ReadonlyMap<string, Bar> = new Map<string, Bar>([
  ["log.append.1.fdatasync", { of: "ratio", atLeast: 0.8 }],
  ["log.append.1.sqlite", { of: "ratio", atLeast: 1 }],
  ["log.append.25.groupcommit", { of: "ratio", atLeast: 0.7 }],
  ["log.append.25.sqlite", { of: "ratio", atLeast: 12 }],
  ["log.append.25.sqlite-batched", { of: "ratio", atLeast: 1 }],
  ["log.append.250.groupcommit", { of: "ratio", atLeast: 0.35 }],
  ["log.append.250.sqlite-batched", { of: "ratio", atLeast: 1 }],
  ["log.append.scale", { of: "ratio", atLeast: 2.5 }],
  ["log.growth", { of: "ratio", atLeast: 0.9 }],
  ["log.recover.replay", { of: "value", atLeast: 200_000 }],
  ["log.recover.checkpoint", { of: "ratio", atLeast: 0.5 }],
  ["checkpoint.save.250k", { of: "ratio", atLeast: 0.5 }],
  ["recovery.daemon.25", { of: "value", atMost: 400 }],
  ["recovery.daemon.250", { of: "value", atMost: 2000 }],
  ["recovery.daemon.500", { of: "ratio", atLeast: 1 / 5 }],
  ["recovery.machine.25", { of: "value", atMost: 2000 }],
  ["recovery.machine.250", { of: "value", atMost: 15_000 }],
  ["recovery.machine.250.growth", { of: "ratio", atLeast: 1 / 8 }],
  ["recovery.history", { of: "value", atMost: 1.3 }],
  ["watch.restart.pm2", { of: "ratio", atLeast: 1 }],
  ["cli.start", { of: "ratio", atLeast: 1 / 2 }],
  ["terminal.new", { of: "ratio", atLeast: 1 / 5 }],
  ["terminal.ls", { of: "ratio", atLeast: 1 / 3 }],
  ["terminal.attach", { of: "ratio", atLeast: 1 / 3.5 }],
  ["terminal.ls.tmux", { of: "value", atMost: 60 }],
  ["terminal.attach.tmux", { of: "value", atMost: 60 }],
  ["terminal.flood.raw", { of: "ratio", atLeast: 0.65 }],
  ["terminal.flood.tmux", { of: "ratio", atLeast: 1 }],
  ["terminal.replay", { of: "value", atMost: 500 }],
  ["terminal.memory.25", { of: "value", atMost: 65 }],
  ["terminal.memory.25.all", { of: "value", atMost: 160 }],
  ["idle.cpu", { of: "value", atMost: 0.5 }],
  ["scale.lists.terminals", { of: "ratio", atLeast: 1 / 5 }],
  ["scale.lists.runs", { of: "ratio", atLeast: 1 / 5 }],
  ["web.bytes", { of: "value", atMost: 200 }],
  ["web.flood.blocked", { of: "value", atMost: 100 }],
  ["web.run", { of: "value", atMost: 100 }],
  ["web.replay", { of: "value", atMost: 500 }],
  ["web.agent.blocked", { of: "value", atMost: 100 }],
  ["web.search", { of: "value", atMost: 300 }],
  ["web.back.host", { of: "value", atMost: 2_000 }],
  ["web.back.daemon", { of: "value", atMost: 2_000 }],
  ["web.notify", { of: "value", atMost: 1_000 }],
  ["tunnel.echo.ssh", { of: "ratio", atLeast: 0.5 }],
  ["tunnel.flood.ssh", { of: "ratio", atLeast: 0.5 }],
  ["tunnel.reconnect.100", { of: "value", atMost: 30 }],
  ["tunnel.reconnect.100.handshakes", { of: "value", atMost: 20 }],
  ["screen.parse", { of: "ratio", atLeast: 0.8 }],
  ["checkpoint.terminals.25.bytes", { of: "ratio", atLeast: 1 }],
  ["workflow.shell.overhead", { of: "value", atMost: 40 }],
  ["workflow.shell.flushes", { of: "value", atMost: 4 }],
  ...["1", "25"].flatMap((workflows): [string, Bar][] =>
    ["dbos", "restate"].map((peer) => [
      `workflow.shell.${workflows}.${peer}`,
      { of: "ratio", atLeast: workflows === "1" ? 1 : 1.2 },
    ]),
  ),
  ["workflow.items.growth", { of: "ratio", atLeast: 1 / 1.3 }],
  ["workflow.items.memory", { of: "ratio", atLeast: 1 / 1.5 }],
  ["workflow.items.disk", { of: "value", atMost: 500 }],
  ["checkpoint.workflow.save", { of: "value", atMost: 10 }],
  ["checkpoint.workflow.load", { of: "value", atMost: 5 }],
  ["agent.messages.1000", { of: "ratio", atLeast: 1 / 1.3 }],
  ["agent.recover.1000", { of: "value", atMost: 2000 }],
  ["agent.recover.1000.growth", { of: "ratio", atLeast: 0.7 }],
  ["fleet.steps.25.dbos", { of: "ratio", atLeast: 2 }],
  ["fleet.steps.250.dbos", { of: "ratio", atLeast: 7 }],
  ["fleet.cpu", { of: "ratio", atLeast: 4 }],
  ["fleet.idle.1000", { of: "value", atMost: 200 }],
  ["fleet.takeover.warm", { of: "value", atMost: 10 }],
  ["fleet.takeover.cold", { of: "value", atMost: 18 }],
  ["agent.restart.1000", { of: "ratio", atLeast: 1 / 15 }],
  ...STEP_PEERS.map((peer): [string, Bar] => [`workflow.steps.1.${peer}`, { of: "ratio", atLeast: 3 }]),
  ...STEP_PEERS.map((peer): [string, Bar] => [`workflow.steps.25.${peer}`, { of: "ratio", atLeast: 10 }]),
  ...WORKFLOW_PEERS.map((peer): [string, Bar] => [`workflow.recover.25.${peer}`, { of: "value", atMost: 600 }]),
  ...WORKFLOW_PEERS.map((peer): [string, Bar] => [`workflow.recover.25.${peer}.twice`, { of: "value", atMost: 0 }]),
]);

/** `log.append.25` selects everything below it, but not `log.append.250`. */
export function namesBelow(wanted: string): string[] {
  return NAMES.filter((name) => name === wanted || name.startsWith(`${wanted}.`));
}
