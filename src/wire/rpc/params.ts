// What each method of the daemon takes. The daemon checks requests by this table, and the clients' types are made of
// it.
// RP1. A request that does not fit is refused with the fields that are wrong, as far as they can be read; nothing of it
//      is done.
// RP2. Fields are added as optional ones: the command and the daemon may be of different versions.
import { isId } from "../../base/ids.ts";
import { type Result, refused } from "../../base/result.ts";
import type { AgentSettings } from "../../core/agent/events.ts";
import type { Rule } from "../../core/agent/rules.ts";
import { DEVICE_RIGHTS } from "../../core/devices.ts";
import type { Asker } from "../../core/workflow/events.ts";
import { check, fitting } from "../check.ts";
import { SEARCH_LIMIT, SEARCHED_WORDS } from "../search.ts";
import { SEARCH_IN } from "../search-in.ts";
import {
  closed,
  count,
  either,
  flag,
  fullPath,
  type Infer,
  json,
  list,
  literal,
  nullable,
  number,
  object,
  optional,
  partial,
  type Shape,
  table,
  text,
  textOf,
  whole,
} from "../shape.ts";
import { problemOf } from "../shape-text.ts";

const id = textOf({ is: isId, expected: "an id of 32 hex digits" });
const texts = list(text);
const variables = table(text);
const nothing = object({});
const ofOne = object({ id: text });
/** Restoration of terminals and of tmux sessions: the same words. */
const policy = literal("auto", "ask", "never");
const decision = literal("allow", "deny");
const milliseconds = whole(1000);

const SETTINGS = {
  recovery: literal("auto", "parent", "ask", "never"),
  recovery_prompt: text,
  hung_after_ms: milliseconds,
  prompt_ttl_ms: milliseconds,
  prompt_default: nullable(object({ after_ms: milliseconds, decision })),
  sleep_on_limit: flag,
} as const satisfies { readonly [K in keyof AgentSettings]: Shape<AgentSettings[K]> };

const someSettings = closed(partial(SETTINGS));
/** Whether a rule can be used is decided by core/: a broken one is refused there with its reason. */
const rule: Shape<Rule> = object({
  ...{ rule_id: text, decision: text, tool: text, args: variables, message: text },
  /** Exactly this input, as canonical JSON. */
  input: optional(text),
});

/** Absolute paths that an agent sees beside its directory and the system, and its network. */
const sandbox = object({
  read: list(fullPath),
  write: list(fullPath),
  network: flag,
  /** Hosts that it reaches through a proxy, beside its provider's; if it is left out, there is no proxy. */
  egress: optional(texts),
});
/** A git worktree of its own of the repository that `cwd` is in; a sandbox around it. */
const workspace = object({
  worktree: flag,
  /** null: what the configuration says (agents.sandbox). */
  sandbox: nullable(sandbox),
  /** true: none, whatever the configuration says. */
  unsandboxed: optional(flag),
});

const newAgent = object({
  /** Chosen by the client: a repeat finds the same agent. */
  id,
  name: text,
  parent: nullable(text),
  /** That of its parent, or none, if it is left out. */
  lane: optional(text),
  instructions: text,
  /** A kind of provider, or a name of the configuration; null for the configured default. */
  provider: nullable(text),
  model: nullable(text),
  systemPrompt: text,
  cwd: fullPath,
  env: variables,
  /** Replaces the provider's own command unless it is empty. */
  command: texts,
  flags: texts,
  permissionMode: nullable(text),
  settings: someSettings,
  /** If it is left out, the agent works in its directory, in a sandbox if the configuration says so. */
  workspace: optional(workspace),
});

const run = object({
  /** Chosen by the client: a repeat of the request finds the same run. */
  id,
  /** The daemon reads the file itself. */
  path: fullPath,
  cwd: fullPath,
  /** Parameters as texts, as the command line gives them. */
  texts: variables,
  /** Parameters as values. */
  values: table(json),
  env: variables,
  /** In a git worktree of its own. */
  worktree: optional(flag),
});

const migrate = object({
  directory: fullPath,
  /** Workflow files for records that name none. */
  workflows: texts,
  env: variables,
  dryRun: optional(flag),
  /** Only the run that has this id in the older program. */
  only: optional(text),
});

/** Which server (the path of its socket, or a name in a directory for sockets), and which of its sessions. If none is
 *  named without `all`, its only one. */
const adopt = object({
  path: nullable(fullPath),
  name: nullable(text),
  directory: nullable(text),
  sessions: texts,
  all: flag,
  /** Null: as it was, `auto` for a new one. */
  policy: nullable(policy),
});

/** With a limit the answer is a page (PG1 of page.ts); without one, as from older clients, it is one list of all. */
const page = { after: optional(text), limit: optional(whole(1)) };
const paged = object(page);

/** Rows in the order of their creation. */
const LISTING = {
  ...page,
  /** The newest first. */
  newest: optional(flag),
  name: optional(text),
  /** Of a workflow file. */
  path: optional(text),
  lane: optional(text),
  state: optional(texts),
  /** The beginning of a name or an id. */
  starts: optional(text),
};
const listing = object(LISTING);

/** Without a limit each holder is asked, which wakes as many processes. */
const terminals = object({
  ...LISTING,
  /** Only those with a trouble. */
  troubled: optional(flag),
  /** Without a limit: only this one. */
  id: optional(text),
  /** Without a limit: no holder is asked, as with one. */
  brief: optional(flag),
});

const runKey = object({
  /** FR3 of core/workflow/find.ts. */
  key: optional(text),
  path: optional(fullPath),
  meant: optional(literal("resumable", "endable", "running", "failing")),
  newest: optional(flag),
});

const terminal = object({
  name: text,
  lane: text,
  argv: texts,
  cwd: text,
  env: variables,
  cols: number,
  rows: number,
  policy: optional(policy),
  replaces: optional(id),
  /** The answer waits until its program has started, but at most this long. */
  settleMs: optional(milliseconds),
});

/** Who resumed a run or resolved an attempt. */
const asker: Shape<Asker> = object({ wish: id, pid: number, user: text });
const queue = object({ id: text, items: either(literal("all"), list(count)) });

export const PARAMS = {
  hello: object({ token: text, version: text, protocol: number }),
  status: nothing,
  /** What waits for a person. */
  attention: paged,
  "terminal.new": terminal,
  "terminal.list": terminals,
  "terminal.find": object({ key: text, names: optional(literal("exact", "prefix")) }),
  "terminal.screenAt": object({ id: text, offset: optional(count), time: optional(text) }),
  "terminal.rename": object({ id: text, name: text }),
  "terminal.move": object({ id: text, lane: text }),
  "terminal.signal": object({ id: text, signal: text }),
  "terminal.remove": ofOne,
  "terminal.policy": object({ id: text, policy }),
  "terminal.restore": object({ id: text, way: literal("plan", "shell", "recipe") }),
  "recovery.accept": ofOne,
  "recovery.rollback": ofOne,
  "recovery.report": object({ name: nullable(text) }),
  "recovery.retry": nothing,
  "recovery.aside": paged,
  "recovery.skip": ofOne,
  "safe-mode.exit": nothing,
  /** Reads the configuration file again. */
  "config.reload": nothing,
  "fleet.hand-over": nothing,
  /** Work for any host of the fleet (wire/fleet/queued.ts); `id` is chosen by the client: a repeat is the same work. */
  "fleet.queue-run": object({ id, labels: texts, name: text, source: text, texts: variables, values: table(json) }),
  "fleet.queue-agent": object({
    ...{ id, labels: texts, name: text, instructions: text, provider: nullable(text), model: nullable(text) },
    systemPrompt: text,
  }),
  /** The next 500 items behind `after`. */
  "fleet.queue": object({ after: count }),
  "fleet.queue-cancel": object({ id }),
  /** An answer to a prompt of a home on another host; a repeat is the same question until its reply was read. */
  "fleet.ask": object({ home: text, prompt: text, decision, message: optional(text), always: optional(flag) }),
  "fleet.reply": object({ home: text, id: textOf({ pattern: /^[0-9a-f]{32}$/ }) }),
  "device.link": nothing,
  /** The name is what the browser calls itself. */
  "device.redeem": object({ link: text, name: text, key: optional(textOf({ pattern: /^[0-9a-f]{64}$/ })) }),
  "device.pair": object({ rights: literal(...DEVICE_RIGHTS), name: textOf({ least: 1, most: 200 }) }),
  "device.list": nothing,
  "device.revoke": ofOne,
  /** For a browser, about itself. */
  "push.key": nothing,
  "push.subscribe": object({
    endpoint: text,
    p256dh: textOf({ pattern: /^[\w-]{87}$/, expected: "65 bytes in base64url" }),
    auth: textOf({ pattern: /^[\w-]{22}$/, expected: "16 bytes in base64url" }),
  }),
  /** A browser ends its own; the operator, in a shell, any. */
  "push.unsubscribe": object({ id: optional(text) }),
  /** Calls the browser that asks. */
  "push.test": nothing,
  "notify.status": nothing,
  "notify.test": nothing,
  /** Whether an agent with all that it starts, a lane, or everything calls nobody: one of the three. */
  "notify.mute": object({
    ...{ agent: optional(text), lane: optional(textOf({ least: 1, most: 64 })), all: optional(flag) },
    ...{ muted: flag, forMs: optional(count) },
  }),
  /** Words, or more of a search by its number. */
  search: object({
    words: optional(SEARCHED_WORDS),
    in: optional(literal(...SEARCH_IN)),
    limit: optional(SEARCH_LIMIT),
    more: optional(count),
  }),
  gc: object({ dryRun: flag }),
  /** `id`: chosen by the process that writes the backup (daemon/backup-pin.ts). */
  backup: object({ step: literal("pin", "hold", "release", "end"), id }),
  subscribe: object({ topics: texts }),
  "tmux.adopt": adopt,
  "tmux.list": paged,
  "tmux.release": object({ session: text }),
  "tmux.recreate": object({ session: text }),
  "workflow.run": run,
  "workflow.list": listing,
  "workflow.find": runKey,
  "workflow.show": object({ id: text, from: number }),
  "workflow.items": object({ id: text, from: count }),
  "workflow.interrupt": ofOne,
  "workflow.checkpoint": ofOne,
  "workflow.cancel": ofOne,
  "workflow.remove": ofOne,
  "workflow.resume": object({ id: text, force: flag, by: optional(asker), secrets: optional(variables) }),
  "workflow.rollback": object({ id: text, seq: number, dryRun: flag }),
  "workflow.changes": ofOne,
  "workflow.change": ofOne,
  "workflow.migrate": migrate,
  "workflow.resolve": object({
    id: text,
    attempt: text,
    verdict: literal("rerun", "done", "failed"),
    by: optional(asker),
  }),
  "dlq.list": object({ id: text, from: number }),
  "dlq.show": object({ id: text, item: number }),
  "dlq.retry": queue,
  "dlq.clear": queue,
  "agent.new": newAgent,
  "agent.list": listing,
  /** A name, a path of names, or an id (core/agent/find.ts). */
  "agent.find": object({ key: text }),
  "agent.show": ofOne,
  "agent.inbox": object({ id: text, ...page }),
  /** The last rows before an entry, or those after one; without both, the last of all. Each is a seq of its log. */
  "agent.history": object({ id: text, before: optional(count), after: optional(count), limit: optional(count) }),
  /** The last ones of all agents. */
  "agent.messages": object({ limit: optional(count) }),
  /** `message` is chosen by the client: a repeat is the same message. */
  "agent.send": object({ id: text, message: id, text, replyTo: optional(nullable(text)) }),
  "agent.terminate": object({ id: text, reason: text }),
  /** `without` what its turn that failed was given; `fresh`: in a new conversation. */
  "agent.retry": object({ id: text, without: optional(flag), fresh: optional(flag) }),
  /** Messages that it was not given yet, by their ids. */
  "agent.drop": object({ id: text, messages: texts }),
  "agent.edit": object({ id: text, message: text, text }),
  "agent.interrupt": ofOne,
  "agent.suspend": ofOne,
  "agent.set": object({ id: text, settings: someSettings }),
  /** For the bearer of an agent's own token: one of our tools; a repeat under the same `call` gets the same answer. */
  "agent.call": object({ call: text, tool: text, args: optional(json) }),
  /** The agent has the answer. */
  "agent.call-taken": object({ call: text }),
  /** The open ones; with `closed`, those that are still remembered after they were closed. */
  "prompt.list": object({ closed: optional(flag), ...page }),
  /** An id, or its beginning, open or closed (core/agent/find.ts); so for a rule. */
  "prompt.find": object({ key: text }),
  /** `answer` is chosen by the client: a repeat is the same answer. */
  "prompt.answer": object({ prompt: text, answer: id, decision, message: optional(text), always: optional(flag) }),
  /** Allows it, and adds a rule that a person has worded: both, or neither. */
  "prompt.always": object({ prompt: text, answer: id, rule, all: flag }),
  "rule.list": paged,
  "rule.find": object({ key: text }),
  "rule.add": object({ agent: optional(nullable(text)), rule }),
  "rule.remove": object({ rule: text }),
} as const satisfies Readonly<Record<string, Shape>>;

export type Params<M extends keyof typeof PARAMS> = Infer<(typeof PARAMS)[M]>;

/** A person reads no more of what is wrong with a request. */
const MAX_PROBLEMS = 20;
const MAX_WORDS = 4_000;

/** RP1 */
export function paramsOf<M extends keyof typeof PARAMS>(method: M, given: unknown): Result<Params<M>> {
  const checked = check(PARAMS[method] as Shape<Params<M>>, given);
  if (checked.ok) return checked;
  const wrong = checked.error.slice(0, MAX_PROBLEMS).map((problem) => problemOf(problem, "it"));
  const rest = checked.error.length - wrong.length;
  const words = `${wrong.join("; ").slice(0, MAX_WORDS)}${rest > 0 ? `; and ${rest} more` : ""}`;
  const hint = "The command and the daemon may be of different versions.";
  return refused("bad-params", `The request ${method} is malformed: ${words}.`, hint);
}

/** A user's name is for people to read: as long as any system allows. */
const MAX_USER = 64;

/** Who sent a request; undefined if the client did not say it. */
export function askerOf(value: unknown): Asker | undefined {
  const found = fitting(asker, value);
  return found === undefined ? undefined : { wish: found.wish, pid: found.pid, user: found.user.slice(0, MAX_USER) };
}
