// Variables that a new terminal's program gets and that never go to disk: handed from the daemon to the holder in the holder's own
// environment. They are gone with it: after a restart they are unset, and the report says which.
import { isObject } from "../lines.ts";

export const ENTRUSTED = "HOLDFAST_ENTRUSTED";

export type Variables = Readonly<Record<string, string>>;

export function setSecrets(variables: Variables): Variables {
  return Object.keys(variables).length === 0 ? {} : { [ENTRUSTED]: JSON.stringify(variables) };
}

/** What was handed over; nothing where there is nothing to be read. */
export function entrusted(text: string | undefined): Variables {
  if (text === undefined) return {};
  try {
    const found: unknown = JSON.parse(text);
    if (!isObject(found)) return {};
    const texts = Object.entries(found).filter((pair): pair is [string, string] => typeof pair[1] === "string");
    return Object.fromEntries(texts);
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
