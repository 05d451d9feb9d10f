// What clients may ask of the daemon. Parameters are checked here; what they mean is decided in core/.
// H1. Until the daemon is live, only looking and retrying are answered; everything that changes something is told to come back (exit 75).
import { newId } from "../../base/ids.ts";
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import { type EnvironmentRules, keepEnvironment } from "../../core/environment.ts";
import type { TerminalCommand } from "../../core/terminal/terminal.ts";
import { type Params as MethodParams, paramsOf } from "../../wire/rpc/params.ts";
import type { GcResult, ListedTerminal, Method, Report, StatusResult } from "../../wire/rpc/rpc.ts";
import type { Random } from "../../world/random.ts";
import type { Handlers } from "../rpc-server.ts";
import type { TerminalHolders } from "./holders.ts";
import type { Restorer } from "./restorer.ts";
import type { TerminalStore } from "./store.ts";

export type HandlerPorts = {
  readonly random: Random;
  readonly environment: EnvironmentRules;
  /** Undefined until the log is open and folded. */
  store(): TerminalStore | undefined;
  holders(): TerminalHolders | undefined;
  restorer(): Restorer | undefined;
  isLive(): boolean;
  status(): StatusResult;
  report(name: string | null): Report | null;
  retry(): Promise<Result<{ stage: string }>>;
  leaveSafeMode(): Promise<Result<{ active: boolean }>>;
  /** Undefined until there is something to look at. */
  gc(dryRun: boolean): Promise<GcResult> | undefined;
};

type Params = Readonly<Record<string, unknown>>;

export function makeHandlers(ports: HandlerPorts): Handlers {
  const submit = async (command: TerminalCommand | Refusal): Promise<Result<unknown>> => {
    if ("hint" in command) return { ok: false, error: command };
    const store = ports.store();
    if (!ports.isLive() || store === undefined) return NOT_LIVE; // H1
    return store.submit(command);
  };
  const create = async (command: TerminalCommand | Refusal): Promise<Result<unknown>> => {
    const made = await submit(withoutSecrets(ports, command));
    if (!made.ok && "kind" in command) ports.holders()?.entrust(command.id, {});
    return made;
  };
  return {
    status: async () => ok(ports.status()),
    "terminal.new": (params) => create(newCommand(params, newId(ports.random.bytes(16)))),
    "terminal.list": async (params) => ok(await list(ports, params)),
    "terminal.rename": (params) =>
      submit(commandOf("terminal.rename", params, ({ id, name }) => ({ kind: "rename", id, name }))),
    "terminal.move": (params) =>
      submit(commandOf("terminal.move", params, ({ id, lane }) => ({ kind: "move", id, lane }))),
    "terminal.signal": (params) =>
      submit(commandOf("terminal.signal", params, ({ id, signal }) => ({ kind: "signal", id, signal }))),
    "terminal.remove": (params) => submit(commandOf("terminal.remove", params, ({ id }) => ({ kind: "remove", id }))),
    "terminal.policy": (params) =>
      submit(commandOf("terminal.policy", params, ({ id, policy }) => ({ kind: "policy", id, policy }))),
    "terminal.restore": (params) => restore(ports, params),
    "recovery.accept": (params) =>
      submit(commandOf("recovery.accept", params, ({ id }) => ({ kind: "accept", id, by: "the operator" }))),
    "recovery.rollback": (params) =>
      submit(commandOf("recovery.rollback", params, ({ id }) => ({ kind: "rollback", id }))),
    "recovery.report": async ({ name }) => ok(ports.report(typeof name === "string" ? name : null)),
    "recovery.retry": () => ports.retry(),
    "safe-mode.exit": () => ports.leaveSafeMode(),
    gc: async ({ dryRun }) => {
      const done = ports.isLive() ? await ports.gc(dryRun !== false) : undefined; // H1; and in doubt nothing is removed.
      return done === undefined ? NOT_LIVE : ok(done);
    },
  };
}

async function restore(ports: HandlerPorts, given: Params): Promise<Result<unknown>> {
  const [store, restorer] = [ports.store(), ports.restorer()];
  if (!ports.isLive() || store === undefined || restorer === undefined) return NOT_LIVE; // H1
  const params = paramsOf("terminal.restore", given);
  if (!params.ok) return params;
  const { id, way } = params.value;
  const terminal = store.terminals.get(id);
  if (terminal === undefined || terminal.removed) {
    return refused("unknown", `There is no terminal ${id}.`, "holdfast ls shows all.");
  }
  return restorer.asked(terminal, way);
}

const NOT_LIVE = refused(
  "not-live",
  "The daemon is still recovering.",
  "Try again in a moment; `holdfast recovery status` shows how far it is.",
);

function newCommand(given: Params, newId: string): TerminalCommand | Refusal {
  const params = paramsOf("terminal.new", given);
  if (!params.ok) return params.error;
  const { name, lane, argv, cwd, env, cols, rows, policy } = params.value;
  return {
    kind: "create",
    id: newId,
    name: name === "" ? newId.slice(0, 8) : name,
    lane,
    recipe: { argv, cwd, env, size: { cols, rows } },
    ...(policy !== undefined && { policy }),
  };
}

/** What looks like a secret goes to the program, and never to disk (core/environment.ts, V1). */
/** They reach the holder in one variable, and the system allows 128 KiB for one. */
const MAX_SECRETS = 64 << 10;

function withoutSecrets(ports: HandlerPorts, command: TerminalCommand | Refusal): TerminalCommand | Refusal {
  if ("hint" in command || command.kind !== "create") return command;
  const { env } = command.recipe;
  const { kept, leftOut } = keepEnvironment(env, ports.environment);
  const secrets = Object.fromEntries(leftOut.map((name) => [name, env[name] ?? ""]));
  const length = Buffer.byteLength(JSON.stringify(secrets));
  if (leftOut.some((name) => `${name}${secrets[name]}`.includes("\0"))) return bad("a variable has no NUL in it");
  if (length > MAX_SECRETS) return bad(`variables that look like secrets are ${MAX_SECRETS} bytes at most in all`);
  ports.holders()?.entrust(command.id, secrets);
  return { ...command, recipe: { ...command.recipe, env: kept }, unset: leftOut };
}

function commandOf<M extends Method>(
  method: M,
  given: Params,
  make: (params: MethodParams<M>) => TerminalCommand,
): TerminalCommand | Refusal {
  const params = paramsOf(method, given);
  return params.ok ? make(params.value) : params.error;
}

function bad(what: string): Refusal {
  return {
    code: "bad-params",
    message: `The request is malformed: ${what}.`,
    hint: "The command and the daemon may be of different versions.",
  };
}

async function list({ store, holders }: HandlerPorts, { id, brief }: Params): Promise<ListedTerminal[]> {
  const all = [...(store()?.allSettled() ?? [])].filter(({ removed }) => !removed); // U6 of session-store.ts
  const terminals = id === undefined ? all : all.filter((terminal) => terminal.id === id);
  return Promise.all(
    terminals.map(async (terminal) => {
      const asked = terminal.state.kind === "running" && brief !== true;
      const status = asked ? await holders()?.status(terminal.id) : undefined;
      const clients = Math.max(0, (status?.clients ?? 0) - 1); // One of them is the daemon itself.
      return { ...terminal, clients, lastOutputAt: status?.lastOutputAt ?? null, bytes: status?.tape.end ?? 0 };
    }),
  );
}
