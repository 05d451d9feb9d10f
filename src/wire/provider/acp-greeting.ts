// The greeting of an ACP program by itself: whether it speaks the protocol, and what it says it can do.
import { decodeLine, encodeLine, isObject } from "../lines.ts";
import { initialize } from "./acp.ts";

/** `resumes`: it can load a session of an earlier process. */
export type Greeted =
  | { readonly kind: "speaks"; readonly resumes: boolean }
  | { readonly kind: "refused"; readonly why: string };

export function greeting(): string {
  return new TextDecoder().decode(encodeLine({ jsonrpc: "2.0", ...initialize() }));
}

/** The answer in its output so far; undefined if it is not there yet. Other lines are ignored. */
export function greetedIn(out: string): Greeted | undefined {
  const lines = out.split("\n").slice(0, -1); // The last one is not whole yet.
  const answer = lines.map((line) => decodeLine(line)).find((message) => message?.["id"] === initialize().id);
  if (answer === undefined) return undefined;
  const { result, error } = answer;
  if (!isObject(result)) {
    const why = isObject(error) && typeof error["message"] === "string" ? error["message"] : "it gave no reason";
    return { kind: "refused", why };
  }
  const can = result["agentCapabilities"];
  return { kind: "speaks", resumes: isObject(can) && can["loadSession"] === true };
}
