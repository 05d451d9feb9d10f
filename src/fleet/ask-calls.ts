// The statements by which a home asks something of one that another host has (daemon/fleet/answers.ts). Like those in
// calls.ts (CA1 … CA3), except that nobody is fenced who asks: asking changes nothing of the home.
import { type Call, type Fenced, fence } from "./calls.ts";
import { bytes, isApplied, text } from "./rows.ts";
import * as sql from "./sql.ts";

/** `bytes`: sealed. `host`: the name of the host that asks. */
export type AskRow = { readonly id: string; readonly host: string; readonly bytes: Uint8Array };

/** It is answered within `forMs`, or never. Returns the answer, empty if there is none yet; undefined: no such home. */
export const ASK: Call<AskRow & { readonly home: string; readonly forMs: number }, Uint8Array | undefined> = {
  statement: { name: "holdfast.ask", text: sql.ASK },
  encode: ({ id, home, host, bytes: it, forMs }) => [id, home, host, it, `${forMs}`],
  decode: ([row]) => row && bytes(row[0]),
};

/** Empty: there is none yet. Undefined: nobody asks that. */
export const ASK_ANSWER: Call<string, Uint8Array | undefined> = {
  statement: { name: "holdfast.ask-answer", text: sql.ASK_ANSWER },
  encode: (id) => [id],
  decode: ([row]) => row && bytes(row[0]),
};

/** Its answer was read. */
export const FORGET_ASK: Call<string, void> = {
  statement: { name: "holdfast.forget-ask", text: sql.FORGET_ASK },
  encode: (id) => [id],
  decode: () => undefined,
};

/** What is asked of this home and not answered. */
export const ASKS: Call<Fenced<unknown>, readonly AskRow[]> = {
  statement: { name: "holdfast.asks", text: sql.ASKS },
  encode: ({ take }) => fence(take),
  decode: (rows) => rows.map(([id, host, it]) => ({ id: text(id), host: text(host), bytes: bytes(it) })),
};

/** False: the home is not ours, or nobody asks that any more. */
export const REPLY: Call<Fenced<{ readonly id: string; readonly bytes: Uint8Array }>, boolean> = {
  statement: { name: "holdfast.reply", text: sql.REPLY },
  encode: ({ take, id, bytes: it }) => [...fence(take), id, it],
  decode: isApplied,
};
