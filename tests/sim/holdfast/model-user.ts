// What an operator tells bare LLMs (agent/sim-model.ts), and what their requests must show.
// MU1. What was sent is in every request from the first one on that has it, once; so is a reminder of the model.
// MU2. A request forgets nothing (agent/sim-witness.ts).
import type { Asked } from "../../agent/sim-model.ts";
import { wrongWithRequests } from "../../agent/sim-witness.ts";
import type { SimRandom } from "../random.ts";
import type { KnownAgent } from "./memory.ts";

/** What is known of a text: the word that marks it, and what it makes the model do. */
const ORDERS = ["", "", "remind", "fail 500", "fail 429 2", "fail cut"];

/** A note for a message; the text follows from it, so that it can be repeated. */
export function noteFor(word: string, random: SimRandom): string {
  return `${word} ${random.pick(ORDERS)}`;
}

export function textOf(note: string): string {
  const [word = "", order = "", ...rest] = note.split(" ");
  if (order === "remind") return `<${word}>\n>> call remind_me ${JSON.stringify({ in_seconds: 1, text: `[${word}]` })}`;
  return order === "fail" ? `<${word}>\n>> fail ${rest.join(" ")} ${word}` : `<${word}>`;
}

type Agents = ReadonlyMap<string, KnownAgent>;
type Requests = readonly (readonly Asked[])[];

/** MU1: what no model was told yet, although it was acknowledged. */
export function unheard(asked: Requests, agents: Agents): string[] {
  return told(asked, agents).flatMap(({ marks, last }) => marks.filter((mark) => !last.includes(mark)));
}

/** MU1, MU2 */
export function wrongWithModels(asked: Requests, agents: Agents): string[] {
  const twice = told(asked, agents).flatMap(({ marks, last }) =>
    marks.filter((mark) => last.split(mark).length > 2).map((mark) => `a model is told ${mark} twice`),
  );
  return [...twice, ...wrongWithRequests(asked)];
}

/** The marks of what was acknowledged for each model, and what people said in its last request. */
function told(asked: Requests, agents: Agents): { readonly marks: readonly string[]; readonly last: string }[] {
  return [...agents].flatMap(([id, { provider, texts }]) => {
    const sent = [...texts.values()].filter((text) => text.sent === "acknowledged");
    const last = asked.findLast(([first]) => String(first?.["content"]).includes(id)) ?? [];
    const words = last.flatMap(({ role, content }) => (role === "user" ? [withoutOrders(String(content))] : []));
    return provider === "model" ? [{ marks: sent.flatMap(({ note }) => marksOf(note)), last: words.join("\n") }] : [];
  });
}

/** The order to be reminded contains the mark of the reminder. */
function withoutOrders(text: string): string {
  return text.replaceAll(/>> .*$/gm, "");
}

function marksOf(note: string): string[] {
  const [word = "", order] = note.split(" ");
  return order === "remind" ? [`<${word}>`, `[${word}]`] : [`<${word}>`];
}
