// The messages between the page in a browser and the web host, on one WebSocket for each tab. Both sides use this file.
// PM1. Text messages are JSON objects with a `type`; unknown types and fields are ignored by the page, which may be
//      older than the host. The host closes the connection of a page that sends what it does not know.
// PM2. Binary messages are a piece of a stream, both ways: u32 stream number (big-endian), then bytes of the holder
//      protocol as they are (wire/holder). The page's first frame is HELLO with an empty token.
// PM3. The page chooses the numbers of its calls and streams. A number may be used again once its answer or `closed`
//      has come.
import { isId } from "../../base/ids.ts";
import { own } from "../../base/own.ts";
import { DEVICE_RIGHTS } from "../../core/devices.ts";
import { RIGHTS } from "../../core/principal.ts";
import type { Fate } from "../../core/recovery.ts";
import type { AttachView } from "../../core/terminal/screen.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import type { ParameterType } from "../../core/workflow/definition.ts";
import { fitting } from "../check.ts";
import type { ListingKind, ListingRows } from "../fleet/listing.ts";
import { putU32 } from "../holder/frames.ts";
import { EXIT_SHAPE } from "../holder/protocol.ts";
import { decodeLine } from "../lines.ts";
import type { ListedAgent } from "../rpc/agent.ts";
import type { Method, Methods, Report } from "../rpc/rpc.ts";
import type { ListedRun } from "../rpc/workflow.ts";
import {
  count,
  flag,
  type Infer,
  list,
  literal,
  nullable,
  object,
  optional,
  type Shape,
  table,
  text,
  textOf,
  whole,
} from "../shape.ts";

/** Where the page opens its WebSocket. */
export const SOCKET_PATH = "/api/socket";
/** The same at a relay, which passes bytes to and from a home: these messages, in a channel of wire/noise. */
export const TUNNEL_PATH = "/api/tunnel";

/** Close codes. Any other one means: connect again. */
export const CLOSE = {
  /** The token is wrong, was revoked, or has expired: sign in again. */
  signedOut: 4401,
  /** Too many wrong tokens, or too many connections: wait before connecting again. */
  tooMany: 4429,
  /** The page broke the protocol or a limit. */
  broken: 4400,
  /** By a relay: the home is not connected to it. */
  noHome: 4503,
} as const;

/** While more than this many bytes of a stream are not taken, the host does not read from its holder. */
export const MAX_UNTAKEN = 256 << 10;
/** Of the numbers of streams. */
const MAX_STREAM = 0xffff_ffff;

const stream = whole(0, MAX_STREAM);

const FROM_PAGE = {
  /** The first message, within seconds. */
  hello: object({ type: literal("hello"), token: text }),
  /** `params` is checked by the one that carries it out. */
  call: object({ type: literal("call"), id: count, method: text, params: object({}) }),
  /** The notices of the daemon with these topics are wanted, instead of those before. */
  watch: object({ type: literal("watch"), topics: list(textOf({ most: 100 })) }),
  /** Connects to the holder of a terminal. */
  open: object({ type: literal("open"), stream, terminal: textOf({ least: 1, most: 64 }) }),
  /** How many bytes of the stream the page has processed, in all. */
  took: object({ type: literal("took"), stream, bytes: count }),
  close: object({ type: literal("close"), stream }),
};

/** Not looked at: the daemon has built it from the same types. */
const value: Shape = { kind: "any" };
const REFUSAL = object({ code: text, message: text, hint: text });

const FROM_HOST = {
  /** The first message to a device that has shown the secret of `holdfast pair`; its `hello` follows. */
  paired: object({ type: literal("paired"), token: textOf({ least: 1, most: 200 }) }),
  /** `device`: the id of this browser, and `rights`: what it may do; without it, everything. */
  welcome: object({
    ...{ type: literal("welcome"), version: text, home: text },
    ...{ device: optional(text), rights: optional(literal(...DEVICE_RIGHTS)) },
  }),
  result: object({ type: literal("result"), id: count, result: value }),
  refused: object({ type: literal("refused"), id: count, error: REFUSAL }),
  notice: object({ type: literal("notice"), topic: text, data: value }),
  /** Whether the daemon answers: after `watch`, and at each change. After `up` the page fetches its lists again. */
  daemon: object({ type: literal("daemon"), up: flag, why: text }),
  /** The holder's connection has ended. `exit` if the program has; else the page opens again, from its offset. */
  closed: object({ type: literal("closed"), stream, exit: nullable(EXIT_SHAPE), why: nullable(REFUSAL) }),
};

type OneOf<T extends Readonly<Record<string, Shape>>> = { [K in keyof T]: Infer<T[K]> }[keyof T];
export type PageMessage = OneOf<typeof FROM_PAGE>;
export type HostMessage = OneOf<typeof FROM_HOST>;

/** Undefined if it is not one of them (PM1). */
export function parsePageMessage(message: string): PageMessage | undefined {
  return parse<PageMessage>(FROM_PAGE, message);
}

export function parseHostMessage(message: string): HostMessage | undefined {
  return parse<HostMessage>(FROM_HOST, message);
}

function parse<T>(shapes: Readonly<Record<string, Shape>>, message: string): T | undefined {
  const value = decodeLine(message);
  const type = value?.["type"];
  const shape = typeof type === "string" && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
  return shape === undefined ? undefined : (fitting(shape, value) as T | undefined);
}

const STREAM_HEAD = 4;

export type StreamPiece = { readonly stream: number; readonly bytes: Uint8Array };

/** PM2 */
export function streamMessage(number: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const message = new Uint8Array(STREAM_HEAD + bytes.length);
  putU32(message, 0, number);
  message.set(bytes, STREAM_HEAD);
  return message;
}

/** Undefined if it is too short. */
export function readStream(message: Uint8Array): StreamPiece | undefined {
  if (message.length < STREAM_HEAD) return undefined;
  const number = new DataView(message.buffer, message.byteOffset, STREAM_HEAD).getUint32(0);
  return { stream: number, bytes: message.subarray(STREAM_HEAD) };
}

/** What the page may ask of the daemon: whatever people do there, but no signing in, and no agent's tools. */
const FAMILIES = ["terminal", "prompt", "rule", "agent", "workflow", "dlq", "recovery", "push", "notify"] as const;
const SINGLE = [
  "status",
  "attention",
  "search",
  "safe-mode.exit",
  "fleet.ask",
  "fleet.reply",
  "device.list",
  "device.revoke",
] as const;

type Tool = { [M in Method]: (typeof RIGHTS)[M] extends "tool" ? M : never }[Method];
export type DaemonMethod =
  | Exclude<Extract<Method, `${(typeof FAMILIES)[number]}.${string}`>, Tool>
  | (typeof SINGLE)[number];

export function isDaemonMethod(method: string): method is DaemonMethod {
  const right = own(RIGHTS, method);
  if (right === undefined || right === "tool") return false;
  return SINGLE.some((one) => one === method) || FAMILIES.some((family) => method.startsWith(`${family}.`));
}

export type SafeModeView =
  | { readonly active: false }
  | {
      readonly active: true;
      readonly reason: string;
      readonly off: readonly string[];
      /** The commands that leave it, and that show what happened. */
      readonly leave: string;
      readonly report: string;
    };

/** `why` is empty while it answers. */
export type DaemonState = { readonly up: boolean; readonly why: string };

export type WebState = { readonly at: string; readonly daemon: DaemonState; readonly safeMode: SafeModeView };

/** A report without its items; `recovery.report` has the whole, by its name. `fates`: how many items had which. */
export type ReportSummary = Pick<Report, "at" | "cause" | "tookMs" | "from"> & {
  readonly name: string;
  readonly fates: Readonly<Partial<Record<Fate, number>>>;
};

/** A crash as the watchdog recorded it. */
export type CrashSeen = {
  readonly name: string;
  readonly pid: number;
  readonly time: string;
  readonly reason: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
};

/** Newest first. */
export type WebReports = { readonly reports: readonly ReportSummary[]; readonly crashes: readonly CrashSeen[] };

/** What is known of an attempt of a step, from its files. Its texts have no control characters, and are cut. */
export type AttemptEvidence = {
  /** In its run, and of its step. */
  readonly number: number;
  readonly try: number;
  /** The arguments; values of the workflow are in variables. */
  readonly command: readonly string[];
  readonly values: readonly { readonly name: string; readonly value: string }[];
  readonly cwd: string;
  /** When its holder started it; null if it never was. */
  readonly startedAt: string | null;
  /** How it ended, or why that is not known, in a sentence. */
  readonly known: string;
  /** The last lines. */
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  /** Whether nothing more is printed: it has ended, or its holder has. */
  readonly isOver: boolean;
};

/** How much room a kind of file takes below the home. */
export type KindUsage = { readonly kind: string; readonly files: number; readonly bytes: number };

/** `isWhole`: false if there are too many files to count them for a page. */
export type WebUsage = { readonly kinds: readonly KindUsage[]; readonly isWhole: boolean };

/** `memory` is in bytes: its own, and its share of what it has together with others. */
export type ProgramHealth = { readonly name: string; readonly pid: number | null; readonly memory: number | null };

export type WebHealth = {
  readonly at: string;
  readonly disk: {
    readonly freeBytes: number;
    /** Null if the file system does not count them. */
    readonly freeFiles: number | null;
    readonly fileSystem: string | null;
    readonly room: Room;
  };
  /** The write-ahead log. */
  readonly log: { readonly bytes: number; readonly files: number };
  readonly programs: readonly ProgramHealth[];
  readonly holders: { readonly many: number; readonly memory: number };
};

/** Whether there is enough on the disk: `little` for the next burst of output, `none` for new work. */
export type Room = "enough" | "little" | "none";

/** A check of `holdfast doctor`. */
const CHECK = object({
  ...{ name: text, status: literal("ok", "warning", "problem"), what: text },
  ...{ why: nullable(text), next: nullable(text) },
});
export const DOCTOR = object({ checks: list(CHECK) });
export type DoctorCheck = Infer<typeof CHECK>;

/** `lines`: how many of the last ones of each output are wanted; a screenful if it is left out. */
export const ATTEMPT = object({
  ...{ repo: textOf({ most: 200 }), attempt: textOf({ most: 200 }) },
  lines: optional(whole(1, 400)),
});

/** A path as the system allows it. */
const path = textOf({ pattern: /^\//, most: 4_095, expected: "a full path" });
export const WORKFLOW_FILE = object({ path });

/** `id` is chosen by the page: a repeat is the same run. `cwd` is empty for the directory of the file. */
export const NEW_RUN = object({
  ...{ id: textOf({ is: isId, expected: "an id of 32 hex digits" }), path, cwd: textOf({ most: 4_095 }) },
  ...{ texts: table(text), worktree: flag },
});

export const RUN_PLACE = object({ repo: textOf({ most: 200 }), run: textOf({ most: 200 }) });

/** A parameter of a workflow, for a form: `initial` is the text of its default, or null. */
export type FormParameter = {
  readonly name: string;
  readonly type: ParameterType;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** Of a secret: whether the environment in which Holdfast was started has it. */
  readonly isKnown: boolean;
  readonly initial: string | null;
  readonly says: string;
};

export type WorkflowForm = {
  readonly path: string;
  readonly name: string;
  readonly mode: string;
  readonly steps: number;
  readonly parameters: readonly FormParameter[];
};

/** A checkpoint of a run that it can be set back to. `step`: where it was, in words. */
export type WebCheckpoint = {
  readonly seq: number;
  readonly time: string;
  readonly reason: string;
  readonly state: string;
  readonly step: string;
};

/** Newest first. `bad`: how many more there are that cannot be used. */
export type WebCheckpoints = { readonly checkpoints: readonly WebCheckpoint[]; readonly bad: number };

export const NEW_TERMINAL = object({ name: text, lane: text, cwd: text, command: text });
export type NewTerminal = Infer<typeof NEW_TERMINAL>;

/** `provider`, `model`, `cwd`, `command` and `lane` may be empty. The daemon checks the rest. */
export const NEW_AGENT = object({
  ...{ id: text, name: text, parent: nullable(text), instructions: text },
  ...{ provider: text, model: text, cwd: text, command: text, lane: optional(text) },
});

export const TURN = object({ wanted: literal("on", "off") });

/** What people see of the tunnel; `next` is what to do about it, or empty. */
export type WebTunnelView = {
  readonly enrolled: boolean;
  readonly relay: string | null;
  readonly id: string | null;
  readonly wanted: "on" | "off";
  readonly state: string;
  readonly since: string | null;
  readonly why: string;
  readonly dialAt: string | null;
  readonly url: string | null;
  readonly certificateUntil: string | null;
  readonly authorityUntil: string | null;
  readonly next: string;
};

/** A home of the fleet, as another one sees it. Names are the database's: they may be anything. */
export type FleetHome = {
  readonly id: string;
  readonly name: string;
  /** The name of the host that has it. */
  readonly host: string;
  /** Whether it is the home of this page, and whether it is on this host. */
  readonly isHere: boolean;
  readonly isNear: boolean;
  /** Whether its host has it for certain now. */
  readonly isLive: boolean;
  /** When its host was last heard of, and when it last said what it has; null: never. */
  readonly seenAt: string | null;
  readonly listedAt: string | null;
  /** Whether what it said is older than it would be if all were well. */
  readonly isOld: boolean;
  /** Why it is not known what it has. */
  readonly why: string | null;
  /** What goes on there, and waits for a person. */
  readonly counts: Readonly<Record<ListingKind, number>> | null;
  /** Where a browser finds its page; `nearPage`: one on this machine. */
  readonly page: string | null;
  readonly nearPage: string | null;
};
export type WebFleet = { readonly at: string; readonly homes: readonly FleetHome[] };
export type WebFleetHome = FleetHome & {
  readonly at: string;
  /** As its owner stored it; `more`: how many rows were left out. */
  readonly listing: (ListingRows & { readonly more: Readonly<Record<ListingKind, number>> }) | null;
};
export const FLEET_HOME = object({ home: textOf({ most: 64 }) });

/** The topic of the host's own notice, when the tunnel may have changed. */
export const TUNNEL_CHANGED = "tunnel.changed";

/** What the host answers itself, also while the daemon is down. */
export type WebMethods = {
  readonly "web.state": { readonly params: object; readonly result: WebState };
  /** How to draw a terminal first, in a window of this size. */
  readonly "web.screen": {
    readonly params: { readonly terminal: string; readonly cols: number; readonly rows: number };
    readonly result: AttachView;
  };
  /** A shell, or a command in one, with this host's environment; without a directory in the user's own. */
  readonly "web.new": { readonly params: NewTerminal; readonly result: Terminal };
  /** An agent with this host's environment; without a directory in the user's own. */
  readonly "web.new-agent": { readonly params: Infer<typeof NEW_AGENT>; readonly result: ListedAgent };
  /** Null if the attempt has no files. */
  readonly "web.evidence": { readonly params: Infer<typeof ATTEMPT>; readonly result: AttemptEvidence | null };
  /** What a workflow file asks for, if it is one; refused with its problems if it is not. */
  readonly "web.workflow": { readonly params: Infer<typeof WORKFLOW_FILE>; readonly result: WorkflowForm };
  /** Starts a run of a workflow file, with this host's environment. */
  readonly "web.run": { readonly params: Infer<typeof NEW_RUN>; readonly result: ListedRun };
  readonly "web.checkpoints": { readonly params: Infer<typeof RUN_PLACE>; readonly result: WebCheckpoints };
  readonly "web.health": { readonly params: object; readonly result: WebHealth };
  readonly "web.usage": { readonly params: object; readonly result: WebUsage };
  /** Runs `holdfast doctor`, which takes a second or two. */
  readonly "web.doctor": { readonly params: object; readonly result: Infer<typeof DOCTOR> };
  readonly "web.tunnel": { readonly params: object; readonly result: WebTunnelView };
  /** It takes effect within seconds. */
  readonly "web.turn-tunnel": { readonly params: Infer<typeof TURN>; readonly result: WebTunnelView };
  /** Null without a fleet. */
  readonly "web.fleet": { readonly params: object; readonly result: WebFleet | null };
  readonly "web.fleet-home": { readonly params: Infer<typeof FLEET_HOME>; readonly result: WebFleetHome };
  readonly "web.reports": { readonly params: object; readonly result: WebReports };
  /** A text for a bug report, without the names of this machine, its user and its home. */
  readonly "web.bundle": { readonly params: object; readonly result: { readonly text: string } };
};

/** Everything that the page may call. */
export type PageMethods = Pick<Methods, DaemonMethod> & WebMethods;
