// `holdfast answer` for a prompt of a home that another host has: by way of the database, so that nobody there needs to
// be reached, and of this home's daemon, which looks who asks.
// AN1. What came of it is what the other home's daemon said. If nobody has said anything for a while, it is not known,
//      and the same command can be repeated: it is the same answer (AK1 of daemon/fleet/asking.ts).
import { ok, type Refusal, type Result, refused } from "../../base/result.ts";
import { matchPrompt } from "../../core/agent/find.ts";
import type { Decision } from "../../core/agent/provider.ts";
import { apart, placesNamed } from "../../core/fleet/where.ts";
import type { HomeListing } from "../../fleet/listings.ts";
import { promptIn } from "../../wire/fleet/listing.ts";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";
import { pause } from "../../world/wait.ts";
import { onDaemon } from "../client.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { listingsOf, ownId } from "./all.ts";

/** A takeover may be under way, or a daemon that was killed is started again. */
const WAIT_MS = 30_000;
const LOOK_MS = 300;

export type AnswerWish = {
  readonly key: string;
  readonly decision: Decision;
  readonly message: string;
  readonly always: boolean;
  /** Why it is not a prompt of this home. */
  readonly unknown: Refusal;
  /** Whether the person means this one. */
  isMeant(prompt: ListedPrompt): Promise<boolean>;
};

/** Undefined: the person does not mean it. */
export async function answerElsewhere(
  world: DaemonCommandWorld,
  home: string,
  wish: AnswerWish,
): Promise<Result<ListedPrompt | undefined>> {
  const found = await promptElsewhere(world, home, wish);
  if (!found.ok) return found;
  const { at, id, prompt } = found.value;
  if (prompt !== undefined && id !== wish.key && !(await wish.isMeant(prompt))) return ok(undefined);
  const { decision, message, always } = wish;
  const asked = await onDaemon(world, home, (client) =>
    client.call("fleet.ask", { home: at.home, prompt: id, decision, message, always }),
  );
  if (!asked.ok) return asked;
  return replyOf(world, home, { home: at.home, id: asked.value.id, host: at.owner });
}

type Found = { readonly at: HomeListing; readonly id: string; readonly prompt: ListedPrompt | undefined };

async function promptElsewhere(
  world: DaemonCommandWorld,
  home: string,
  { key, unknown }: AnswerWish,
): Promise<Result<Found>> {
  const listings = await listingsOf(world);
  if (!listings.ok) return listings.error.code === "no-fleet" ? { ok: false, error: unknown } : listings;
  const own = ownId(world, home);
  const named = apart(key);
  const places = named === undefined ? listings.value : placesNamed(listings.value, named.where);
  const id = named?.name ?? key;
  const all = places.filter((place) => place.home !== own).flatMap((at) => promptsOf(at));
  const open = matchPrompt(
    all.filter(({ prompt }) => prompt !== undefined),
    id,
  );
  if (open.ok) return open;
  const closed = all.find((one) => one.id === id); // Its home says what became of it.
  return closed === undefined ? open : ok(closed);
}

function promptsOf(at: HomeListing): Found[] {
  const { prompts = [], closed = [] } = at.listing ?? {};
  return [
    ...prompts.map((prompt) => ({ at, id: prompt.id, prompt })),
    ...closed.map((id) => ({ at, id, prompt: undefined })),
  ];
}

type Asked = { readonly home: string; readonly id: string; readonly host: string };

/** AN1 */
async function replyOf(
  world: DaemonCommandWorld,
  own: string,
  { home, id, host }: Asked,
): Promise<Result<ListedPrompt>> {
  const until = world.clock.elapsed() + WAIT_MS;
  while (world.clock.elapsed() < until) {
    const found = await onDaemon(world, own, (client) => client.call("fleet.reply", { home, id }));
    if (!found.ok && found.error.code !== "fleet-database") return found;
    const prompt = found.ok && found.value.reply !== null ? promptIn(found.value.reply.value) : undefined;
    if (prompt !== undefined) return ok(prompt);
    if (found.ok && found.value.reply !== null) return NEWER;
    await pause(world.clock, LOOK_MS);
  }
  const message = `${host} has not said within ${WAIT_MS / 1_000} s what became of the answer: it is not known.`;
  return refused("fleet-silent", message, "Repeat the same command: it is the same answer. holdfast fleet ls");
}

const NEWER = refused("fleet-form", "A newer version of Holdfast has answered.", "Upgrade Holdfast on this host.");
