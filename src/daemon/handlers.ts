// What clients may ask of the daemon. Parameters are checked here; what they mean is decided in core/.
// H1. Until the daemon is live, only looking and retrying are answered; everything that changes something is told to come back (exit 75).
import { newId } from "../base/ids.ts";
import { ok, type Refusal, type Result, refused } from "../base/result.ts";
import type { TerminalCommand } from "../core/terminal.ts";
import { isObject } from "../wire/lines.ts";
import type { GcResult, ListedTerminal, Report, StatusResult } from "../wire/rpc.ts";
import type { Random } from "../world/random.ts";
import type { Hands } from "./hands.ts";
import type { Handlers } from "./rpc-server.ts";
import type { Turn } from "./turn.ts";

export type HandlerPorts = {
  readonly random: Random;
  /** Undefined until the log is open and folded. */
  turn(): Turn | undefined;
  hands(): Hands | undefined;
  isLive(): boolean;
  status(): StatusResult;
  report(name: string | null): Report | null;
  retry(): Promise<Result<{ stage: string }>>;
  leaveSafeMode(): Promise<Result<{ active: boolean }>>;
  /** Undefined until there is something to look at. */
  gc(dryRun: boolean): GcResult | undefined;
};

type Params = Readonly<Record<string, unknown>>;

export function makeHandlers(ports: HandlerPorts): Handlers {
  const submit = async (command: TerminalCommand | Refusal): Promise<Result<unknown>> => {
    if ("hint" in command) return { ok: false, error: command };
    const turn = ports.turn();
    if (!ports.isLive() || turn === undefined) return NOT_LIVE; // H1
    return turn.submit(command);
  };
  return {
    status: async () => ok(ports.status()),
    "terminal.new": (params) => submit(newCommand(params, newId(ports.random.bytes(16)))),
    "terminal.list": async (params) => ok(await list(ports, params)),
    "terminal.rename": (params) => submit(withText(params, "name", (id, name) => ({ kind: "rename", id, name }))),
    "terminal.move": (params) => submit(withText(params, "lane", (id, lane) => ({ kind: "move", id, lane }))),
    "terminal.signal": (params) => submit(withText(params, "signal", (id, signal) => ({ kind: "signal", id, signal }))),
    "terminal.remove": (params) => submit(withText(params, "id", (id) => ({ kind: "remove", id }))),
    "recovery.report": async ({ name }) => ok(ports.report(typeof name === "string" ? name : null)),
    "recovery.retry": () => ports.retry(),
    "safe-mode.exit": () => ports.leaveSafeMode(),
    gc: async ({ dryRun }) => {
      const done = ports.isLive() ? ports.gc(dryRun !== false) : undefined; // H1; and in doubt nothing is removed.
      return done === undefined ? NOT_LIVE : ok(done);
    },
  };
}

const NOT_LIVE = refused(
  "not-live",
  "The daemon is still recovering.",
  "Try again in a moment; `holdfast recovery status` shows how far it is.",
);

function newCommand({ name, lane, argv, cwd, env, cols, rows }: Params, id: string): TerminalCommand | Refusal {
  if (typeof name !== "string" || typeof lane !== "string" || typeof cwd !== "string")
    return bad("name, lane and cwd are texts");
  if (!isTexts(argv) || !isTextMap(env)) return bad("argv is a list of texts and env a table of texts");
  if (typeof cols !== "number" || typeof rows !== "number") return bad("cols and rows are numbers");
  return {
    kind: "create",
    id,
    name: name === "" ? id.slice(0, 8) : name,
    lane,
    recipe: { argv, cwd, env, size: { cols, rows } },
  };
}

function withText(
  params: Params,
  key: string,
  make: (id: string, text: string) => TerminalCommand,
): TerminalCommand | Refusal {
  const { id, [key]: text } = params;
  if (typeof id !== "string" || typeof text !== "string") return bad(`id and ${key} are texts`);
  return make(id, text);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isTextMap(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((item) => typeof item === "string");
}

function bad(what: string): Refusal {
  return {
    code: "bad-params",
    message: `The request is malformed: ${what}.`,
    hint: "The command and the daemon may be of different versions.",
  };
}

async function list({ turn, hands }: HandlerPorts, { id, brief }: Params): Promise<ListedTerminal[]> {
  const all = [...(turn()?.terminals.values() ?? [])].filter(({ removed }) => !removed);
  const terminals = id === undefined ? all : all.filter((terminal) => terminal.id === id);
  return Promise.all(
    terminals.map(async (terminal) => {
      const asked = terminal.state.kind === "running" && brief !== true;
      const status = asked ? await hands()?.status(terminal.id) : undefined;
      const clients = Math.max(0, (status?.clients ?? 0) - 1); // One of them is the daemon itself.
      return { ...terminal, clients, lastOutputAt: status?.lastOutputAt ?? null, bytes: status?.tape.end ?? 0 };
    }),
  );
}
