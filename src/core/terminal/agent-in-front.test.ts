import { expect, test } from "bun:test";
import { type AgentFacts, agentInFront, sameAgent } from "./agent-in-front.ts";
import { agentIn } from "./agent-names.ts";
import { isInteractive } from "./coding-agent.ts";

const [A, B] = ["a", "b"].map((letter) => `${letter.repeat(8)}-1111-4222-8333-444455556666`) as [string, string];
const idle = (id: string) => ({ id, state: "idle" }) as const;
const facts = (changes: Partial<AgentFacts>): AgentFacts => ({
  name: "codex",
  recent: [],
  taken: new Set(),
  ...changes,
});

test("AF2 what a process says of itself is certain; what its directory has is its own only if no other can be", () => {
  const rows: readonly (readonly [Partial<AgentFacts>, string | undefined, string])[] = [
    [{}, undefined, "unknown"],
    [{ own: { ...idle(A), state: "waiting" }, named: B, recent: [idle(B)] }, A, "waiting"],
    [{ recent: [idle(A)] }, A, "idle"],
    [{ recent: [idle(A), idle(B)] }, undefined, "unknown"],
    [{ recent: [idle(A), idle(B)], taken: new Set([B]) }, A, "idle"],
    [{ recent: [idle(A)], taken: new Set([A]) }, undefined, "unknown"],
    [{ named: A, recent: [idle(A), idle(B)] }, A, "idle"],
    [{ named: A, recent: [idle(B)] }, A, "unknown"], // Nothing was said in it yet.
  ];
  for (const [changes, session, state] of rows) {
    const found = agentInFront(facts(changes));
    expect([found.session, found.state]).toEqual([session, state]);
  }
  expect(sameAgent(agentInFront(facts({})), agentInFront(facts({ recent: [idle(A)] })))).toBe(false);
  expect(sameAgent(undefined, undefined)).toBe(true);
});

test("an agent is recognized by its name, also behind an interpreter with options; one that does one thing and ends is not talked to", () => {
  const rows: readonly (readonly [words: string, agent: string | undefined, talks?: boolean])[] = [
    ["claude", "claude", true],
    ["/opt/bin/claude --resume", "claude", true],
    ["claude -p hello", "claude", false],
    ["claude mcp list", "claude", false],
    ["node --no-warnings=DEP0040 /usr/bin/gemini", "gemini", true],
    ["node /lib/codex.js exec x", "codex", false],
    ["cursor-agent --resume", "cursor-agent", true],
    ["node -e 1", undefined],
    ["node --version", undefined],
    ["node", undefined],
    ["vim claude", undefined],
    ["claudette", undefined],
  ];
  for (const [words, agent, talks] of rows) {
    const found = agentIn(words.split(" "));
    expect([words, found?.agent, found && isInteractive(found)]).toEqual([words, agent, talks]);
  }
});
