// Lists the terminals, and has the daemon find the one that a person means (core/terminal/find.ts).
// FD2. A live daemon is asked. If it is down because the operator wants so, or cannot answer, the disk is read.
// FD3. If the operator wants it up and it is not running, looking starts it, like every command.
// FD4. A daemon of another version does not block access to terminals: the protocol of holders never changes.
// FD5. What a live daemon refuses is the answer: the disk is not read instead.
import { ok, type Refusal, type Result } from "../../base/result.ts";
import { type NameMatch, pickTerminal } from "../../core/terminal/find.ts";
import { dialAsking } from "../../home/dial.ts";
import { wantedOn } from "../../home/wanted.ts";
import { HUSHED, type RpcClient } from "../../wire/rpc/client.ts";
import { allRows, type Filter, fits } from "../../wire/rpc/page.ts";
import { type BriefTerminal, type ListedTerminal, NO_SUCH_METHOD } from "../../wire/rpc/rpc.ts";
import { within } from "../../world/wait.ts";
import { LOOK_MS, liveDaemon, stageOf } from "../client.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";

/** A daemon that hangs must not hide the terminals. */
const LIST_MS = 5_000;
/** To type, nobody waits for a daemon that hangs: the disk says where the holder is. */
const NOW_MS = 700;

export type Listing = { readonly terminals: readonly BriefTerminal[]; readonly from: "daemon" | "disk" };

/** `now`: does not wait for a daemon that is not live yet. */
export type Patience = "wait" | "now";

/** A question about terminals: to a live daemon, or about what is on disk. */
type Question<T> = {
  ask(client: RpcClient): Promise<Result<T>>;
  /** Why the answer is not given. Called more than once: while the daemon answers, and before anything is started. */
  readonly whyNot?: WhyNot | undefined;
  read(terminals: readonly ListedTerminal[]): Result<T> | Promise<Result<T>>;
};

/** In the order of their creation. */
export function listTerminals(
  world: DaemonCommandWorld,
  home: string,
  patience: Patience,
  filter: Filter = {},
): Promise<Result<Listing>> {
  return answerTo<Listing>(world, home, patience, {
    ask: async (client) => {
      const rows = await allRows(client, "terminal.list", filter);
      return rows.ok ? ok({ terminals: inOrder(rows.value), from: "daemon" }) : rows;
    },
    read: (terminals) => ok({ terminals: inOrder(terminals.filter((one) => fits(one, filter))), from: "disk" }),
  });
}

/** Not by the rules of a language: loading them takes longer than sorting. */
function inOrder(terminals: readonly BriefTerminal[]): BriefTerminal[] {
  return terminals.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : Number(a.createdAt > b.createdAt)));
}

export type WhyNot = () => Refusal | undefined;
/** `names`: how the key may name it. `whyNot`: as in a question. */
type Finding = { readonly names?: NameMatch; readonly whyNot?: WhyNot };

export function findTerminal(
  world: DaemonCommandWorld,
  home: string,
  key: string,
  { names = "prefix", whyNot }: Finding = {},
): Promise<Result<ListedTerminal>> {
  return answerTo(world, home, "now", {
    whyNot,
    ask: (client) => findOn(client, key, names),
    read: (terminals) => pickTerminal(terminals, key, names),
  });
}

/** Each is found before anything is done to one of them; one that is named twice counts once. */
export async function findTerminals(
  world: DaemonCommandWorld,
  home: string,
  keys: readonly string[],
): Promise<Result<readonly ListedTerminal[]>> {
  return answerTo(world, home, "now", {
    ask: (client) => findAllOn(client, keys),
    read: (terminals) => each(keys, async (key) => pickTerminal(terminals, key, "prefix")),
  });
}

export function findAllOn(client: RpcClient, keys: readonly string[]): Promise<Result<readonly ListedTerminal[]>> {
  return each(keys, (key) => findOn(client, key, "prefix"));
}

async function each(
  keys: readonly string[],
  find: (key: string) => Promise<Result<ListedTerminal>>,
): Promise<Result<readonly ListedTerminal[]>> {
  const found = new Map<string, ListedTerminal>();
  for (const key of keys) {
    const one = await find(key);
    if (!one.ok) return one;
    found.set(one.value.id, one.value);
  }
  return ok([...found.values()]);
}

/** A daemon that is older than this lists them all, and the rule is applied here. */
export async function findOn(client: RpcClient, key: string, names: NameMatch): Promise<Result<ListedTerminal>> {
  const found = await client.call("terminal.find", { key, names });
  if (found.ok || found.error.code !== NO_SUCH_METHOD) return found;
  const all = await client.call("terminal.list", {});
  return all.ok ? pickTerminal(all.value, key, names) : all;
}

async function answerTo<T>(
  world: DaemonCommandWorld,
  home: string,
  patience: Patience,
  question: Question<T>,
): Promise<Result<T>> {
  const fromDisk = async () => question.read(await (await import("./list-from-disk.ts")).listFromDisk(world, home));
  const patienceMs = patience === "now" ? NOW_MS : LIST_MS;
  const line = await dialAsking(world, home, patienceMs, (client) => {
    const answer = ask(world, client, patienceMs, question);
    question.whyNot?.(); // It has been asked, and we would only wait.
    return answer;
  });
  const refusal = question.whyNot?.();
  if (refusal !== undefined) return { ok: false, error: refusal };
  if (!line.ok) return patience === "now" ? fromDisk() : line; // FD4
  line.value?.client.close();
  if (line.value?.answer !== undefined) return line.value.answer;
  if (line.value === undefined && wantedOn(world.disk, home) !== "up") return fromDisk(); // FD2
  if (patience === "now") {
    if (line.value === undefined) await (await import("../start.ts")).ensureStarted(world, home); // FD3
    return fromDisk();
  }
  const live = await liveDaemon(world, home, LOOK_MS); // FD3
  if (!live.ok) return live.error.code === "bad-config" ? live : fromDisk();
  const answer = await ask(world, live.value, LIST_MS, question);
  live.value.close();
  return answer ?? fromDisk();
}

/** Returns undefined if the daemon is not live, since until then it may not know all, or does not answer (FD5). */
async function ask<T>(
  world: DaemonCommandWorld,
  client: RpcClient,
  patienceMs: number,
  question: Question<T>,
): Promise<Result<T> | undefined> {
  const answer = await within(world.clock, patienceMs, question.ask(client));
  if (answer === undefined || (await within(world.clock, patienceMs, stageOf(client))) !== "LIVE") return undefined;
  return !answer.ok && HUSHED.includes(answer.error.code) ? undefined : answer;
}
