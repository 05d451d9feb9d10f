// The requests that clients may make about terminals. Parameters are checked here; core/ decides what they mean.
// H1. Until the daemon is live, only read-only requests are answered; a request that changes something is refused (exit
//     75: try again later).
import { newId } from "../../base/ids.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { type EnvironmentRules, keepEnvironment } from "../../core/environment.ts";
import type { Caller } from "../../core/principal.ts";
import type { TerminalCommand } from "../../core/terminal/terminal.ts";
import type { PARAMS, Params } from "../../wire/rpc/params.ts";
import type { ListedTerminal } from "../../wire/rpc/rpc.ts";
import type { Random } from "../../world/random.ts";
import type { PartBorder } from "../part.ts";
import type { Given, Handlers } from "../rpc-server.ts";
import type { TerminalHolders } from "./holders.ts";
import type { Restorer } from "./restorer.ts";
import type { TerminalStore } from "./store.ts";

export type TerminalHandlerPorts = {
  readonly random: Random;
  readonly environment: EnvironmentRules;
  readonly border: PartBorder;
  readonly store: TerminalStore;
  readonly holders: TerminalHolders;
  readonly restorer: Restorer;
};

export function terminalHandlers(ports: TerminalHandlerPorts): Handlers {
  const { border, store } = ports;
  const changing = <M extends keyof typeof PARAMS>(method: M, make: (params: Params<M>) => TerminalCommand) =>
    border.changing(method, (params, by) => store.submit(make(params), by)); // H1
  return {
    "terminal.list": border.looking(async (params) => ok(await list(ports, params))),
    ...border.changing("terminal.new", (params, by) => create(ports, params, by)),
    ...changing("terminal.rename", ({ id, name }) => ({ kind: "rename", id, name })),
    ...changing("terminal.move", ({ id, lane }) => ({ kind: "move", id, lane })),
    ...changing("terminal.signal", ({ id, signal }) => ({ kind: "signal", id, signal })),
    ...changing("terminal.remove", ({ id }) => ({ kind: "remove", id })),
    ...changing("terminal.policy", ({ id, policy }) => ({ kind: "policy", id, policy })),
    ...border.changing("terminal.restore", (params, by) => restore(ports, params, by)),
    ...changing("recovery.accept", ({ id }) => ({ kind: "accept", id, by: "the operator" })),
    ...changing("recovery.rollback", ({ id }) => ({ kind: "rollback", id })),
  };
}

async function create(
  ports: TerminalHandlerPorts,
  params: Params<"terminal.new">,
  by: Caller | undefined,
): Promise<Result<unknown>> {
  const { store, holders, random } = ports;
  const { name, lane, argv, cwd, env, cols, rows, policy, replaces } = params;
  const { kept, leftOut } = keepEnvironment(env, ports.environment);
  const secrets = Object.fromEntries(leftOut.map((variable) => [variable, env[variable] ?? ""]));
  const wrong = wrongSecrets(secrets);
  if (wrong !== undefined)
    return refused("bad-params", `The request is malformed: ${wrong}.`, "Set it in the program.");
  const id = newId(random.bytes(16));
  holders.setSecrets(id, secrets);
  const command: TerminalCommand = {
    kind: "create",
    id,
    name: name === "" ? id.slice(0, 8) : name,
    lane,
    recipe: { argv, cwd, env: kept, size: { cols, rows } },
    unset: leftOut,
    ...(policy !== undefined && { policy }),
    ...(replaces !== undefined && { replaces }),
  };
  const made = await store.submit(command, by);
  if (!made.ok) holders.setSecrets(id, {});
  return made;
}

async function restore(
  { store, restorer }: TerminalHandlerPorts,
  { id, way }: Params<"terminal.restore">,
  by: Caller | undefined,
) {
  const terminal = store.terminals.get(id);
  if (terminal === undefined || terminal.removed) {
    return refused("unknown", `There is no terminal ${id}.`, "holdfast ls shows all.");
  }
  return restorer.asked(terminal, way, by);
}

/** Secrets reach the holder in one environment variable, for which the system allows 128 KiB. */
const MAX_SECRETS = 64 << 10;

/** Variables that look like secrets are passed to the program and never written to disk (core/environment.ts, V1). */
function wrongSecrets(secrets: Readonly<Record<string, string>>): string | undefined {
  if (
    Object.entries(secrets)
      .flat()
      .some((text) => text.includes("\0"))
  )
    return "a variable contains a NUL character";
  if (Buffer.byteLength(JSON.stringify(secrets)) <= MAX_SECRETS) return undefined;
  return `variables that look like secrets may have at most ${MAX_SECRETS} bytes in total`;
}

async function list({ store, holders }: TerminalHandlerPorts, { id, brief }: Given): Promise<ListedTerminal[]> {
  const all = [...store.allSettled()].filter(({ removed }) => !removed); // U6 of session-store.ts
  const terminals = id === undefined ? all : all.filter((terminal) => terminal.id === id);
  return Promise.all(
    terminals.map(async (terminal) => {
      const asked = terminal.state.kind === "running" && brief !== true;
      const status = asked ? await holders.status(terminal.id) : undefined;
      const clients = Math.max(0, (status?.clients ?? 0) - 1); // One of them is the daemon itself.
      const shown = { clients, lastOutputAt: status?.lastOutputAt ?? null, bytes: status?.tape.end ?? 0 };
      const trouble =
        terminal.state.kind === "starting" ? holders.trouble(terminal.id) : (status?.trouble ?? undefined);
      return { ...terminal, ...shown, ...(trouble !== undefined && { trouble }) };
    }),
  );
}
