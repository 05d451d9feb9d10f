// Variables that a new terminal's program gets and that are never written to disk: the daemon hands them to the holder
// in the holder's own environment. They end with it: after a restart they are unset, and the report names them.
import { decodeLine } from "../lines.ts";

export const ENTRUSTED = "HOLDFAST_ENTRUSTED";

export type Variables = Readonly<Record<string, string>>;

export function setSecrets(variables: Variables): Variables {
  return Object.keys(variables).length === 0 ? {} : { [ENTRUSTED]: JSON.stringify(variables) };
}

/** The variables that were handed over; none if the text is not a JSON object. */
export function entrusted(text: string | undefined): Variables {
  const found = text === undefined ? undefined : decodeLine(text);
  const texts = Object.entries(found ?? {}).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  return Object.fromEntries(texts);
}
