// JSON-RPC 2.0 between the daemon and its clients, one message a line. What methods there are and what they take and give.
// J1. The first request is `hello` with the token of this home; until it is answered nothing else is.
// J2. A refusal travels as an error with `data: {code, message, hint}`, so that the client can say what to do next.
// J3. Fields and methods are added, never changed; `hello` exchanges versions, and a stranger protocol is refused clearly.
import type { Refusal } from "../../base/result.ts";
import type { RecoveryStage, ReportItem } from "../../core/recovery.ts";
import type { RestorePolicy } from "../../core/terminal/restoration.ts";
import type { RestoreWay } from "../../core/terminal/restore.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import type { TmuxCare, TmuxPolicy } from "../../core/tmux/tmux.ts";
import type { StepChange } from "../../core/workflow/decide-versions.ts";
import type { Asker, UncertainVerdict } from "../../core/workflow/events.ts";
import { isObject } from "../lines.ts";
import type { AgentMethods } from "./agent.ts";
import type {
  DeadLetters,
  ListedRun,
  MigrateParams,
  MigrationReport,
  RolledBackRun,
  RunParams,
  ShownItem,
  ShownRun,
} from "./workflow.ts";

export const RPC_PROTOCOL = 1;

/** JSON-RPC's own codes, and one for refusals of ours. */
export const PARSE_ERROR = -32700;
export const NO_METHOD = -32601;
export const BAD_PARAMS = -32602;
export const REFUSAL = -32000;

export type Request = {
  readonly id: number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
};

export type Answer =
  | { readonly id: number; readonly result: unknown }
  | {
      readonly id: number;
      readonly error: { readonly code: number; readonly message: string; readonly data?: Refusal };
    };

/** Something that happened, told to whoever subscribed. */
export type Notice = { readonly topic: string; readonly data: unknown };

export type StatusResult = {
  readonly version: string;
  readonly home: string;
  readonly watchdog: { readonly pid: number | null };
  readonly daemon: { readonly pid: number; readonly startedAt: string };
  readonly web: { readonly pid: number | null; readonly url: string | null };
  /** The user's own (`[watch.NAME]`); a daemon from before there were any does not say. */
  readonly programs?: readonly { readonly name: string; readonly pid: number | null }[];
  readonly recovery: {
    readonly stage: RecoveryStage;
    readonly attempt: number;
    readonly report: string | null;
    /** How many of the terminals that should run are back. */
    readonly progress?: { readonly done: number; readonly total: number } | null;
    /** What is being read from the logs, and how much of it is; null where that is done, or has not begun. */
    readonly reading?: { readonly what: string; readonly done: number; readonly total: number } | null;
  };
  readonly safeMode: { readonly active: boolean; readonly reason: string | null };
  readonly counts: {
    readonly terminals: number;
    readonly agents: number;
    readonly workflows: number;
    readonly prompts: number;
  };
};

export type Report = {
  readonly at: string;
  /** `machine restart`: it had been stopped cleanly before the machine went down. */
  readonly cause: "daemon crash" | "machine crash" | "machine restart" | "clean start" | "holder crash";
  /** The watchdog's record of the crash that led here, as it stands in `recovery/last-crash.json`; null where nobody saw one. */
  readonly crash?: Readonly<Record<string, unknown>> | null;
  readonly items: readonly ReportItem[];
  readonly log: unknown;
  readonly tookMs: number;
};

/** What was removed, or would be. `bytes` of an item is its part of the whole; `failed` says what could not be removed, and why. */
export type GcResult = {
  readonly dryRun: boolean;
  readonly bytes: number;
  readonly items: readonly {
    readonly what: string;
    readonly path: string;
    readonly bytes: number;
    readonly reason: string;
  }[];
  readonly failed: readonly string[];
};

/** Every method: what it takes, what it gives. */
export type Methods = AgentMethods & {
  hello: {
    params: { token: string; version: string; protocol: number };
    result: { version: string; protocol: number; pid: number };
  };
  status: { params: Record<string, never>; result: StatusResult };
  "terminal.new": {
    params: {
      name: string;
      lane: string;
      argv: readonly string[];
      cwd: string;
      env: Readonly<Record<string, string>>;
      cols: number;
      rows: number;
      policy?: RestorePolicy;
    };
    result: Terminal;
  };
  "terminal.list": { params: ListWish; result: readonly ListedTerminal[] };
  "terminal.rename": { params: { id: string; name: string }; result: Terminal };
  "terminal.move": { params: { id: string; lane: string }; result: Terminal };
  "terminal.signal": { params: { id: string; signal: string }; result: Terminal };
  "terminal.remove": { params: { id: string }; result: Terminal };
  "terminal.policy": { params: { id: string; policy: RestorePolicy }; result: Terminal };
  "terminal.restore": { params: { id: string; way: RestoreWay }; result: Terminal };
  "recovery.accept": { params: { id: string }; result: Terminal };
  "recovery.rollback": { params: { id: string }; result: Terminal };
  "tmux.adopt": { params: AdoptParams; result: readonly ListedTmux[] };
  "tmux.list": { params: Record<string, never>; result: readonly ListedTmux[] };
  "tmux.release": { params: { session: string }; result: ListedTmux };
  "tmux.recreate": { params: { session: string }; result: ListedTmux };
  "workflow.run": { params: RunParams; result: ListedRun };
  "workflow.list": { params: Record<string, never>; result: readonly ListedRun[] };
  "workflow.show": { params: { id: string; from: number }; result: ShownRun };
  "workflow.interrupt": { params: { id: string }; result: ListedRun };
  "workflow.cancel": { params: { id: string }; result: ListedRun };
  "workflow.resume": { params: { id: string; force: boolean; by?: Asker }; result: ListedRun };
  "dlq.list": { params: { id: string; from: number }; result: DeadLetters };
  "dlq.show": { params: { id: string; item: number }; result: ShownItem };
  "dlq.retry": { params: { id: string; items: readonly number[] | "all" }; result: ListedRun };
  "dlq.clear": { params: { id: string; items: readonly number[] | "all" }; result: ListedRun };
  "workflow.rollback": { params: { id: string; seq: number; dryRun: boolean }; result: RolledBackRun };
  "workflow.changes": { params: { id: string }; result: readonly StepChange[] };
  "workflow.change": { params: { id: string }; result: ListedRun };
  "workflow.migrate": { params: MigrateParams; result: MigrationReport };
  "workflow.resolve": {
    params: { id: string; attempt: string; verdict: UncertainVerdict; by?: Asker };
    result: ListedRun;
  };
  "recovery.report": { params: { name: string | null }; result: Report | null };
  "recovery.retry": { params: Record<string, never>; result: { stage: RecoveryStage } };
  "safe-mode.exit": { params: Record<string, never>; result: { active: boolean } };
  gc: { params: { dryRun: boolean }; result: GcResult };
  subscribe: { params: { topics: readonly string[] }; result: Record<string, never> };
};

export type Method = keyof Methods;

/** All of them and everything about them, if nothing else is said: each holder is asked, which wakes as many processes. */
export type ListWish = {
  /** Only this one. */
  readonly id?: string;
  /** No holder is asked: `clients`, `lastOutputAt` and `bytes` are those of a terminal that never said anything. */
  readonly brief?: boolean;
};

export type ListedTerminal = Terminal & {
  readonly clients: number;
  readonly lastOutputAt: string | null;
  readonly bytes: number;
};

/** Which server (the path of its socket, or a name in a directory for sockets), and which of its sessions; none named and not `all`: its only one. */
export type AdoptParams = {
  path: string | null;
  name: string | null;
  directory: string | null;
  sessions: readonly string[];
  all: boolean;
  /** Null: as it was, `auto` for a new one. */
  policy: TmuxPolicy | null;
};

export type ListedTmux = TmuxCare & {
  /** When the last good checkpoint was made. */
  readonly savedAt: string | null;
  /** What keeps it from being saved or made again. */
  readonly trouble: string | null;
};

export function parseRequest(value: Readonly<Record<string, unknown>>): Request | undefined {
  const { id, method, params } = value;
  if (typeof id !== "number" || typeof method !== "string") return undefined;
  return { id, method, params: isObject(params) ? params : {} };
}

export function resultLine(id: number, result: unknown) {
  return { jsonrpc: "2.0", id, result };
}

export function errorLine(id: number | null, code: number, refusal: Refusal) {
  return { jsonrpc: "2.0", id, error: { code, message: refusal.message, data: refusal } };
}

export function noticeLine(notice: Notice) {
  return { jsonrpc: "2.0", method: "notice", params: notice };
}
