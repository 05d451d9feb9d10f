// Creates a terminal: it is durable, and its program was started, when this returns; or it is known why not yet.
// CR1. A daemon that dies in between may have accepted the request: the next one is asked for the terminal before a
//      retry.
// CR2. The daemon answers when the program has started. If that takes too long, or the daemon is of an older version,
//      it notifies us of changes, and then only this terminal is queried.
import { newId } from "../../base/ids.ts";
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import { withSession } from "../../core/terminal/coding-agent.ts";
import type { RestorePolicy } from "../../core/terminal/restoration.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import { terminalEnvironment } from "../../home/environment.ts";
import { readConfig } from "../../home/start-watchdog.ts";
import { configRefusal } from "../../wire/files/config.ts";
import { isObject } from "../../wire/lines.ts";
import type { RpcClient } from "../../wire/rpc/client.ts";
import { allRows } from "../../wire/rpc/page.ts";
import type { ListedTerminal, Methods } from "../../wire/rpc/rpc.ts";
import { Pauses } from "../../world/wait.ts";
import { onDaemon } from "../client.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { dropAgentLink, withAgentLink } from "./agent-link.ts";
import { findOn } from "./find.ts";

export type Wish = Methods["terminal.new"]["params"];
export type WishFlags = {
  readonly lane?: string;
  readonly cwd?: string;
  readonly restore?: RestorePolicy;
  readonly words: readonly string[] | undefined;
};

const LANE = "main";
/** CR2: much less than a client waits for an answer. */
const SETTLE_MS = 2_000;
/** A holder answers within some tens of milliseconds, and later on a busy machine. */
const SETTLE_LIMITS = { firstMs: 100, mostMs: 500, allMs: 20_000 };
/** What a system refuses for a moment only is not reported. */
const REFUSED_MS = 5_000;

/** Refusals after which the terminal may exist all the same. */
const MAYBE_MADE = ["daemon.gone", "not-live", "no-holder", "not-started"];

export function wishOf(world: DaemonCommandWorld, name: string, flags: WishFlags): Result<Wish> {
  const config = readConfig(world);
  if (!config.ok) return { ok: false, error: configRefusal(config.error) };
  const { shell, term } = config.value.config.terminal;
  const cwd = world.console.absolute(flags.cwd ?? ".");
  if (world.disk.stat(cwd)?.kind !== "directory") {
    return refused("no-directory", `${cwd} is not a directory.`, "Choose where the program runs: --cwd DIR");
  }
  const words = flags.words === undefined || flags.words.length === 0 ? [shell] : flags.words;
  const argv = withSession(words, uuid(world.random.bytes(16))); // So that its conversation can be found after a crash.
  const env = terminalEnvironment(world.self.environment(), term);
  const policy = flags.restore === undefined ? {} : { policy: flags.restore };
  return ok({ name, lane: flags.lane ?? LANE, argv, cwd, env, ...world.terminal.size(), ...policy });
}

function uuid(random: Uint8Array): string {
  return newId(random).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Returns the terminal once its holder has answered, or its program has already ended. */
export async function createTerminal(
  world: DaemonCommandWorld,
  home: string,
  bare: Wish,
): Promise<Result<ListedTerminal>> {
  const wish = { ...bare, env: withAgentLink(world, home, bare.env) };
  const made = await makeTerminal(world, home, wish);
  if (!made.ok && !MAYBE_MADE.includes(made.error.code)) dropAgentLink(world, home, wish.env);
  return made;
}

async function makeTerminal(world: DaemonCommandWorld, home: string, wish: Wish): Promise<Result<ListedTerminal>> {
  const began = world.clock.now();
  let made: string | undefined;
  return onDaemon(world, home, async (client, again) => {
    if (made === undefined) {
      const created = await wished(client, wish, again ? began : undefined);
      if (!created.ok) return created;
      if (isSettled(created.value)) return ok(created.value);
      made = created.value.id;
    }
    return settled(world, client, made);
  });
}

/** CR2 */
function isSettled(terminal: Terminal | ListedTerminal): terminal is ListedTerminal {
  return "clients" in terminal && terminal.state.kind !== "starting";
}

type Made = Result<Terminal | ListedTerminal>;

async function wished(client: RpcClient, wish: Wish, since: number | undefined): Promise<Made> {
  const mine = since === undefined ? undefined : await findMine(client, wish, since); // CR1
  if (mine?.ok === false || mine?.value !== undefined) return asFound(mine);
  return client.call("terminal.new", { ...wish, settleMs: SETTLE_MS });
}

function asFound(mine: Result<Terminal | undefined>): Result<Terminal> {
  if (!mine.ok) return mine;
  return mine.value === undefined ? { ok: false, error: NEVER_ANSWERED } : ok(mine.value);
}

async function findMine(client: RpcClient, wish: Wish, since: number): Promise<Result<Terminal | undefined>> {
  const rows = await allRows(client, "terminal.list", wish.name === "" ? {} : { name: wish.name });
  if (!rows.ok) return rows;
  const wanted = JSON.stringify([wish.argv, wish.cwd]);
  const alike = rows.value.filter(({ id, name, recipe, createdAt }) => {
    const named = name === (wish.name === "" ? id.slice(0, name.length) : wish.name);
    return named && JSON.stringify([recipe.argv, recipe.cwd]) === wanted && Date.parse(createdAt) >= since;
  });
  for (const { id } of alike) {
    const found = await findOn(client, id, "exact");
    const env = found.ok ? Object.entries(found.value.recipe.env) : [];
    if (!found.ok || env.every(([variable, value]) => wish.env[variable] === value)) return found;
  }
  return ok(undefined);
}

/** Waits until it is no longer starting (CR2). */
async function settled(world: DaemonCommandWorld, client: RpcClient, id: string): Promise<Result<ListedTerminal>> {
  const pauses = new Pauses(world.clock, SETTLE_LIMITS);
  const began = world.clock.elapsed();
  const subscribed = await client.call("subscribe", { topics: ["terminal.*"] });
  if (!subscribed.ok) return subscribed;
  for (let more = true; more; ) {
    const changed = nextChange(client, id);
    const found = await findOn(client, id, "exact");
    if (!found.ok) return found;
    if (found.value.state.kind !== "starting") return found;
    if (found.value.trouble !== undefined && world.clock.elapsed() - began >= REFUSED_MS)
      return notStarted(found.value);
    more = await Promise.race([changed, pauses.next()]);
  }
  return { ok: false, error: NEVER_ANSWERED };
}

function nextChange(client: RpcClient, id: string): Promise<true> {
  return new Promise((resolve) => {
    client.onNotice = ({ data }) => {
      if (isObject(data) && data["id"] === id) resolve(true);
    };
  });
}

function notStarted({ name, trouble }: ListedTerminal): Result<never> {
  const message = `${name} was created, but could not be started yet: ${trouble}`;
  return refused("not-started", message, `It is tried again until it starts; or give it up: holdfast kill ${name}`);
}

const NEVER_ANSWERED: Refusal = {
  code: "no-holder",
  message: "The terminal was created, but its holder does not answer.",
  hint: "`holdfast ls` shows its state, and `holdfast logs` what happened.",
};
