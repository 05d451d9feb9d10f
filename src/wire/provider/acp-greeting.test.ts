import { expect, test } from "bun:test";
import { greetedIn, greeting } from "./acp-greeting.ts";

test("an ACP program is known by its answer to the greeting, among whatever else it prints", () => {
  expect(JSON.parse(greeting())).toMatchObject({ jsonrpc: "2.0", id: "open", method: "initialize" });
  const answer = (rest: object) => `${JSON.stringify({ jsonrpc: "2.0", id: "open", ...rest })}\n`;
  expect(greetedIn("Loading …\n[]\n{}\n")).toBeUndefined();
  expect(greetedIn(answer({ result: { agentCapabilities: {} } }).trimEnd())).toBeUndefined();
  const speaks = `noise\n${answer({ result: { protocolVersion: 1, agentCapabilities: { loadSession: true } } })}`;
  expect(greetedIn(speaks)).toEqual({ kind: "speaks", resumes: true });
  expect(greetedIn(answer({ result: {} }))).toEqual({ kind: "speaks", resumes: false });
  expect(greetedIn(answer({ error: { code: 1, message: "no" } }))).toEqual({ kind: "refused", why: "no" });
  expect(greetedIn(answer({ error: "constructor" }))).toEqual({ kind: "refused", why: "it gave no reason" });
});
