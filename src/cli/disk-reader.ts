// Answers read-only requests from the logs on disk, in the words of the daemon, for when it is down.
// DR1. Read-only: nothing is written, locked or started.
// DR2. A session whose log does not fold is left out, as the daemon sets it aside; `holdfast log verify` names it.
import { joinPath } from "../base/path.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { type Agent, type AgentRecord, isLive } from "../core/agent/agent.ts";
import { applyAgent } from "../core/agent/apply.ts";
import type { AgentEvent } from "../core/agent/events.ts";
import { pickAgent, pickPrompt } from "../core/agent/find.ts";
import { applyTmux, type TmuxEvent } from "../core/tmux/events.ts";
import type { TmuxCare } from "../core/tmux/tmux.ts";
import { applyWorkflow } from "../core/workflow/apply.ts";
import type { WorkflowEvent } from "../core/workflow/events.ts";
import { pickRun } from "../core/workflow/find.ts";
import type { Run } from "../core/workflow/run.ts";
import { TMUX } from "../home/layout.ts";
import { readConfig } from "../home/start-watchdog.ts";
import { checkCheckpoint } from "../log/checkpoint/check.ts";
import type { LogView } from "../log/inspect.ts";
import { foldWhole, type LogFolding } from "../log/session/fold-log.ts";
import { configRefusal } from "../wire/files/config.ts";
import { configRules, listedAgent, listedPrompts, listedRules, shownAgent } from "../wire/rpc/listed-agent.ts";
import { deadLettersOf, itemOf, listedOf, recordsOf, retriesOf, runningOf } from "../wire/rpc/listed-run.ts";
import type { ListedTmux, Methods } from "../wire/rpc/rpc.ts";
import { agentEventOf } from "../wire/stored/agent.ts";
import { tmuxEventOf } from "../wire/stored/terminal.ts";
import { workflowEventOf } from "../wire/stored/workflow.ts";
import type { CommandWorld } from "./command-world.ts";
import { steadyView } from "./log/view.ts";

/** The requests that the disk can answer as well. */
export type LookMethod =
  | "workflow.list"
  | "workflow.find"
  | "workflow.show"
  | "dlq.list"
  | "dlq.show"
  | "agent.list"
  | "agent.find"
  | "agent.show"
  | "agent.inbox"
  | "prompt.list"
  | "prompt.find"
  | "rule.list"
  | "tmux.list";

/** A live daemon, or the disk. */
export type Reader = {
  call<M extends LookMethod>(method: M, params: Methods[M]["params"]): Promise<Result<Methods[M]["result"]>>;
};

type Place = { readonly world: CommandWorld; readonly home: string };

type Answers = {
  readonly [M in LookMethod]: (
    view: LogView,
    params: Methods[M]["params"],
    place: Place,
  ) => Result<Methods[M]["result"]>;
};

const ANSWERS: Answers = {
  "workflow.list": (view) => ok(runsIn(view).map((run) => listedOf(run))),
  "workflow.find": (view, wish) =>
    pickRun(
      runsIn(view).map((run) => listedOf(run)),
      wish,
      (run) => run,
    ),
  "workflow.show": (view, { id, from }) =>
    ofRun(view, id, (run) => {
      const now = { attempts: runningOf(run, () => ""), retries: retriesOf(run) };
      return ok({ ...listedOf(run), ...recordsOf(run, from), ...now });
    }),
  "dlq.list": (view, { id, from }) => ofRun(view, id, (run) => ok(deadLettersOf(run, from))),
  "dlq.show": (view, { id, item }) =>
    ofRun(view, id, (run) => {
      const found = itemOf(run, item);
      return found === undefined ? unknown(`${run.name} has no item ${item}.`, "holdfast dlq ls") : ok(found);
    }),
  "agent.list": (view) =>
    ok(
      agentsIn(view)
        .filter(isLive)
        .map((agent) => listedAgent(agent)),
    ),
  "agent.find": (view, { key }) => {
    const all = agentsIn(view);
    const found = pickAgent(all.filter(isLive), key);
    if (found.ok) return ok(listedAgent(found.value));
    const meant = all.find(({ id }) => id === key);
    return meant === undefined ? found : ok(listedAgent(meant));
  },
  "agent.show": (view, { id }) => ofAgent(view, id, (agent) => shownAgent(agent)),
  "agent.inbox": (view, { id }) => ofAgent(view, id, ({ inbox }) => inbox),
  "prompt.list": (view, { closed }) => ok(listedPrompts(agentsIn(view), closed === true)),
  "prompt.find": (view, { key }) => pickPrompt((closed) => listedPrompts(agentsIn(view), closed), key),
  "rule.list": (view, _, { world }) => {
    const config = readConfig(world);
    return config.ok
      ? ok(listedRules(agentRecordsIn(view), configRules(config.value.config)))
      : { ok: false, error: configRefusal(config.error) };
  },
  "tmux.list": (view, _, place) => ok(caresIn(view).map((care) => ({ ...care, ...savedOf(place, care.id) }))),
};

export class DiskReader implements Reader {
  readonly #place: Place;

  constructor(world: CommandWorld, home: string) {
    this.#place = { world, home };
  }

  /** The disk is read anew for each request: what a holder or another daemon writes meanwhile is seen. */
  async call<M extends LookMethod>(method: M, params: Methods[M]["params"]): Promise<Result<Methods[M]["result"]>> {
    const { world, home } = this.#place;
    return ANSWERS[method](await steadyView(world, home), params, this.#place);
  }
}

/** The states of all sessions in a directory (DR2). */
export function foldedIn<S, E>(view: LogView, place: string, folding: Omit<LogFolding<S, E>, "saved">): S[] {
  const sessions = view.sessions.filter((session) => session.startsWith(place));
  return sessions.flatMap((session) => folded(view, session, folding) ?? []);
}

function folded<S, E>(view: LogView, session: string, folding: Omit<LogFolding<S, E>, "saved">): S | undefined {
  try {
    const { state, trouble } = foldWhole<S, E>(view, session, { saved: undefined, ...folding });
    return trouble === undefined ? state : undefined; // DR2
  } catch (error) {
    if (error instanceof Error) return undefined; // DR2
    throw error;
  }
}

function runsIn(view: LogView): Run[] {
  const folding = { eventOf: workflowEventOf, apply: applyWorkflow };
  return foldedIn<Run, WorkflowEvent>(view, "state/", folding).filter(({ removed }) => !removed);
}

function agentRecordsIn(view: LogView): AgentRecord[] {
  return foldedIn<AgentRecord, AgentEvent>(view, "agents/", { eventOf: agentEventOf, apply: applyAgent });
}

function agentsIn(view: LogView): Agent[] {
  return agentRecordsIn(view).flatMap((record) => (record.kind === "agent" ? [record] : []));
}

function caresIn(view: LogView): TmuxCare[] {
  const folding = { eventOf: tmuxEventOf, apply: applyTmux };
  return foldedIn<TmuxCare, TmuxEvent>(view, `${TMUX}/`, folding).filter(({ released }) => !released);
}

/** As the daemon says it: by the newest checkpoint that is whole. */
function savedOf({ world, home }: Place, id: string): Pick<ListedTmux, "savedAt" | "trouble"> {
  const files = ["checkpoint.json", "checkpoint.backup.json"].map((name) =>
    checkCheckpoint(world.disk, joinPath(home, `${TMUX}/${id}/${name}`)),
  );
  return { savedAt: files.find((file) => file.kind === "whole")?.time ?? null, trouble: null };
}

function ofRun<T>(view: LogView, id: string, show: (run: Run) => Result<T>): Result<T> {
  const run = runsIn(view).find((one) => one.id === id);
  return run === undefined ? unknown(`There is no run ${id}.`, "holdfast workflows") : show(run);
}

function ofAgent<T>(view: LogView, id: string, show: (agent: Agent) => T): Result<T> {
  const agent = agentsIn(view).find((one) => one.id === id);
  return agent === undefined ? unknown(`There is no agent ${id}.`, "holdfast agent tree") : ok(show(agent));
}

function unknown(message: string, lists: string): Result<never> {
  return refused("unknown", message, `\`${lists}\` shows all.`);
}
