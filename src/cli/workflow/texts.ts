// Parameters as the command line gives them: --param name=value.
import { ok, type Result, refused } from "../../base/result.ts";

/** A value is not repeated in a refusal: it may be a secret. */
export function textsOf(params: readonly string[]): Result<Readonly<Record<string, string>>> {
  if (params.some((param) => param.indexOf("=") < 1))
    return refused("usage", "A --param has no name.", "Give it as --param name=value.");
  const pairs = params.map((param) => [param.slice(0, param.indexOf("=")), param.slice(param.indexOf("=") + 1)]);
  return ok(Object.fromEntries(pairs));
}
