// The requests that clients may make about terminals. Parameters are checked here; core/ decides what they mean.
// H1. Until the daemon is live, only read-only requests are answered; a request that changes something is refused (exit
//     75: try again later).
// H2. A list does not ask holders: they touch their sockets when what it shows has changed, and are asked then. Those
//     of older versions do not, and are asked for each list; so are all if the system does not tell us of touches.
import { newId } from "../../base/ids.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { type EnvironmentRules, keepEnvironment } from "../../core/environment.ts";
import type { Caller } from "../../core/principal.ts";
import { pickTerminal } from "../../core/terminal/find.ts";
import type { Terminal, TerminalCommand } from "../../core/terminal/terminal.ts";
import { tapeDirectory, terminalFiles } from "../../home/held/holder-files.ts";
import type { TapeStates } from "../../log/tape/tape-states.ts";
import { fits } from "../../wire/rpc/page.ts";
import type { PARAMS, Params } from "../../wire/rpc/params.ts";
import type { BriefTerminal, ListedTerminal } from "../../wire/rpc/rpc.ts";
import type { Clock } from "../../world/clock.ts";
import type { Random } from "../../world/random.ts";
import { within } from "../../world/wait.ts";
import type { Bus } from "../bus.ts";
import { listOf, living, type Source } from "../pages.ts";
import type { PartBorder } from "../part.ts";
import type { Handlers } from "../rpc-server.ts";
import type { AgentsInFront } from "./agents-in-front.ts";
import type { TerminalHolders } from "./holders.ts";
import { type PastPorts, screenAt } from "./past.ts";
import type { Restorer } from "./restorer.ts";

export type TerminalHandlerPorts = PastPorts & {
  readonly bus: Pick<Bus, "subscribe">;
  readonly clock: Clock;
  readonly tapes: TapeStates;
  readonly random: Random;
  readonly environment: EnvironmentRules;
  readonly border: PartBorder;
  readonly holders: TerminalHolders;
  readonly restorer: Restorer;
  readonly agents: Pick<AgentsInFront, "of">;
};

export function terminalHandlers(ports: TerminalHandlerPorts): Handlers {
  const { border, store } = ports;
  const changing = <M extends keyof typeof PARAMS>(method: M, make: (params: Params<M>) => TerminalCommand) =>
    border.changing(method, (params, by) => store.submit(make(params), by)); // H1
  return {
    ...border.asking("terminal.list", async (wish) => {
      if (wish.limit === undefined) return ok(await listAll(ports, wish));
      if (wish.after === undefined) await refresh(ports);
      return ok(border.rows(rows(ports, wish), wish));
    }),
    ...border.asking("terminal.find", async (wish) => find(ports, wish)),
    ...border.asking("terminal.screenAt", (wish) => screenAt(ports, wish)),
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
  const { name, lane, argv, cwd, env, cols, rows, policy, replaces, settleMs } = params;
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
  if (!made.ok || settleMs === undefined) return made;
  await begun(ports, id, settleMs);
  return ok(listed(ports, store.settled(id) ?? made.value));
}

/** Resolves when its program has started, or it is known that none will; after this time at the latest. */
async function begun({ store, bus, clock }: TerminalHandlerPorts, id: string, ms: number): Promise<void> {
  const changed = Promise.withResolvers<void>();
  const look = () => {
    if (store.settled(id)?.state.kind !== "starting") changed.resolve();
  };
  const unsubscribe = bus.subscribe(["terminal.*"], look);
  look();
  await within(clock, ms, changed.promise);
  unsubscribe();
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

/** Where the rows of terminals come from: those that are not removed (U6 of session-store.ts). */
function terminals<T>(
  { store }: TerminalHandlerPorts,
  newest: boolean | undefined,
  rowOf: (terminal: Terminal) => T | undefined,
) {
  return living(store, newest, (terminal) => (terminal.removed ? undefined : rowOf(terminal)));
}

/** From memory: no holder is asked, however many there are. */
function rows(ports: TerminalHandlerPorts, wish: Params<"terminal.list">): Source<BriefTerminal> {
  return terminals(ports, wish.newest, (terminal) => {
    if (!fits(terminal, wish) || (wish.troubled && troubleOf(ports, terminal) === undefined)) return undefined;
    const { env: _, ...recipe } = terminal.recipe;
    return { ...listed(ports, terminal), recipe };
  });
}

async function find(ports: TerminalHandlerPorts, { key, names = "prefix" }: Params<"terminal.find">) {
  const found = pickTerminal(listOf(terminals(ports, false, (terminal) => terminal)), key, names);
  return found.ok ? ok(listed(ports, found.value)) : found;
}

function listed(ports: TerminalHandlerPorts, terminal: Terminal): ListedTerminal {
  const silent = { clients: 0, lastOutputAt: null, bytes: 0 };
  const seen = terminal.state.kind === "running" ? seenOf(ports, terminal.id) : silent;
  const trouble = troubleOf(ports, terminal);
  const agent = terminal.state.kind === "running" ? ports.agents.of(terminal.id) : undefined;
  return { ...terminal, ...seen, ...(trouble !== undefined && { trouble }), ...(agent !== undefined && { agent }) };
}

/** H2. Once for each list. */
async function refresh({ store, holders }: TerminalHandlerPorts): Promise<void> {
  const { connections, isWatching } = holders;
  const silent = [...store.allSettled()].filter(
    ({ id, state }) => state.kind === "running" && !(isWatching && connections.seen(id)?.reports),
  );
  await Promise.all(silent.map(({ id }) => connections.status(id)));
}

/** What its holder said last, and what is on its tape since. */
function seenOf({ holders, disk, home, tapes }: TerminalHandlerPorts, id: string) {
  const status = holders.connections.seen(id);
  const { end, writtenAt } = tapes.of(tapeDirectory(terminalFiles(disk, home, id)));
  return {
    clients: Math.max(0, (status?.clients ?? 1) - 1), // One of them is the daemon itself.
    lastOutputAt: status === undefined || end > status.tape.end ? writtenAt : status.lastOutputAt,
    bytes: end,
  };
}

/** Why it is not started yet, or its output is not recorded. */
function troubleOf({ holders }: TerminalHandlerPorts, { id, state }: Terminal): string | undefined {
  if (state.kind === "starting") return holders.trouble(id);
  return state.kind === "running" ? (holders.connections.seen(id)?.trouble ?? undefined) : undefined;
}

/** For older clients: each holder is asked unless the list is to be brief. */
async function listAll(ports: TerminalHandlerPorts, wish: Params<"terminal.list">): Promise<ListedTerminal[]> {
  const { id, brief = false } = wish;
  const all = listOf(terminals(ports, false, (one) => (id === undefined || one.id === id ? one : undefined)));
  const running = brief ? [] : all.filter(({ state }) => state.kind === "running");
  await Promise.all(running.map((one) => ports.holders.connections.status(one.id)));
  return all.map((terminal) => listed(ports, terminal));
}
