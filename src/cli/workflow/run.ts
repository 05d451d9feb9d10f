// `holdfast run`: checks a workflow file, starts a run of it, and follows it.
// RN1. The run's id is chosen before the request: if the daemon dies in between, the retry starts no second run.

import { newId, shortId } from "../../base/ids.ts";
import type { Json } from "../../base/json.ts";
import { baseName } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { type Definition, stepsOf } from "../../core/workflow/definition.ts";
import { terminalEnvironment } from "../../home/environment.ts";
import { readWhole } from "../../log/file/file.ts";
import { plain } from "../../wire/files/source.ts";
import { readWorkflow, workflowNameOf, workflowRefusal } from "../../wire/files/workflow-file.ts";
import { readYaml } from "../../wire/files/yaml-node.ts";
import { isJsonTable, type ListedRun, type RunParams } from "../../wire/rpc/workflow.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { mayTravel, queueWork, withoutAny } from "../fleet/any.ts";
import type { AnyFlags } from "../fleet/any-flags.ts";
import { meantHome } from "../home.ts";
import { count, say } from "../print.ts";
import { followToEnd } from "./ended.ts";
import { printRun } from "./rows.ts";
import { textsOf } from "./texts.ts";

export type RunFlags = DataFlags & {
  readonly param?: readonly string[];
  readonly paramFile?: string;
  readonly detach?: boolean;
  readonly check?: boolean;
  readonly worktree?: boolean;
} & AnyFlags;

/** Steps have no terminal. */
const TERM = "dumb";

async function run(world: DaemonCommandWorld, flags: RunFlags, file: string): Promise<Exit> {
  const read = readFile(world, file);
  if (!read.ok) return read;
  if (flags.check) return checked(world, file, read.value.definition, flags.json === true);
  const texts = textsOf(flags.param ?? []);
  const values = valuesOf(world, flags.paramFile);
  const home = meantHome(world, flags.home);
  if (!texts.ok) return texts;
  if (!values.ok) return values;
  const labels = withoutAny(flags);
  if (!labels.ok) return labels;
  if (flags.any)
    return runAnywhere(world, flags, { file, source: read.value.source, texts: texts.value, values: values.value });
  if (!home.ok) return home;
  const id = newId(world.random.bytes(16)); // RN1
  const [path, cwd] = [world.console.absolute(file), world.console.absolute(".")];
  const env = terminalEnvironment(world.self.environment(), TERM);
  const worktree = flags.worktree === true;
  const wish = { id, path, cwd, texts: texts.value, values: values.value, env, worktree };
  const made = await onDaemon(world, home.value, (client) => client.call("workflow.run", wish));
  if (!made.ok) return made;
  if (!flags.detach) {
    if (!flags.json) await say(world.console, startText(made.value));
    return followToEnd(world, home.value, { id, json: flags.json === true, old: 0 });
  }
  if (flags.json) await printRun(world, made.value);
  else await world.console.out.write(`${id}\n`);
  return ok(EXIT.ok);
}

type Travels = Pick<RunParams, "texts" | "values"> & { readonly file: string; readonly source: string };

async function runAnywhere(world: DaemonCommandWorld, flags: RunFlags, { file, ...work }: Travels): Promise<Exit> {
  const may = mayTravel({ "--worktree": flags.worktree });
  return may.ok ? queueWork(world, flags, { name: baseName(file), ...work }) : may;
}

function startText(run: ListedRun): string {
  const { id, name, state } = run;
  if (state === "queued") return `${name} is queued as ${shortId(id)}: it starts when the runs before it are over.`;
  return `${name} is running as ${shortId(id)}${whereText(run)}.`;
}

function whereText({ worktree }: ListedRun): string {
  return worktree === null ? "" : ` in the worktree ${worktree.path} (branch ${worktree.branch})`;
}

type ReadFile = { readonly definition: Definition; readonly source: string };

function readFile({ disk, console }: DaemonCommandWorld, file: string): Result<ReadFile> {
  const path = console.absolute(file);
  const bytes = disk.stat(path)?.kind === "file" ? readWhole(disk, path) : undefined;
  if (bytes === undefined) return refused("unknown", `There is no file ${file}.`, "Name a workflow file.");
  const read = readWorkflow(bytes, workflowNameOf(path));
  if (!read.ok) return { ok: false, error: workflowRefusal(file, read.error) };
  return ok({ definition: read.value, source: new TextDecoder().decode(bytes) });
}

async function checked(
  { console }: DaemonCommandWorld,
  file: string,
  definition: Definition,
  json: boolean,
): Promise<Exit> {
  const phases = ["steps", "setup", "map", "reduce"] as const;
  const steps = phases.reduce((sum, phase) => sum + stepsOf(definition, phase).length, 0);
  const { name, flow } = definition;
  if (json) await console.out.write(`${visibleLine(JSON.stringify({ path: file, name, mode: flow.mode, steps }))}\n`);
  else await say(console, `${file} is valid: ${flow.mode}, ${count(steps, "step")}.`);
  return ok(EXIT.ok);
}

function valuesOf(
  { disk, console }: DaemonCommandWorld,
  file: string | undefined,
): Result<Readonly<Record<string, Json>>> {
  if (file === undefined) return ok({});
  const bytes = readWhole(disk, console.absolute(file));
  if (bytes === undefined) return refused("unknown", `There is no file ${file}.`, "Name a file with parameters.");
  const yaml = readYaml(new TextDecoder().decode(bytes));
  if (!yaml.ok) return { ok: false, error: workflowRefusal(file, yaml.error) };
  const value: unknown = plain(yaml.value.root);
  return isJsonTable(value)
    ? ok(value)
    : refused("usage", `${file} does not contain names and values.`, "Write one `name: value` per line.");
}

export const runCommand = withDaemonWorld(run);
