// `holdfast resume`: continues a run, and follows it.
// RS1. An uncertain step runs again only if a person says so: otherwise it is shown, and nothing happens.
// RS2. A changed file is shown, and nothing happens before a person says which version counts.
// RS3. If several callers resume a run at once, one wins; the others learn which (exit 75). A run that is already
//      running is followed, unless more was requested.
// RS4. The id of a session of an older program means the run that it has become; it is taken over first, if need be.
import { newId } from "../../base/ids.ts";
import { localTime } from "../../base/local-time.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { Asker, UncertainVerdict } from "../../core/workflow/events.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { say } from "../print.ts";
import { followToEnd, needsText } from "./ended.ts";
import { oldEnvironment, oldHomes } from "./old-homes.ts";
import { findRun, isUnderWay, printRun } from "./rows.ts";
import { textsOf } from "./texts.ts";

export type ResumeFlags = DataFlags & {
  readonly param?: readonly string[];
  readonly rerun?: boolean;
  readonly done?: boolean;
  readonly failed?: boolean;
  readonly force?: boolean;
  readonly acceptChanges?: boolean;
  readonly unchanged?: boolean;
  readonly detach?: boolean;
};

async function resume(world: DaemonCommandWorld, flags: ResumeFlags, key?: string): Promise<Exit> {
  const verdict = verdictOf(flags);
  if (!verdict.ok) return verdict;
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const params = textsOf(flags.param ?? []);
  if (!params.ok) return params;
  const { env } = world.console;
  const old = { homes: oldHomes(world, home.value), env: oldEnvironment(world) };
  const wish: Wish = { flags, verdict: verdict.value, by: askerOf(world), params: params.value, world, env, old };
  const going = await onDaemon(world, home.value, (client) => resumeRun(client, key, wish));
  if (!going.ok) return going;
  const { run, asks } = going.value;
  const json = flags.json === true;
  if (asks) {
    if (json) await printRun(world, run);
    else await say(world.console, needsText(run));
    return ok(EXIT.waiting); // RS1
  }
  if (!flags.detach) {
    if (!json && isUnderWay(run.state)) await sayWho(world, run);
    return followToEnd(world, home.value, { id: run.id, json, old: run.ended });
  }
  if (json) await printRun(world, run);
  return ok(EXIT.ok);
}

/** RS3 */
async function sayWho({ console, processes }: DaemonCommandWorld, { name, resumed }: ListedRun): Promise<void> {
  if (resumed === null || resumed.pid === processes.pid) return;
  const { pid, user, at } = resumed;
  await say(
    console,
    `${name} is running: process ${pid}${user === "" ? "" : ` of ${user}`} resumed it at ${localTime(console, at)}.`,
  );
}

/** One id for one command, however often it has to be sent. */
function askerOf({ random, processes, console }: DaemonCommandWorld): Asker {
  return { wish: newId(random.bytes(16)), pid: processes.pid, user: console.env("USER") ?? "" };
}

function verdictOf({ rerun, done, failed }: ResumeFlags): Result<UncertainVerdict | undefined> {
  const given: UncertainVerdict[] = [...(rerun ? ["rerun" as const] : []), ...(done ? ["done" as const] : [])];
  if (failed) given.push("failed");
  if (given.length > 1)
    return refused("usage", "Give one of --rerun, --done and --failed.", "See `holdfast resume --help`.");
  return ok(given[0]);
}

type Going = { readonly run: ListedRun; readonly asks: boolean };

type Wish = {
  readonly flags: ResumeFlags;
  readonly verdict: UncertainVerdict | undefined;
  readonly by: Asker;
  readonly params: Readonly<Record<string, string>>;
  readonly world: DaemonCommandWorld;
  env(name: string): string | undefined;
  readonly old: { readonly homes: readonly string[]; readonly env: Readonly<Record<string, string>> };
};

async function resumeRun(client: RpcClient, key: string | undefined, wish: Wish): Promise<Result<Going>> {
  const { flags, verdict } = wish;
  const picked = await meantRun(client, key, wish);
  if (!picked.ok) return picked;
  const { state, needs } = picked.value;
  if (verdict === undefined && needs.length > 0) return ok({ run: picked.value, asks: !isUnderWay(state) });
  const only = isUnderWay(state) && !wantsMore(flags) && Object.keys(secretsOf(picked.value, wish)).length === 0;
  const resumed =
    only || (verdict !== undefined && !isAtRest(state)) ? picked : await again(client, picked.value, wish);
  if (!resumed.ok || verdict === undefined) return resumed.ok ? ok({ run: resumed.value, asks: false }) : resumed;
  return resolve(client, resumed.value, verdict, wish.by);
}

async function meantRun(client: RpcClient, key: string | undefined, wish: Wish): Promise<Result<ListedRun>> {
  const named = await findRun(wish.world, client, key, { meant: "resumable" });
  if (named.ok || named.error.code !== "unknown" || key === undefined) return named;
  return (await takeOver(client, key, wish)) ?? named;
}

/** RS4. Returns undefined if no older program has such a session. */
async function takeOver(
  client: RpcClient,
  only: string,
  { world, old: { homes, env } }: Wish,
): Promise<Result<ListedRun> | undefined> {
  let failure: Result<never> | undefined;
  for (const directory of homes) {
    const report = await client.call("workflow.migrate", { directory, workflows: [], env, dryRun: false, only });
    if (!report.ok) return report;
    const { items } = report.value;
    const id = items.find(({ run }) => run !== null)?.run;
    if (typeof id === "string") return findRun(world, client, id);
    const [first] = items;
    if (first !== undefined)
      failure ??= refused("not-migrated", `${only}: ${first.reason}`, first.next ?? "holdfast migrate");
  }
  return failure;
}

/** RS3: a caller that gives only the run's name may as well follow it. */
function wantsMore({ detach, force, acceptChanges, unchanged }: ResumeFlags): boolean {
  return [detach, force, acceptChanges, unchanged].some((given) => given === true);
}

function isAtRest(state: ListedRun["state"]): boolean {
  return ["failed", "interrupted", "cancelled", "done", "done_with_failures"].includes(state);
}

/** RS2 */
async function again(client: RpcClient, run: ListedRun, wish: Wish): Promise<Result<ListedRun>> {
  const { id, name, state } = run;
  const { flags, by } = wish;
  const settled = ["done", "done_with_failures", "running"].includes(state) || flags.unchanged === true;
  const asked = settled ? ok([]) : await client.call("workflow.changes", { id });
  if (!asked.ok) return asked;
  const changed = asked.value.length > 0;
  if (changed && !flags.acceptChanges) {
    const said = asked.value.map(({ step, change, done }) => `  ${change}: ${step}${done ? " (it had ended)" : ""}`);
    const message = [`The file of ${name} has changed since:`, ...said].join("\n");
    return refused("changed", message, "Use the new file with --accept-changes, or the old one with --unchanged.");
  }
  const taken = changed ? await client.call("workflow.change", { id }) : ok(undefined);
  if (!taken.ok) return taken;
  const secrets = secretsOf(run, wish);
  const given = Object.keys(secrets).length > 0 ? { secrets } : {}; // An older daemon does not know the field.
  return client.call("workflow.resume", { id, force: flags.force === true || changed, by, ...given });
}

/** Those that were given, and those that are asked for and are in our environment (PA1 of parameters.ts in core). */
function secretsOf({ lacks = [] }: ListedRun, { params, env }: Wish): Readonly<Record<string, string>> {
  const ours = lacks.flatMap((name): [string, string][] => {
    const value = env(name);
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(ours), ...params };
}

/** Everything uncertain gets the same resolution. */
async function resolve(
  client: RpcClient,
  run: ListedRun,
  verdict: UncertainVerdict,
  by: Asker,
): Promise<Result<Going>> {
  const { id, name, resumed } = run;
  const needs = run.needs.filter(({ agent }) => agent === null);
  if (needs.length === 0 && resumed?.pid !== by.pid) {
    const who = resumed === null ? "" : `: process ${resumed.pid} resumed it at ${resumed.at}`;
    const hint = "Resume it without --rerun, --done or --failed.";
    return refused("not-uncertain", `Nothing of ${name} is uncertain${who}.`, hint);
  }
  let now = run;
  for (const { attempt } of needs) {
    const resolved = await client.call("workflow.resolve", { id, attempt, verdict, by });
    if (!resolved.ok) return resolved;
    now = resolved.value;
  }
  return ok({ run: now, asks: false });
}

export const resumeCommand = withDaemonWorld(resume);
