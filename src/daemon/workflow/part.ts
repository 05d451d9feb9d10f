// The workflows part of the daemon: their store on the shared log, their engine and their checkpoints.
import type { Agent } from "../../core/agent/agent.ts";
import { timesOf } from "../../core/workflow/effects.ts";
import { attemptsOf, type Run, sessionOf } from "../../core/workflow/run.ts";
import { CheckpointStorage } from "../../home/checkpoint-storage.ts";
import { wasDown } from "../../home/last-life.ts";
import type { Trouble } from "../../wire/rpc/rpc.ts";
import type { StepAgents } from "../agent/for-steps.ts";
import { foldSessions } from "../fold.ts";
import type { HolderCommand } from "../held/holder-program.ts";
import { decided, type Part, PartBorder, type PartPorts } from "../part.ts";
import { RunCheckpoints } from "./checkpoints.ts";
import { Engine, isOpen } from "./engine.ts";
import { workflowGarbage } from "./gc.ts";
import { workflowHandlers } from "./handlers.ts";
import { MigrationOfRuns } from "./migration.ts";
import { workflowStages } from "./recovery.ts";
import { WorkflowStore, workflowFolding } from "./store.ts";

export type WorkflowPart = Part & {
  readonly store: WorkflowStore;
  readonly engine: Engine;
  readonly checkpoints: RunCheckpoints;
  readonly storage: CheckpointStorage;
  /** Called when a change of an agent is durable. */
  heard(agent: Agent): void;
};

/** What runs need from the other parts. */
export type WorkflowLinks = { holderCommand(): HolderCommand; readonly agents: StepAgents };

export function openWorkflows(ports: PartPorts, links: WorkflowLinks): WorkflowPart {
  const { world, config, safeMode, say, onBug, log } = ports;
  const border = new PartBorder(ports, "workflows");
  const sessions = openSessions(ports, border, links);
  const { store, engine, storage, checkpoints } = sessions;
  const environment = { allow: config.terminal.envAllow, deny: config.terminal.envDeny };
  const migration = new MigrationOfRuns(world, store, { rules: environment, say, onBug });
  return {
    ...sessions,
    heard: (agent) => engine.agentSteps.heard(agent),
    handlers: workflowHandlers({ disk: world.disk, home: world.home, environment, border, migration, ...sessions }),
    fold: (progress) => {
      const steps = foldSessions({ border, log, store }, workflowFolding(storage, world.clock, say));
      return border.foldAll(world.clock, steps, progress);
    },
    stages: workflowStages({ border, store, engine, wasDown: () => wasDown(world) }),
    goLive: () => {
      checkpoints.startPolling();
      if (!safeMode.isActive()) void migration.firstAccess(world.self.environment());
    },
    leftSafeMode: async () => void migration.firstAccess(world.self.environment()),
    waits: () => [...store.states.values()].flatMap(timesOf),
    remindAll: () => engine.remindAll(),
    tick: () => engine.round(),
    stop: async () => {
      engine.close();
      await checkpoints.finish();
    },
    troubles: () => [...store.allSettled()].filter(isOpen).flatMap((run) => troublesOf(run, engine.trouble(run))),
    counts: () => ({ workflows: border.isRead ? [...store.allSettled()].filter(isOpen).length : 0 }),
    asides: border.asides,
    garbage: (limits) => workflowGarbage(world, store.states.values(), limits),
  };
}

/** A step that was never started waits for a person: after a few failures of the disk it is not tried again. */
function troublesOf(run: Run, trouble: string | undefined): Trouble[] {
  const step = `a step of the run ${run.id.slice(0, 8)}`;
  if (trouble !== undefined) return [{ what: `${step} is not started yet: ${trouble}`, next: "holdfast workflows" }];
  return attemptsOf(run).flatMap(({ state }) =>
    state.kind === "uncertain" && state.child === undefined
      ? [{ what: `${step} was not started: ${state.reason}`, next: `holdfast resume ${run.id.slice(0, 8)} --rerun` }]
      : [],
  );
}

function openSessions(ports: PartPorts, border: PartBorder, { holderCommand, agents }: WorkflowLinks) {
  const { world, config, bus, safeMode, say, log, times } = ports;
  const store = new WorkflowStore(
    log,
    times,
    border.hooks({
      // Only the event's name and the run: an event may be as long as a transaction. Clients ask for more if they need
      // it.
      publish: ({ event, id }) => bus.publish(event, { event, id }),
      settled: (events, run, ticket) => checkpoints.heard(events, run, ticket),
      perform: (effect) => engine.perform(effect),
    }),
  );
  const engine: Engine = new Engine(world, {
    run: (id) => store.settled(id), // U6 of session-store.ts: rounds may come while an event is being written.
    runs: () => store.allSettled(),
    left: times.left,
    submit: async (command) => decided(await store.submit(command)),
    holderCommand,
    isTrusted: (run) => log.frozen(sessionOf(run)) === undefined,
    agents,
    mayBegin: () => !safeMode.isActive(),
    beforeStep: (run) => checkpoints.beforeStep(run),
    onBug: (error, id) => void border.contain(id, error),
    guard: (id, work) => border.guard(id, work),
  });
  const storage = new CheckpointStorage(world, config.retention.histories);
  const isOff = () => safeMode.isActive();
  const checkpoints: RunCheckpoints = new RunCheckpoints(world.clock, storage, {
    ...{ intervalMs: config.workflows.checkpointS * 1000, isOff, say },
    lastSeq: (session) => log.lastSeq(session),
  });
  return { store, engine, storage, checkpoints };
}
