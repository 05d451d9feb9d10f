// The daemon's part for workflows: their turn, on the one log, and their engine.
import type { EventLog } from "../../log/event-log.ts";
import type { StepAgents } from "../agent/for-steps.ts";
import type { DaemonPorts } from "../daemon.ts";
import type { Hands } from "../terminal/holders.ts";
import { CheckpointStorage } from "./checkpoint-storage.ts";
import { RunCheckpoints } from "./checkpoints.ts";
import { Engine } from "./engine.ts";
import { MigrationOfRuns } from "./migration.ts";
import { WorkflowTurn } from "./store.ts";

export type WorkflowPart = {
  readonly turn: WorkflowTurn;
  readonly engine: Engine;
  readonly checkpoints: RunCheckpoints;
  readonly storage: CheckpointStorage;
  readonly migration: MigrationOfRuns;
};

export function openWorkflows(log: EventLog, hands: Hands, ports: DaemonPorts, agents: StepAgents): WorkflowPart {
  const { world, config, bus, safeMode, say, broken } = ports;
  const turn = new WorkflowTurn(log, world.clock, {
    // Only what happened, and to whom: an event may be as long as a transaction. Who wants to know more asks.
    publish: ({ event, id }) => bus.publish(event, { event, id }),
    settled: (events, run, ticket) => checkpoints.heard(events, run, ticket),
    perform: (effect) => engine.perform(effect),
    broken,
  });
  const engine: Engine = new Engine(world, {
    run: (id) => turn.settled(id), // U6 of session-store.ts: also for rounds, which come while something is being written.
    runs: () => turn.allSettled(),
    submit: (command) => turn.submit(command),
    holderWords: () => hands.programs.words("orders"),
    isTrusted: ({ repo, id }) => log.frozen(`state/${repo}/sessions/${id}`) === undefined,
    agents,
    mayBegin: () => !safeMode.isActive(),
    broken,
  });
  const storage = new CheckpointStorage(world, (session, after) => log.readAfter(session, after) ?? log.read(session));
  const checkpoints: RunCheckpoints = new RunCheckpoints(world.clock, storage, {
    isOff: () => safeMode.isActive(),
    say,
    broken,
  });
  const rules = { allow: config.terminal.envAllow, deny: config.terminal.envDeny };
  const migration = new MigrationOfRuns(world, turn, { rules, say, broken });
  return { turn, engine, checkpoints, storage, migration };
}
