// JSON-RPC 2.0 between the daemon and its clients, one message a line: the messages, and what each method returns.
// J1. The first request is `hello` with the token of this home; before it nothing else is answered.
// J2. A refusal travels as an error with `data: {code, message, hint}`, so that the client can say what to do next.
// J3. Fields and methods are added, never changed; `hello` exchanges versions, and another protocol is refused with a
//     clear message.
import type { Refusal } from "../../base/result.ts";
import type { DeviceRights } from "../../core/devices.ts";
import type { Mute } from "../../core/notify/mutes.ts";
import type { RecoveryStage, ReportItem } from "../../core/recovery.ts";
import type { AgentInFront } from "../../core/terminal/agent-in-front.ts";
import type { ScreenSnapshot } from "../../core/terminal/screen.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import type { TmuxCare } from "../../core/tmux/tmux.ts";
import { isObject } from "../lines.ts";
import type { AgentResults } from "./agent.ts";
import type { PARAMS, Params } from "./params.ts";
import type { SearchResult } from "./search.ts";
import type { WorkflowResults } from "./workflow.ts";

export const RPC_PROTOCOL = 1;

/** JSON-RPC's own codes, and one for our refusals. */
export const PARSE_ERROR = -32700;
export const NO_METHOD = -32601;
export const BAD_PARAMS = -32602;
export const REFUSAL = -32000;

/** The code of the refusal of a daemon that is older than its client. */
export const NO_SUCH_METHOD = "rpc.method";

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

/** Something that happened, sent to subscribers. */
export type Notice = { readonly topic: string; readonly data: unknown };

export type StatusResult = {
  readonly version: string;
  readonly home: string;
  readonly watchdog: { readonly pid: number | null };
  readonly daemon: { readonly pid: number; readonly startedAt: string };
  readonly web: { readonly pid: number | null; readonly url: string | null };
  /** The user's own (`[watch.NAME]`); absent from older daemons. */
  readonly programs?: readonly { readonly name: string; readonly pid: number | null }[];
  readonly recovery: {
    readonly stage: RecoveryStage;
    readonly attempt: number;
    readonly report: string | null;
    /** How many of the terminals that should run are back. */
    readonly progress?: { readonly done: number; readonly total: number } | null;
    /** The host that the home was taken over from before this daemon started, or null; absent from older daemons. */
    readonly takenFrom?: string | null;
    /** What is being read from the logs, and how far; null if that is done or has not begun. */
    readonly reading?: { readonly what: string; readonly done: number; readonly total: number } | null;
  };
  readonly safeMode: { readonly active: boolean; readonly reason: string | null };
  /** The write that failed last, until writing works again; absent from older daemons. */
  readonly disk?: DiskTrouble | null;
  /** What cannot be done although it is tried, and the next command; absent from older daemons. */
  readonly troubles?: readonly Trouble[];
  readonly counts: {
    readonly terminals: number;
    readonly agents: number;
    readonly workflows: number;
    readonly prompts: number;
  };
  /** What the daemon read when it started, or was reloaded last; absent from older daemons. */
  readonly config?: ConfigFile;
  /** Null or absent: the home is in no fleet. */
  readonly fleet?: FleetStatus | null;
};

/** Work in the fleet's queue. `asker`: the id of the home that asks; `home`: of the one that claimed it, or empty. */
export type ListedItem = {
  readonly n: number;
  readonly id: string;
  readonly at: string;
  readonly asker: string;
  readonly kind: string;
  readonly labels: readonly string[];
  readonly state: string;
  readonly home: string;
  /** The name of its host. */
  readonly host: string;
  /** What became of it. */
  readonly words: string;
};

/** A home in a fleet. `home`: its id; `host`: the name of this host, `owner`: of the one that has it. */
export type FleetStatus = {
  readonly home: string;
  readonly host: string;
  /** `waiting`: the database has not said yet whose the home is. */
  readonly role: "owner" | "follower" | "waiting";
  readonly owner: string | null;
  readonly epoch: number;
  /** How long the lease lasts from now. */
  readonly leaseMs: number;
  /** Why the database cannot be used now; null if it can. */
  readonly why: string | null;
};

/** For everything but a look at the status, while another host has the home. */
export function followsRefusal(owner: string | null): Refusal {
  const message = `This home is on ${owner ?? "another host"} now.`;
  return {
    code: "fleet-follows",
    message,
    hint: "Use it there, or bring it here: holdfast fleet ls, holdfast fleet take",
  };
}

/** A configuration file: where it is, or would be, and the hash of its content; null if there is none. */
export type ConfigFile = {
  readonly path: string | null;
  readonly sha256: string | null;
  /** Settings of it that the daemon will use from its next start on; absent if there are none. */
  readonly restart?: readonly string[];
};

/** Settings that have changed, by their keys: those that count now, and those that count from the next start on. */
export type ReloadResult = {
  readonly path: string | null;
  readonly applied: readonly string[];
  readonly restart: readonly string[];
};

export type Trouble = { readonly what: string; readonly next: string };

/** `since` is null if it is not known. */
export type DiskTrouble = {
  readonly code: string;
  readonly operation: string;
  readonly path: string;
  readonly hint: string;
  readonly since: string | null;
};

export type Report = {
  readonly at: string;
  /** `machine restart`: it had been stopped cleanly before the machine went down. `taken over`: from another host. */
  readonly cause: "daemon crash" | "machine crash" | "machine restart" | "clean start" | "holder crash" | "taken over";
  /** The host that it was taken over from. */
  readonly from?: string;
  /** The watchdog's record of the crash, from `recovery/last-crash.json`; null if there is none. */
  readonly crash?: Readonly<Record<string, unknown>> | null;
  readonly items: readonly ReportItem[];
  /** How many more there are (PG4 of page.ts); those that need a person come first then. */
  readonly more?: number;
  readonly log: unknown;
  /** How long the daemon took to be live again; 0 if only a holder crashed. Older daemons recorded their age then. */
  readonly tookMs: number;
};

/** A terminal's screen at an earlier moment. Times are null where none is known: tapes of older versions have none. */
export type PastScreen = ScreenSnapshot & {
  /** How far the tape was; `offset` is before it if a character or sequence was not whole. */
  readonly until: number;
  /** When the last byte in it came. */
  readonly time: string | null;
  /** The first and the last moment that can be asked for by its time. */
  readonly first: string | null;
  readonly last: string | null;
  /** What the tape has. */
  readonly tape: { readonly start: number; readonly end: number };
};

/** What was removed, or would be. `bytes` of an item is its share; `failed` lists what could not be removed, and
 *  why. */
export type GcResult = {
  readonly dryRun: boolean;
  readonly bytes: number;
  readonly items: readonly {
    readonly what: string;
    readonly path: string;
    readonly bytes: number;
    readonly reason: string;
  }[];
  /** How many more items there are (PG4 of page.ts). */
  readonly more?: number;
  readonly failed: readonly string[];
  /** What would be removed if it held no work, and what to do. Older daemons do not say. */
  readonly kept?: readonly string[];
};

/** A browser that may use the page. */
export type ListedDevice = {
  readonly id: string;
  /** What it calls itself. */
  readonly name: string;
  readonly madeAt: string;
  /** To the hour. */
  readonly usedAt: string;
  /** `paired`: it comes through a relay. */
  readonly kind: "browser" | "paired";
  readonly rights: DeviceRights;
};

/** Someone who is called: a browser, or the configured command or URL. */
export type NotifyTarget = {
  readonly id: string;
  readonly kind: "browser" | "command" | "url";
  /** What the browser calls itself; the command's program; the URL's host. */
  readonly name: string;
  /** The host of a browser's push service. */
  readonly service: string | null;
  /** The browser, as `devices ls` has it. */
  readonly device: string | null;
  readonly okAt: string | null;
  readonly failedAt: string | null;
  /** Why the last call failed, and how many have in a row. */
  readonly why: string;
  readonly failures: number;
  /** Calls that are to be sent. */
  readonly waiting: number;
};
export type NotifyStatus = {
  readonly targets: readonly NotifyTarget[];
  /** Hours as configured; empty for none. */
  readonly quiet: string;
  readonly isQuiet: boolean;
  readonly mute: readonly string[];
  /** The ids of agents that call nobody, each with all that it starts. */
  readonly muted: readonly string[];
  /** All that people muted, with the names of agents; absent from older daemons. */
  readonly mutes?: readonly ListedMute[];
};
export type ListedMute = Mute & { readonly name: string };
export type NotifyTested = {
  readonly id: string;
  readonly name: string;
  readonly ok: boolean;
  readonly why: string;
};

type Results = AgentResults &
  WorkflowResults & {
    /** Daemons of older versions say no stage. */
    hello: { version: string; protocol: number; pid: number; stage?: RecoveryStage };
    status: StatusResult;
    /** With `settleMs`, the terminal as it is listed. */
    "terminal.new": Terminal | ListedTerminal;
    attention: readonly Trouble[];
    "terminal.list": readonly ListedTerminal[];
    "terminal.find": ListedTerminal;
    "terminal.screenAt": PastScreen;
    "terminal.rename": Terminal;
    "terminal.move": Terminal;
    "terminal.signal": Terminal;
    "terminal.remove": Terminal;
    "terminal.policy": Terminal;
    "terminal.restore": Terminal;
    "recovery.accept": Terminal;
    "recovery.rollback": Terminal;
    "recovery.report": Report | null;
    "recovery.retry": { stage: RecoveryStage };
    "recovery.aside": readonly ListedAside[];
    "recovery.skip": ListedAside;
    "safe-mode.exit": { active: boolean };
    "config.reload": ReloadResult;
    "fleet.hand-over": { moving: boolean };
    "fleet.queue-run": { id: string; n: number };
    "fleet.queue-agent": { id: string; n: number };
    "fleet.queue": readonly ListedItem[];
    "fleet.queue-cancel": { id: string };
    "fleet.ask": { id: string };
    /** What the other home has answered; null: nothing yet. */
    "fleet.reply": { reply: { readonly value: unknown } | null };
    "tmux.adopt": readonly ListedTmux[];
    "tmux.list": readonly ListedTmux[];
    "tmux.release": ListedTmux;
    "tmux.recreate": ListedTmux;
    gc: GcResult;
    backup: BackupResult;
    search: SearchResult;
    "device.link": { link: string; until: string };
    "device.redeem": { id: string; token: string };
    "device.pair": { secret: string; until: string };
    "device.list": readonly ListedDevice[];
    "device.revoke": ListedDevice;
    "push.key": { key: string };
    "push.subscribe": { id: string };
    "push.unsubscribe": { removed: number };
    "push.test": NotifyTested;
    "notify.status": NotifyStatus;
    "notify.test": readonly NotifyTested[];
    "notify.mute": Pick<NotifyStatus, "muted" | "mutes">;
    subscribe: Record<string, never>;
  };

/** The last seq that is durable; while the log is held, it stays so. */
export type BackupResult = { readonly seq: number };

export type Method = keyof typeof PARAMS;
/** Every method: what it takes (params.ts) and what it returns. */
export type Methods = { readonly [M in Method]: { readonly params: Params<M>; readonly result: Results[M] } };

/** A session that was set aside. */
export type ListedAside = Pick<ReportItem, "what" | "id" | "name" | "reason"> & {
  /** What makes it throw: an event of its log, or a line of its program's output; null if nothing can be skipped. */
  readonly bytes:
    | { readonly kind: "event"; readonly seq: number }
    | { readonly kind: "output"; readonly generation: number; readonly from: number; readonly to: number }
    | null;
  /** When it was skipped, from the next start on; null if it was not. */
  readonly skipped: string | null;
};

export type AdoptParams = Params<"tmux.adopt">;

/** A terminal as it is listed: without its environment. */
export type BriefTerminal = Omit<Terminal, "recipe"> & {
  readonly recipe: Omit<Terminal["recipe"], "env">;
  readonly clients: number;
  readonly lastOutputAt: string | null;
  readonly bytes: number;
  /** Why it is not started yet, although it was tried. If it runs: why its output is not recorded. */
  readonly trouble?: string;
  /** The agent CLI that runs in front of it, if one does. */
  readonly agent?: AgentInFront;
};

export type ListedTerminal = BriefTerminal & Pick<Terminal, "recipe">;

export type ListedTmux = TmuxCare & {
  /** When the last good checkpoint was made. */
  readonly savedAt: string | null;
  /** Why it cannot be saved or re-created. */
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
