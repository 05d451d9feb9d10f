// The login file of Claude Code, of which we read one field: the token of a subscription that is valid now.
import { fieldsAt, readObject, textAt } from "./json-line.ts";

/** The file has half a kilobyte. */
export const MAX_LOGIN = 64 << 10;
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

/** Returns undefined if there is none, or it could not be the value of a variable. */
export function loginToken(text: string): string | undefined {
  const login = readObject(text);
  const token = login && textAt(fieldsAt(login, "claudeAiOauth"), "accessToken");
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}
