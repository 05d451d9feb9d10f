// The daemon's part for workflows: their turn, on the one log, and their engine.
import type { EventLog } from "../../log/event-log.ts";
import type { StepAgents } from "../agent/for-steps.ts";
import type { DaemonPorts } from "../ports.ts";
import type { TerminalHolders } from "../terminal/holders.ts";
import { CheckpointStorage } from "./checkpoint-storage.ts";
import { RunCheckpoints } from "./checkpoints.ts";
import { Engine } from "./engine.ts";
import { MigrationOfRuns } from "./migration.ts";
import { WorkflowStore } from "./store.ts";

export type WorkflowPart = {
  readonly store: WorkflowStore;
  readonly engine: Engine;
  readonly checkpoints: RunCheckpoints;
  readonly storage: CheckpointStorage;
  readonly migration: MigrationOfRuns;
};

export function openWorkflows(
  log: EventLog,
  holders: TerminalHolders,
  ports: DaemonPorts,
  agents: StepAgents,
): WorkflowPart {
  const { world, config, bus, safeMode, say, onBug } = ports;
  const store = new WorkflowStore(log, world.clock, {
    // Only what happened, and to whom: an event may be as long as a transaction. Who wants to know more asks.
    publish: ({ event, id }) => bus.publish(event, { event, id }),
    settled: (events, run, ticket) => checkpoints.heard(events, run, ticket),
    perform: (effect) => engine.perform(effect),
    onBug,
  });
  const engine: Engine = new Engine(world, {
    run: (id) => store.settled(id), // U6 of session-store.ts: also for rounds, which come while something is being written.
    runs: () => store.allSettled(),
    submit: (command) => store.submit(command),
    holderCommand: () => holders.programs.command("orders"),
    isTrusted: ({ repo, id }) => log.frozen(`state/${repo}/sessions/${id}`) === undefined,
    agents,
    mayBegin: () => !safeMode.isActive(),
    onBug,
  });
  const storage = new CheckpointStorage(world, (session, after) => log.readAfter(session, after) ?? log.read(session));
  const checkpoints: RunCheckpoints = new RunCheckpoints(world.clock, storage, {
    isOff: () => safeMode.isActive(),
    say,
    onBug,
  });
  const rules = { allow: config.terminal.envAllow, deny: config.terminal.envDeny };
  const migration = new MigrationOfRuns(world, store, { rules, say, onBug });
  return { store, engine, checkpoints, storage, migration };
}
