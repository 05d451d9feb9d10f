// What a person at this host answers to a prompt of a home that another host has: sealed, and put into the database for
// that home, by whatever host it is then answered (answers.ts).
// AK1. The id of a question is made of what is asked: a command that is repeated, because nobody knows what came of it,
//      is the same question, and finds its answer. Once that was read, it is a new one.
// AK2. Never for a home on this host: its own daemon looks who asks, and an agent there must not go around it. So no
//      agent answers itself through the fleet (docs/decisions/0019-principals.md).
import { newId } from "../../base/ids.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { ASK, ASK_ANSWER, FORGET_ASK } from "../../fleet/ask-calls.ts";
import { LOOK } from "../../fleet/calls.ts";
import { askNote, encodeAsked, parseReply, replyNote } from "../../wire/fleet/asked.ts";
import type { Params } from "../../wire/rpc/params.ts";
import { sha256 } from "../../world/hash.ts";
import type { Random } from "../../world/random.ts";
import type { FleetDesk } from "../ports.ts";
import { surely } from "./outcome.ts";

/** A person may have given up by then; the home may have moved to another host meanwhile. */
const FOR_MS = 120_000;
const ID_LENGTH = 32;

export async function askHome(
  desk: FleetDesk,
  random: Random,
  { home, ...params }: Params<"fleet.ask">,
): Promise<Result<{ readonly id: string }>> {
  const { database, seal, host } = desk;
  const row = surely(await database.call(LOOK, home));
  if (!row.ok) return row;
  if (row.value?.owner === host) return HERE; // AK2
  const { prompt, decision, message = "", always = false } = params;
  const what = [host, home, prompt, decision, message, always];
  const id = sha256(Buffer.from(JSON.stringify(what))).slice(0, ID_LENGTH); // AK1
  const answer = newId(random.bytes(16));
  const plain = encodeAsked({ prompt, answer, decision, message, always });
  const bytes = seal.note(askNote(home, id, host), plain);
  const asked = surely(await database.call(ASK, { id, home, host, bytes, forMs: FOR_MS }));
  if (!asked.ok) return asked;
  return asked.value === undefined ? NO_HOME : ok({ id });
}

/** Null: there is no answer yet. */
export async function replyFrom(
  { database, seal }: FleetDesk,
  { home, id }: Params<"fleet.reply">,
): Promise<Result<{ readonly reply: { readonly value: unknown } | null }>> {
  const found = surely(await database.call(ASK_ANSWER, id));
  if (!found.ok) return found;
  if (found.value === undefined) return READ;
  if (found.value.length === 0) return ok({ reply: null });
  const opened = seal.openNote(replyNote(home, id), found.value);
  await database.call(FORGET_ASK, id); // AK1
  if (!opened.ok) return opened;
  const reply = parseReply(opened.value);
  if (reply === undefined)
    return refused("fleet-form", "A newer version of Holdfast has answered.", "Upgrade this one.");
  return reply.ok ? ok({ reply: { value: reply.value } }) : reply;
}

const READ = refused("fleet-read", "Another command has read the answer to that.", "holdfast prompts --all");
const HERE = refused("fleet-here", "That home is on this host.", "holdfast answer --home DIR; holdfast fleet ls");
const NO_HOME = refused("unknown", "There is no such home in the fleet.", "holdfast fleet ls");
