// The workflows part of the daemon: their store on the shared log, their engine and their checkpoints.
import type { Agent } from "../../core/agent/agent.ts";
import { atRest } from "../../core/workflow/at-rest.ts";
import { timesOf } from "../../core/workflow/effects.ts";
import { attemptsOf, type Run, sessionOf } from "../../core/workflow/run.ts";
import { slotsFor } from "../../core/workflow/slots.ts";
import { CheckpointStorage } from "../../home/checkpoint-storage.ts";
import { readTaken } from "../../home/fleet-files.ts";
import { ONLY_GENERATION } from "../../home/held/holder-files.ts";
import type { LetGo } from "../../home/item-pages.ts";
import { wasDown } from "../../home/last-life.ts";
import { runForPerson } from "../../wire/rpc/attention.ts";
import { archivedRow, listedOf } from "../../wire/rpc/listed-run.ts";
import type { Trouble } from "../../wire/rpc/rpc.ts";
import type { Self } from "../../world/self.ts";
import type { StepAgents } from "../agent/for-steps.ts";
import { Archive } from "../archive.ts";
import { foldSessions, idOf } from "../fold.ts";
import { mayHaveRun } from "../held/held-programs.ts";
import type { HolderCommand } from "../held/holder-program.ts";
import { environmentRules } from "../live-config.ts";
import { type BegunProgram, decided, type Part, PartBorder, type PartPorts } from "../part.ts";
import { attemptDirectory } from "./attempt-files.ts";
import { RunCheckpoints } from "./checkpoints.ts";
import { Engine, isOpen } from "./engine.ts";
import { workflowGarbage } from "./gc.ts";
import { workflowHandlers } from "./handlers.ts";
import { MigrationOfRuns } from "./migration.ts";
import { workflowStages } from "./recovery.ts";
import { type WorkflowArchive, WorkflowStore, type Workflows, workflowFolding } from "./store.ts";

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
  const { world, live, safeMode, say, onBug, log } = ports;
  const border = new PartBorder(ports, "workflows");
  const sessions = openSessions(ports, border, links);
  const { store, engine, storage, checkpoints } = sessions;
  const folding = workflowFolding(storage, world.clock, say);
  const archive = archiveOf(ports, border, sessions, folding);
  const archived = () => archive.lines();
  const environment = environmentRules(live);
  const isThere = (path: string) => world.disk.stat(path) !== undefined;
  const takenFrom = () => readTaken(world)?.from;
  const migration = new MigrationOfRuns(world, store, {
    rules: environment,
    say,
    onBug,
    archived: (id) => archive.look(id),
  });
  return {
    ...sessions,
    heard: (agent) => engine.agentSteps.heard(agent),
    handlers: workflowHandlers({
      ...{ disk: world.disk, home: world.home, environment, border, migration, archive },
      ...sessions,
    }),
    fold: (progress) => {
      const steps = foldSessions({ border, log, store }, folding);
      return border.foldAll(world.clock, steps, progress);
    },
    stages: workflowStages({ border, store, engine, wasDown: () => wasDown(world), takenFrom, isThere }),
    begun: () => [...store.states.values()].flatMap((run) => begunOf(world.home, engine, run)),
    goLive: () => {
      checkpoints.startPolling();
      archive.tick();
      if (!safeMode.isActive()) void migration.firstAccess(world.self.environment());
    },
    leftSafeMode: async () => void migration.firstAccess(world.self.environment()),
    waits: () => [...store.states.values()].flatMap(timesOf),
    remindAll: () => engine.remindAll(),
    tick: () => {
      engine.round();
      archive.tick();
    },
    stop: async () => {
      engine.close();
      await archive.stop();
      await checkpoints.finish();
    },
    attention: () => forPerson([...store.inOrder()].map(({ state }) => state)),
    troubles: () => [...store.allSettled()].filter(isOpen).flatMap((run) => troublesOf(run, engine.trouble(run))),
    counts: () => ({ workflows: border.isRead ? [...store.allSettled()].filter(isOpen).length : 0 }),
    asides: border.asides,
    garbage: (limits) => workflowGarbage(world, { runs: () => store.states.values(), archived }, limits),
    covered: (session) => (store.states.get(idOf(session))?.removed === false ? storage.covers(session) : 0),
    archived,
    collected: () => archive.collected(),
  };
}

/** Without those that an agent works on: whether that was created is in the log (GA1 of agent-steps.ts). */
function begunOf(home: string, { agentSteps }: Engine, run: Run): BegunProgram[] {
  const ids = attemptsOf(run).flatMap(({ id }) => (agentSteps.has(id) ? [] : id));
  const place = (attempt: string) => attemptDirectory(home, { repo: run.repo, attempt });
  return ids.map((id) => ({ session: run.id, directory: place(id), generation: ONLY_GENERATION }));
}

function archiveOf(
  { world, config, log, safeMode, isPinned }: PartPorts,
  border: PartBorder,
  { store, engine, storage, checkpoints }: ReturnType<typeof openSessions>,
  folding: ReturnType<typeof workflowFolding>,
): WorkflowArchive {
  const afterMs = config.retention.archiveAfterMin * 60_000;
  const ports = { place: world, log, store, border, afterMs, isOff: () => safeMode.isActive() || isPinned() };
  return new Archive<Workflows>(ports, {
    folding,
    session: sessionOf,
    over: () => atRest([...store.states.values()]),
    endedAt: ({ status }) => ("at" in status ? status.at : null),
    isQuiet: (id) => checkpoints.isQuiet(id) && engine.isQuiet(id),
    row: (run) => (run.removed ? null : archivedRow(listedOf(run))),
    forget: (id, session) => {
      checkpoints.forget(id);
      storage.forget(session);
    },
    left: ({ id, removed, status, items }) => {
      if (removed || (status.kind === "done" && items.failed === 0)) engine.secrets.forget(id); // No step will ask.
    },
  });
}

/** AT1 of wire/rpc/attention.ts */
function forPerson(inOrder: readonly Run[]): Trouble[] {
  const runs = inOrder.filter(({ removed }) => !removed);
  const newest = new Map(runs.map(({ id, name }) => [name, id]));
  return runs
    .filter(({ status }) => status.kind !== "done" && status.kind !== "cancelled")
    .flatMap((run) => runForPerson(listedOf(run), newest.get(run.name) === run.id));
}

/** A step that was never started waits for a person: after a few failures of the disk it is not tried again. */
function troublesOf(run: Run, trouble: string | undefined): Trouble[] {
  const step = `a step of the run ${run.id.slice(0, 8)}`;
  if (trouble !== undefined) return [{ what: `${step} is not started yet: ${trouble}`, next: "holdfast workflows" }];
  return attemptsOf(run).flatMap(({ state }) =>
    state.kind === "uncertain" && state.child === undefined && !mayHaveRun(state.reason)
      ? [{ what: `${step} was not started: ${state.reason}`, next: `holdfast resume ${run.id.slice(0, 8)} --rerun` }]
      : [],
  );
}

/** In bytes of JSON, which are several times as many in memory. */
const COLLECT_BYTES = 1 << 20;
/** In bytes of events: each leaves ten times as much behind, because a state is never changed in place. */
const COLLECT_NEW_BYTES = 512 << 10;

/** By itself the runtime looks for what is not used any more only when its memory has doubled. */
function collecting({ collect }: Pick<Self, "collect">, which: "all" | "new", most: number): LetGo {
  let waiting = 0;
  return (bytes) => {
    waiting += bytes;
    if (waiting < most) return;
    waiting = 0;
    collect(which);
  };
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
      settled: (events, run, ticket) => {
        checkpoints.heard(events, run, ticket);
        replaced(ticket.bytes);
      },
      perform: (effect) => engine.perform(effect),
    }),
  );
  const letGo = collecting(world.self, "all", COLLECT_BYTES);
  const replaced = collecting(world.self, "new", COLLECT_NEW_BYTES);
  const engine: Engine = new Engine(world, {
    run: (id) => store.settled(id), // U6 of session-store.ts: rounds may come while an event is being written.
    runs: () => store.allSettled(),
    left: times.left,
    submit: async (command) => decided(await store.submit(command)),
    holderCommand,
    isTrusted: (run) => log.frozen(sessionOf(run)) === undefined,
    agents,
    mayBegin: () => !safeMode.isActive(),
    isWhole: (id) => !border.asides.has(id),
    slots: config.workflows.slots || slotsFor(world.self.capacity()),
    beforeStep: (run) => checkpoints.beforeStep(run),
    afterItems: (run) => checkpoints.afterItems(run),
    letGo,
    onBug: (error, id) => void border.contain(id, error),
    guard: (id, work) => border.guard(id, work),
  });
  const storage = new CheckpointStorage(world, config.retention.histories, letGo);
  const isOff = () => safeMode.isActive();
  const checkpoints: RunCheckpoints = new RunCheckpoints(world.clock, storage, {
    ...{ intervalMs: config.workflows.checkpointS * 1000, isOff, say },
    lastSeq: (session) => log.lastSeq(session),
  });
  return { store, engine, storage, checkpoints };
}
