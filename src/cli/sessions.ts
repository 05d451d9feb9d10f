// Finds the session that a person means: by full name (`agents/<id>`), by id, or by a prefix that matches only one.
import { matchOne } from "../base/ids.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { sessionId } from "../log/session/entry.ts";

const SEE_ALL = "`holdfast log verify` lists the sessions.";

export function pickSession(sessions: readonly string[], key: string): Result<string> {
  const found = key.includes("/") ? matchOne(sessions, key) : pickById(sessions, key);
  if (found.ok) return found;
  const { code, message } = found.error;
  if (code === "ambiguous") return refused(code, message, `Give more of it. ${SEE_ALL}`);
  return refused(code, key === "" ? message : `There is no session "${key}".`, SEE_ALL);
}

function pickById(sessions: readonly string[], key: string): Result<string> {
  const id = matchOne(sessions.map(sessionId), key);
  if (!id.ok) return id;
  const [only, ...others] = sessions.filter((session) => sessionId(session) === id.value);
  if (only !== undefined && others.length === 0) return ok(only);
  // The same id in two places: only the full name distinguishes them.
  const hint = "Give the full name.";
  return refused("ambiguous", `"${key}" matches ${[only, ...others].join(", ")}.`, hint);
}
