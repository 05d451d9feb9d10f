// Principals: who is behind a request, and what they may do. Pure; home/callers.ts looks at the processes.
// PR1. The operator is every program of this user that does not descend from an agent of this home.
// PR2. A process below an agent's holder, or one that carries that agent's marker, is the agent's: it may look, and
//      nothing else. An agent's token opens that agent's tools, and nothing else.
//      So is a process below an agent CLI that runs in a terminal of this home, typed into its shell or not.
// PR3. The nearest of our own programs above a process decides, and what is above that one does not count: a daemon or
//      a terminal belongs to the operator, wherever it was first started.
// PR4. A process that ended before it could be looked at is unknown: it may look, like an agent.
// PR5. A parent is older than its child. If it seems younger, its pid was reused, and the walk begins again.
import { type Refusal, refused } from "../base/result.ts";

export type Principal = "operator" | "agent" | "unknown";

/** Who caused something: written into every event that follows from it. */
export type Caller = {
  readonly principal: Principal;
  /** The id of the agent, if it is one. */
  readonly agent?: string;
  /** The name of the agent CLI, if it runs in a terminal. */
  readonly cli?: string;
  /** The id of the operator's browser, if it is one (devices.ts). */
  readonly device?: string;
  /** The name of the fleet's host that it was at, if it was another one. */
  readonly host?: string;
  /** Null if the system does not tell, or it was no process of this machine. */
  readonly pid: number | null;
  readonly exe: string | null;
  readonly tty: string | null;
};

/** What a process is to this home: of an agent, one of our own programs, or neither. */
export type Role =
  | { readonly kind: "agent"; readonly agent: string }
  /** An agent CLI, by its words: an agent's if it runs in a terminal of this home. */
  | { readonly kind: "cli"; readonly name: string }
  /** The holder of a terminal of this home. */
  | { readonly kind: "terminal" }
  | { readonly kind: "ours" | "other" };

/** A process on the way up. `ppid` is the parent that it has now. `role` costs more than the rest to find out. */
export type Relative = {
  readonly pid: number;
  readonly ppid: number;
  readonly startTime: number;
  role(): Role;
};

export type Standing = Pick<Caller, "principal" | "agent" | "cli">;

const OPERATOR: Standing = { principal: "operator" };
const UNKNOWN: Standing = { principal: "unknown" };

/** Deeper than shells and editors are nested; who hides deeper is not known. */
const MAX_ANCESTORS = 500;
/** Parents that end while we look are rare, and each walk takes less than a millisecond (PR5). */
const MAX_WALKS = 5;

/** `look` returns undefined for a process that does not exist, or that we may not see. */
export function standingOf(pid: number, look: (pid: number) => Relative | undefined): Standing {
  for (let walks = 0; walks < MAX_WALKS; walks += 1) {
    const found = walk(pid, look);
    if (found !== undefined) return found;
  }
  return UNKNOWN;
}

/** Returns undefined if the tree changed meanwhile. */
function walk(pid: number, look: (pid: number) => Relative | undefined): Standing | undefined {
  let here = look(pid);
  let cli: string | undefined;
  if (here === undefined) return UNKNOWN; // PR4
  for (let steps = 0; steps < MAX_ANCESTORS; steps += 1) {
    const role = here.role();
    const standing = decidedBy(role, cli);
    if (standing !== undefined) return standing;
    if (role.kind === "cli") cli = role.name;
    const parent = look(here.ppid);
    if (parent === undefined) return isStill(here, look) ? OPERATOR : undefined; // PR1: the top, or another user's.
    if (parent.startTime > here.startTime) return undefined; // PR5
    here = parent;
  }
  return UNKNOWN;
}

/** Undefined if what is above this process decides. `cli`: the agent CLI that was passed on the way. */
function decidedBy(role: Role, cli: string | undefined): Standing | undefined {
  if (role.kind === "agent") return { principal: "agent", agent: role.agent }; // PR2
  if (role.kind === "terminal" && cli !== undefined) return { principal: "agent", cli }; // PR2
  return role.kind === "ours" || role.kind === "terminal" ? OPERATOR : undefined; // PR3
}

/** Whether it is still the same process with the same parent: then that one is not ours to see. */
function isStill({ pid, ppid, startTime }: Relative, look: (pid: number) => Relative | undefined): boolean {
  const now = look(pid);
  return now?.ppid === ppid && now.startTime === startTime;
}

/**
 * `look` changes nothing; `act` does; `tool` is only for an agent's own token. `inspect` is open to everybody like
 * `look`, but counts as a sign of the operator if it is one.
 */
export type Right = "look" | "inspect" | "act" | "tool";

/** Every method of the daemon. A method without a row is refused to everyone but the operator. */
export const RIGHTS = {
  hello: "look",
  status: "look",
  attention: "look",
  subscribe: "look",
  "terminal.list": "look",
  "terminal.find": "look",
  "terminal.screenAt": "look",
  "terminal.new": "act",
  "terminal.rename": "act",
  "terminal.move": "act",
  "terminal.signal": "act",
  "terminal.remove": "act",
  "terminal.policy": "act",
  "terminal.restore": "act",
  "recovery.accept": "act",
  "recovery.rollback": "act",
  "recovery.report": "look",
  "recovery.retry": "act",
  "recovery.aside": "look",
  "recovery.skip": "act",
  "safe-mode.exit": "act",
  "config.reload": "act",
  "fleet.hand-over": "act",
  "fleet.queue-run": "act",
  "fleet.queue-agent": "act",
  "fleet.queue": "look",
  "fleet.queue-cancel": "act",
  "fleet.ask": "act",
  "fleet.reply": "act",
  search: "look",
  gc: "act",
  backup: "act",
  "tmux.adopt": "act",
  "tmux.list": "look",
  "tmux.release": "act",
  "tmux.recreate": "act",
  "workflow.run": "act",
  "workflow.list": "look",
  "workflow.find": "look",
  "workflow.show": "look",
  "workflow.items": "look",
  "workflow.interrupt": "act",
  "workflow.cancel": "act",
  "workflow.remove": "act",
  "workflow.resume": "act",
  "workflow.checkpoint": "act",
  "workflow.rollback": "act",
  "workflow.changes": "look",
  "workflow.change": "act",
  "workflow.migrate": "act",
  "workflow.resolve": "act",
  "dlq.list": "look",
  "dlq.show": "look",
  "dlq.retry": "act",
  "dlq.clear": "act",
  "agent.new": "act",
  "agent.list": "look",
  "agent.find": "look",
  "agent.show": "inspect",
  "agent.inbox": "inspect",
  "agent.history": "look",
  "agent.messages": "look",
  "agent.send": "act",
  "agent.terminate": "act",
  "agent.retry": "act",
  "agent.drop": "act",
  "agent.edit": "act",
  "agent.interrupt": "act",
  "agent.suspend": "act",
  "agent.set": "act",
  "agent.call": "tool",
  "agent.call-taken": "tool",
  "prompt.list": "look",
  "prompt.find": "look",
  "prompt.answer": "act",
  "prompt.always": "act",
  "rule.list": "look",
  "rule.find": "look",
  "rule.add": "act",
  "rule.remove": "act",
  "device.link": "act",
  "device.redeem": "act",
  "device.pair": "act",
  "device.list": "look",
  "device.revoke": "act",
  "push.key": "act",
  "push.subscribe": "act",
  "push.unsubscribe": "act",
  "push.test": "act",
  "notify.status": "look",
  "notify.test": "act",
  "notify.mute": "act",
} as const satisfies Readonly<Record<string, Right>>;

/** PR2. What the bearer of an agent's token may ask is decided by the token itself. */
export function mayAct({ principal }: Standing): boolean {
  return principal === "operator";
}

/** Something that a principal tried and may not do: a method, or what it did at a holder or a command. */
export type Attempt = { readonly caller: Caller; readonly did: string };

export function notAllowed({ caller: { principal, agent, cli, pid }, did }: Attempt): Refusal {
  const whose =
    agent === undefined ? `${cli ?? "an agent"}, which runs in a terminal` : `the agent ${agent.slice(0, 12)}`;
  const who =
    principal === "agent"
      ? `This process${pid === null ? "" : ` (${pid})`} belongs to ${whose}`
      : "It is not known which process this is";
  const hint = "Only the operator may: ask them to do it in a shell of their own. The attempt is shown to them.";
  return refused(NOT_ALLOWED, `${who}: it may look, but not change anything (${did}).`, hint).error;
}

export const NOT_ALLOWED = "not-allowed";
