// The requests that clients may make about workflows. Nothing is changed before the daemon is live (PB3 of part.ts).
// WH1. The daemon reads the file itself: what it checked is what runs, and the file may have any length.
// WH2. The client chooses a run's id. A repeated request finds its run, and creates no second one.
// WH3. What is shown is durable: a run's `settled` state, never one that is only decided. A client that reads `done`
//      here can rely on it.
// WH4. A run that is archived is shown like any other. A request that may change it brings it back first (PB4
//      of part.ts).
import { isFault } from "../../base/fault.ts";
import type { Json } from "../../base/json.ts";
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import { type EnvironmentRules, keepEnvironment } from "../../core/environment.ts";
import type { Caller } from "../../core/principal.ts";
import type { CreateRun, WorkflowCommand } from "../../core/workflow/commands.ts";
import { decideWorkflow } from "../../core/workflow/decide.ts";
import { changesOf, type StepChange } from "../../core/workflow/decide-versions.ts";
import type { Definition } from "../../core/workflow/definition.ts";
import type { Asker } from "../../core/workflow/events.ts";
import { pickRun } from "../../core/workflow/find.ts";
import { parameterFrom, secretNames, secretParameters } from "../../core/workflow/parameters.ts";
import { rollbackTo } from "../../core/workflow/rollback.ts";
import { type Run, sessionOf } from "../../core/workflow/run.ts";
import { GIT_VARIABLES, worktreeOf } from "../../core/workflow/worktree.ts";
import type { CheckpointStorage } from "../../home/checkpoint-storage.ts";
import {
  deadLettersOf,
  itemOf,
  itemStatesOf,
  listedIn,
  listedOf,
  recordsOf,
  retriesOf,
  runningOf,
} from "../../wire/rpc/listed-run.ts";
import { fits, whole } from "../../wire/rpc/page.ts";
import { askerOf, type PARAMS, type Params } from "../../wire/rpc/params.ts";
import type {
  ListedRun,
  MigratedRun,
  MigrationReport,
  RolledBackRun,
  RunParams,
  SavedCheckpoint,
  ShownRun,
} from "../../wire/rpc/workflow.ts";
import type { Disk } from "../../world/disk.ts";
import { listOf, living, withArchived } from "../pages.ts";
import type { PartBorder } from "../part.ts";
import type { Given, Handlers } from "../rpc-server.ts";
import type { RunCheckpoints } from "./checkpoints.ts";
import { type Engine, lacksText } from "./engine.ts";
import type { MigrationOfRuns } from "./migration.ts";
import { repoOf, repositoryOf } from "./repo.ts";
import type { WorkflowArchive, WorkflowStore } from "./store.ts";
import { readWorkflowFile } from "./workflow-files.ts";

export type WorkflowHandlerPorts = {
  readonly disk: Disk;
  readonly home: string;
  readonly environment: EnvironmentRules;
  readonly border: PartBorder;
  readonly store: WorkflowStore;
  readonly engine: Engine;
  readonly storage: CheckpointStorage;
  readonly checkpoints: RunCheckpoints;
  readonly migration: MigrationOfRuns;
  readonly archive: WorkflowArchive;
};

export function workflowHandlers(ports: WorkflowHandlerPorts): Handlers {
  const { border } = ports;
  return {
    ...commandHandlers(ports),
    ...border.changing("workflow.run", (params, by) => run(ports, params, by)),
    ...border.listing("workflow.list", (wish) => runs(ports, wish.newest, (row) => fits(row, wish))),
    ...border.asking("workflow.find", async (wish) => find(ports, wish)),
    "workflow.show": border.looking(async (params) => show(ports, params)),
    ...border.asking("workflow.items", async ({ id, from }) => {
      const run = runOf(ports, id);
      return run === undefined || run.removed ? unknown(id) : ok(itemStatesOf(run, from));
    }),
    ...border.changing("workflow.checkpoint", ({ id }) => saveCheckpoint(ports, id)),
    ...border.changing("workflow.rollback", (params, by) => rollback(ports, params, by)),
    "workflow.changes": border.looking((params) => changes(ports, params)),
    ...border.changing("workflow.migrate", (params) => migrate(ports, params)),
    "dlq.list": border.looking(async ({ id, from }) => {
      const run = runOf(ports, id);
      return run === undefined ? unknown(id) : ok(deadLettersOf(run, typeof from === "number" ? from : 0));
    }),
    "dlq.show": border.looking(async ({ id, item }) => {
      const run = runOf(ports, id);
      if (run === undefined) return unknown(id);
      const found = typeof item === "number" ? itemOf(run, item) : undefined;
      return found === undefined
        ? refused("unknown", `${run.name} has no item ${String(item)}.`, "holdfast dlq ls shows those that failed.")
        : ok(found);
    }),
  };
}

/** UC-2: a checkpoint with the reason `Manual`. */
async function saveCheckpoint(ports: WorkflowHandlerPorts, id: string): Promise<Result<SavedCheckpoint>> {
  const run = runOf(ports, id);
  if (run === undefined) return unknown(id);
  const saved = await ports.checkpoints.saveNow(run);
  return saved.ok ? ok({ id: run.id, path: saved.value.path, seq: saved.value.seq, reason: "Manual" }) : saved;
}

type Wish = WorkflowCommand | Refusal;
type RunMethod = Extract<keyof typeof PARAMS, `workflow.${string}` | `dlq.${string}`>;

/** The requests that are one command to one run. */
function commandHandlers(ports: WorkflowHandlerPorts): Handlers {
  const { border, store } = ports;
  const ofRun = <M extends RunMethod>(method: M, make: (params: Params<M>) => Wish | Promise<Wish>) =>
    border.changing(method, async (params, by) => {
      const command = await make(params);
      if ("hint" in command) return { ok: false, error: command };
      const done = await store.submit(command, by);
      return done.ok ? ok(listedOf(done.value)) : done;
    });
  return {
    ...ofRun("workflow.interrupt", ({ id }) => ({ kind: "interrupt", id })),
    ...ofRun("workflow.cancel", ({ id }) => ({ kind: "cancel", id })),
    ...ofRun("workflow.remove", ({ id }) => ({ kind: "remove", id })),
    ...border.changing("workflow.resume", (params) => resume(ports, params)),
    ...ofRun("workflow.change", ({ id }) => changeTo(ports, id)),
    ...ofRun("workflow.resolve", ({ id, attempt, verdict, by }) => {
      return { kind: "resolve", id, attempt, verdict, ...askedBy(by) };
    }),
    ...ofRun("dlq.retry", ({ id, items }) => ({ kind: "dlq-retry", id, items })),
    ...ofRun("dlq.clear", ({ id, items }) => ({ kind: "dlq-clear", id, items })),
  };
}

/** Secrets that are given again are known before a step could ask for them. A run that only waited for them goes on. */
async function resume(ports: WorkflowHandlerPorts, params: Params<"workflow.resume">): Promise<Result<ListedRun>> {
  const { store, engine } = ports;
  const { id, force, by, secrets = {} } = params;
  const known = runOf(ports, id);
  if (known !== undefined) engine.secrets.add(id, secretsAmong(known, secrets));
  const lacks = known === undefined ? undefined : lacksText(known, engine.secrets.lacking(known));
  if (lacks !== undefined) return refused("lacks-secret", `${known?.name} needs what is not known any more.`, lacks);
  if (known?.status.kind === "going" && Object.keys(secrets).length > 0) {
    engine.performAll(known);
    return ok(listed(ports, known));
  }
  const done = await store.submit({ kind: "resume", id, force, ...askedBy(by) });
  return done.ok ? ok(listed(ports, done.value)) : done;
}

function secretsAmong({ definition }: Run, given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const names = secretNames(definition);
  return Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name)));
}

function listed({ engine }: WorkflowHandlerPorts, run: Run): ListedRun {
  const lacks = ["done", "cancelled"].includes(run.status.kind) ? [] : engine.secrets.lacking(run);
  return listedOf(run, engine.trouble(run), lacks, engine.attempts.waitingForSlot(run.id));
}

/** WH3, WH4 */
function runOf({ store, archive }: WorkflowHandlerPorts, id: unknown): Run | undefined {
  return typeof id === "string" ? (store.settled(id) ?? archive.look(id)) : undefined;
}

function unknown(id: unknown): Result<never> {
  return refused("unknown", `There is no run ${String(id)}.`, "holdfast workflows shows all.");
}

function askedBy(by: unknown): { readonly by?: Asker } {
  const asker = askerOf(by);
  return asker === undefined ? {} : { by: asker };
}

/** Where the rows of runs come from: memory (WH3) and the archive (WH4). */
function runs(ports: WorkflowHandlerPorts, newest: boolean | undefined, isMeant: (row: ListedRun) => boolean) {
  const meant = (row: ListedRun | undefined) => (row !== undefined && isMeant(row) ? row : undefined);
  return withArchived(alive(ports, newest, meant), ports.archive, newest, (row) => meant(listedIn(row)));
}

function alive(
  ports: WorkflowHandlerPorts,
  newest: boolean | undefined,
  meant: (row: ListedRun) => ListedRun | undefined,
) {
  return living(ports.store, newest, (run) => (run.removed ? undefined : meant(listed(ports, run))));
}

/** Without a key, one that is at hand is meant. */
function find(ports: WorkflowHandlerPorts, wish: Params<"workflow.find">): Result<ListedRun> {
  const keys = [wish.key ?? [], wish.path ?? []].flat();
  const archived = keys.length === 0 ? [] : [...ports.archive.rowsWith(keys)].flatMap((row) => listedIn(row) ?? []);
  const all = [...archived.reverse(), ...listOf(alive(ports, false, (row) => row))];
  return pickRun(all, wish, (run) => run);
}

function show(ports: WorkflowHandlerPorts, { id, from }: Given): Result<ShownRun> {
  const run = runOf(ports, id);
  if (run === undefined || run.removed) return unknown(id);
  const first = typeof from === "number" && Number.isSafeInteger(from) && from >= 0 ? from : 0;
  const attempts = runningOf(run, (agent) => ports.engine.agentSteps.saidBy(agent));
  return ok({ ...listed(ports, run), ...recordsOf(run, first), attempts, retries: retriesOf(run) });
}

async function run(ports: WorkflowHandlerPorts, params: RunParams, by: Caller | undefined): Promise<Result<ListedRun>> {
  const { store, engine } = ports;
  const known = runOf(ports, params.id); // WH3: if it is still being written, the submit below waits for it.
  if (known !== undefined) return ok(listedOf(known)); // WH2
  const command = await createOf(ports, params);
  if (!command.ok) return command;
  const { id, env } = params;
  const { definition, parameters: given, environment } = command.value;
  const secrets = secretParameters(definition, given, env);
  if (!secrets.ok) return secrets;
  const variables = Object.entries(env).filter(([name]) => !(name in environment));
  engine.secrets.set(id, { variables: Object.fromEntries(variables), parameters: secrets.value });
  const made = await store.submit(command.value, by);
  const twin = !made.ok && made.error.code === "id-taken" ? store.settled(id) : undefined; // WH2: concurrent requests.
  if (twin !== undefined) return ok(listedOf(twin));
  if (!made.ok) engine.secrets.forget(id);
  return made.ok ? ok(listedOf(made.value)) : made;
}

/** How many undone steps an answer names. */
const MAX_UNDONE = 500;

/** A dry run changes nothing. */
async function rollback(
  ports: WorkflowHandlerPorts,
  wish: Params<"workflow.rollback">,
  by: Caller | undefined,
): Promise<Result<RolledBackRun>> {
  const { id, seq, dryRun } = wish;
  const run = runOf(ports, id);
  if (run === undefined || run.removed) return unknown(id);
  const saved = ports.storage.loadAt(sessionOf(run), seq);
  if (!saved.ok) return saved;
  const back = rollbackTo(run, saved.value);
  if (!back.ok) return back;
  const { command, steps, unlisted, items } = back.value;
  const done = dryRun ? mayRollBack(run, command) : await ports.store.submit(command, by);
  if (!done.ok) return done;
  const more = unlisted + Math.max(0, steps.length - MAX_UNDONE);
  return ok({ run: listedOf(done.value), steps: steps.slice(0, MAX_UNDONE), more, items });
}

/** The unchanged run, or the reason why it could not be rolled back now. */
function mayRollBack(run: Run, command: WorkflowCommand): Result<Run> {
  const decided = decideWorkflow(new Map([[run.id, run]]), command, run.createdAt);
  return decided.ok ? ok(run) : decided;
}

/** How a run's file differs from the definition that the run uses; a missing file counts as unchanged. */
async function changes(ports: WorkflowHandlerPorts, { id }: Given): Promise<Result<readonly StepChange[]>> {
  const { disk } = ports;
  const run = runOf(ports, id);
  if (run === undefined) return unknown(id);
  if (disk.stat(run.path) === undefined) return ok([]);
  const file = await readWorkflowFile(disk, run.path);
  if (!file.ok) return file;
  return ok(file.value.sourceSha256 === run.sourceSha256 ? [] : changesOf(run, file.value.definition));
}

async function changeTo({ disk, store }: WorkflowHandlerPorts, id: string): Promise<WorkflowCommand | Refusal> {
  const file = await readWorkflowFile(disk, store.states.get(id)?.path ?? "");
  return file.ok ? { kind: "change", id, ...file.value } : file.error;
}

/**
 * WH1. Variables that look like secrets are passed to the programs, and never written to disk (core/environment.ts).
 */
async function createOf(ports: WorkflowHandlerPorts, params: RunParams): Promise<Result<CreateRun>> {
  const { id, path, texts, values } = params;
  const file = await readWorkflowFile(ports.disk, path);
  if (!file.ok) return file;
  const { definition } = file.value;
  const named = Object.entries(texts).map(([name, text]): [string, Json] => [
    name,
    parameterFrom(definition, name, text),
  ]);
  const place = placeOf(ports, params, definition);
  if (!place.ok) return place;
  return ok({
    kind: "create",
    id,
    path,
    ...place.value,
    ...file.value,
    parameters: { ...values, ...Object.fromEntries(named) },
  });
}

type RunPlace = Pick<CreateRun, "repo" | "cwd" | "worktree" | "environment">;

/** Where it runs: in the client's directory, or in the same place of its own worktree. */
function placeOf(
  { disk, home, environment: rules }: WorkflowHandlerPorts,
  params: RunParams,
  definition: Definition,
): Result<RunPlace> {
  const { id, cwd, env } = params;
  const { name } = definition;
  const repo = repoOf(disk, cwd);
  const secret = secretNames(definition); // PA1 of parameters.ts
  const environment = keepEnvironment(env, { ...rules, deny: [...rules.deny, ...secret] }).kept;
  if (params.worktree !== true) return ok({ repo, cwd, worktree: undefined, environment });
  const repository = repositoryOf(disk, cwd);
  if (repository === undefined)
    return refused("no-repository", `${cwd} is not in a git repository.`, "Run it in one, or without --worktree.");
  const worktree = worktreeOf({ id, name, repo }, { home, repository });
  const kept = Object.entries(environment).filter(([variable]) => !GIT_VARIABLES.includes(variable));
  const inside = `${worktree.path}${cwd.slice(repository.length)}`;
  return ok({ repo, cwd: inside, worktree, environment: Object.fromEntries(kept) });
}

/** A disk failure is a refusal: what was taken over before stays, and the next call continues. */
async function migrate(
  { migration }: WorkflowHandlerPorts,
  { dryRun = true, ...wish }: Params<"workflow.migrate">,
): Promise<Result<MigrationReport>> {
  try {
    const { items, ...report } = await migration.migrate({ ...wish, dryRun });
    const isLost = ({ fate }: MigratedRun) => fate === "could not";
    return ok({ ...report, ...whole([...items.filter(isLost), ...items.filter((item) => !isLost(item))]) });
  } catch (error) {
    if (isFault(error)) return refused(error.code, error.message, error.hint);
    throw error;
  }
}
