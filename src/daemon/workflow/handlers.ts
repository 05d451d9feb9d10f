// What clients may ask about workflows. As handlers.ts: changing waits until the daemon is live.
// WH1. The daemon reads the file itself: what it checked is what runs, and a file of any length fits.
// WH2. A run's id is its client's. A repeat of the same wish finds its run, and makes no second one.
// WH3. What is shown is durable: a run as it is `settled`, never as it is only decided. Whoever reads `done` here can rely on it.
import { isFault } from "../../base/fault.ts";
import type { Json } from "../../base/json.ts";
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import { type EnvironmentRules, keepEnvironment } from "../../core/environment.ts";
import type { CreateRun, WorkflowCommand } from "../../core/workflow/commands.ts";
import { decideWorkflow } from "../../core/workflow/decide.ts";
import { changesOf, type StepChange } from "../../core/workflow/decide-versions.ts";
import type { Asker } from "../../core/workflow/events.ts";
import { parameterFrom } from "../../core/workflow/parameters.ts";
import { rollbackTo } from "../../core/workflow/rollback.ts";
import type { Run } from "../../core/workflow/run.ts";
import { GIT_VARIABLES, worktreeOf } from "../../core/workflow/worktree.ts";
import { askerOf, paramsOf } from "../../wire/rpc/params.ts";
import type { ListedRun, MigrationReport, RolledBackRun, RunParams, ShownRun } from "../../wire/rpc/workflow.ts";
import type { Disk } from "../../world/disk.ts";
import type { Handlers } from "../rpc-server.ts";
import { deadLettersOf, itemOf, listedOf, recordsOf, runningOf } from "./listed.ts";
import type { WorkflowPart } from "./part.ts";
import { repoOf, repositoryOf } from "./repo.ts";
import { readWorkflowFile } from "./workflow-files.ts";

export type WorkflowHandlerPorts = {
  readonly disk: Disk;
  readonly home: string;
  readonly environment: EnvironmentRules;
  /** Undefined until the daemon takes changes. */
  live(): WorkflowPart | undefined;
  /** Undefined until all runs are read: nobody is shown a part of them. */
  parts(): WorkflowPart | undefined;
};

type Params = Readonly<Record<string, unknown>>;

export function workflowHandlers(ports: WorkflowHandlerPorts): Handlers {
  const submit = async (command: WorkflowCommand | Refusal): Promise<Result<ListedRun>> => {
    const part = ports.live();
    if (part === undefined) return NOT_LIVE;
    if ("hint" in command) return { ok: false, error: command };
    const done = await part.store.submit(command);
    return done.ok ? ok(listedOf(done.value)) : done;
  };
  const looking = (look: (params: Params) => Promise<Result<unknown>>) => async (params: Params) =>
    ports.parts() === undefined ? NOT_LIVE : look(params);
  const ofRun = (params: Params, make: (id: string) => WorkflowCommand | Refusal) =>
    submit(typeof params["id"] === "string" ? make(params["id"]) : bad("id is a text"));
  const ofQueue = (params: Params, kind: "dlq-retry" | "dlq-clear") =>
    ofRun(params, (id) => {
      const found = paramsOf("dlq.retry", params); // Both take the same.
      return found.ok ? { kind, id, items: found.value.items } : found.error;
    });
  return {
    "workflow.run": (params) => run(ports, params),
    "workflow.list": looking(async () => ok(list(ports.parts()))),
    "workflow.show": looking(async (params) => show(ports.parts(), params)),
    "workflow.interrupt": (params) => ofRun(params, (id) => ({ kind: "interrupt", id })),
    "workflow.cancel": (params) => ofRun(params, (id) => ({ kind: "cancel", id })),
    "workflow.resume": (params) =>
      ofRun(params, (id) => ({ kind: "resume", id, force: params["force"] === true, ...askedBy(params) })),
    "dlq.list": looking(async ({ id, from }) => {
      const run = typeof id === "string" ? ports.parts()?.store.settled(id) : undefined; // WH3
      if (run === undefined) return unknown(id);
      return ok(deadLettersOf(run, typeof from === "number" ? from : 0));
    }),
    "dlq.show": looking(async ({ id, item }) => {
      const run = typeof id === "string" ? ports.parts()?.store.settled(id) : undefined; // WH3
      if (run === undefined) return unknown(id);
      const found = typeof item === "number" ? itemOf(run, item) : undefined;
      return found === undefined
        ? refused("unknown", `${run.name} has no item ${String(item)}.`, "holdfast dlq ls shows those that failed.")
        : ok(found);
    }),
    "dlq.retry": (params) => ofQueue(params, "dlq-retry"),
    "dlq.clear": (params) => ofQueue(params, "dlq-clear"),
    "workflow.rollback": (params) => rollback(ports, params),
    "workflow.changes": looking((params) => changes(ports, params)),
    "workflow.change": async (params) => {
      const { id } = params;
      return submit(typeof id === "string" ? await changeTo(ports, id) : bad("id is a text"));
    },
    "workflow.migrate": (params) => migrate(ports, params),
    "workflow.resolve": (params) =>
      ofRun(params, (id) => {
        const found = paramsOf("workflow.resolve", params);
        if (!found.ok) return found.error;
        const { attempt, verdict } = found.value;
        return { kind: "resolve", id, attempt, verdict, ...askedBy(params) };
      }),
  };
}

const NOT_LIVE = refused(
  "not-live",
  "The daemon is still recovering.",
  "Try again in a moment; `holdfast recovery status` shows how far it is.",
);

function unknown(id: unknown): Result<never> {
  return refused("unknown", `There is no run ${String(id)}.`, "holdfast workflows shows all.");
}

function askedBy({ by }: Params): { readonly by?: Asker } {
  const asker = askerOf(by);
  return asker === undefined ? {} : { by: asker };
}

function list(part: WorkflowPart | undefined): ListedRun[] {
  const runs = [...(part?.store.allSettled() ?? [])]; // WH3
  return runs.filter(({ removed }) => !removed).map(listedOf);
}

function show(part: WorkflowPart | undefined, { id, from }: Params): Result<ShownRun> {
  const run = typeof id === "string" ? part?.store.settled(id) : undefined; // WH3
  if (run === undefined || run.removed) return unknown(id);
  const first = typeof from === "number" && Number.isSafeInteger(from) && from >= 0 ? from : 0;
  const attempts = runningOf(run, (agent) => part?.engine.agentSteps.saidBy(agent) ?? "");
  return ok({ ...listedOf(run), from: first, records: recordsOf(run, first), attempts });
}

async function run(ports: WorkflowHandlerPorts, given: Params): Promise<Result<ListedRun>> {
  const part = ports.live();
  if (part === undefined) return NOT_LIVE;
  const params = paramsOf("workflow.run", given);
  if (!params.ok) return params;
  const known = part.store.settled(params.value.id); // WH3: one that is still being written is waited for below.
  if (known !== undefined) return ok(listedOf(known)); // WH2
  const command = await createOf(ports, params.value);
  if (!command.ok) return command;
  const { id, env } = params.value;
  const secrets = Object.entries(env).filter(([name]) => !(name in command.value.environment));
  part.engine.entrust(id, Object.fromEntries(secrets));
  const made = await part.store.submit(command.value);
  const twin = !made.ok && made.error.code === "id-taken" ? part.store.settled(id) : undefined; // WH2: asked twice at once.
  if (twin !== undefined) return ok(listedOf(twin));
  if (!made.ok) part.engine.entrust(id, {});
  return made.ok ? ok(listedOf(made.value)) : made;
}

/** How many undone steps an answer names. */
const MAX_UNDONE = 500;

/** Nothing is done on a dry run; in doubt it is one. */
async function rollback(ports: WorkflowHandlerPorts, { id, seq, dryRun }: Params): Promise<Result<RolledBackRun>> {
  const part = ports.live();
  if (part === undefined) return NOT_LIVE;
  const run = typeof id === "string" ? part.store.settled(id) : undefined; // WH3
  if (run === undefined || run.removed) return unknown(id);
  const saved = part.storage.loadAt(run.id, typeof seq === "number" ? seq : Number.NaN);
  if (!saved.ok) return saved;
  const back = rollbackTo(run, saved.value);
  if (!back.ok) return back;
  const { command, steps, items } = back.value;
  const done = dryRun === false ? await part.store.submit(command) : mayRollBack(run, command);
  if (!done.ok) return done;
  const more = Math.max(0, steps.length - MAX_UNDONE);
  return ok({ run: listedOf(done.value), steps: steps.slice(0, MAX_UNDONE), more, items });
}

/** The run as it is, or why it could not be rolled back now. */
function mayRollBack(run: Run, command: WorkflowCommand): Result<Run> {
  const decided = decideWorkflow(new Map([[run.id, run]]), command, run.createdAt);
  return decided.ok ? ok(run) : decided;
}

/** How a run's file differs from what the run goes by; a file that is gone differs in nothing. */
async function changes({ disk, parts }: WorkflowHandlerPorts, { id }: Params): Promise<Result<readonly StepChange[]>> {
  const run = typeof id === "string" ? parts()?.store.settled(id) : undefined; // WH3
  if (run === undefined) return unknown(id);
  if (disk.stat(run.path) === undefined) return ok([]);
  const file = await readWorkflowFile(disk, run.path);
  if (!file.ok) return file;
  return ok(file.value.sourceSha256 === run.sourceSha256 ? [] : changesOf(run, file.value.definition));
}

async function changeTo({ disk, parts }: WorkflowHandlerPorts, id: string): Promise<WorkflowCommand | Refusal> {
  const file = await readWorkflowFile(disk, parts()?.store.states.get(id)?.path ?? "");
  return file.ok ? { kind: "change", id, ...file.value } : file.error;
}

/** WH1. What looks like a secret goes to the programs, and never to disk (core/environment.ts). */
async function createOf(ports: WorkflowHandlerPorts, params: RunParams): Promise<Result<CreateRun>> {
  const { id, path, texts, values } = params;
  const file = await readWorkflowFile(ports.disk, path);
  if (!file.ok) return file;
  const { definition } = file.value;
  const named = Object.entries(texts).map(([name, text]): [string, Json] => [
    name,
    parameterFrom(definition, name, text),
  ]);
  const place = placeOf(ports, params, definition.name);
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

/** Where it runs: there where it was asked for, or in the same place of a worktree of its own. */
function placeOf(
  { disk, home, environment: rules }: WorkflowHandlerPorts,
  params: RunParams,
  name: string,
): Result<RunPlace> {
  const { id, cwd, env } = params;
  const repo = repoOf(disk, cwd);
  const environment = keepEnvironment(env, rules).kept;
  if (params.worktree !== true) return ok({ repo, cwd, worktree: undefined, environment });
  const repository = repositoryOf(disk, cwd);
  if (repository === undefined)
    return refused("no-repository", `${cwd} is in no git repository.`, "Run it in one, or without --worktree.");
  const worktree = worktreeOf({ id, name, repo }, { home, repository });
  const kept = Object.entries(environment).filter(([variable]) => !GIT_VARIABLES.includes(variable));
  const inside = `${worktree.path}${cwd.slice(repository.length)}`;
  return ok({ repo, cwd: inside, worktree, environment: Object.fromEntries(kept) });
}

/** A disk that does not let it is a refusal: what was taken over before stays so, and the next call goes on. */
async function migrate(ports: WorkflowHandlerPorts, given: Params): Promise<Result<MigrationReport>> {
  const part = ports.live();
  if (part === undefined) return NOT_LIVE;
  const params = paramsOf("workflow.migrate", given);
  if (!params.ok) return params;
  try {
    const { directory, workflows, env, dryRun = true } = params.value;
    return ok(await part.migration.migrate({ directory, workflows, env, dryRun }));
  } catch (error) {
    if (isFault(error)) return refused(error.code, error.message, error.hint);
    throw error;
  }
}

function bad(what: string): Refusal {
  return {
    code: "bad-params",
    message: `The request is malformed: ${what}.`,
    hint: "The command and the daemon may be of different versions.",
  };
}
