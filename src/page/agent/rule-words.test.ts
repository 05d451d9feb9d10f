import { expect, test } from "bun:test";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";
import { aboutText, makerText, matchesOf, matchText } from "./rule-words.ts";

const rule = { rule_id: "r", decision: "allow", tool: "Bash", args: {}, message: "" };
const owned = (more: object) => ({ agent: null, rule: { ...rule, ...more } });
const browser = (id: string) => (id === "d1" ? "Chrome on Linux" : undefined);

test("a rule says who made it", () => {
  const made = { at: "2026-11-17T10:00:00.000Z" };
  expect(makerText({ ...owned({}), from: "configuration" }, browser)).toBe("in the configuration");
  expect(makerText(owned({}), browser)).toBe("added");
  expect(makerText(owned({ made }), browser)).toBe("added in a shell");
  expect(makerText(owned({ rule_id: "always-p", made: { ...made, device: "d1" } }), browser)).toBe(
    "made by answering a prompt in Chrome on Linux",
  );
  expect(makerText(owned({ made: { ...made, device: "d2" } }), browser)).toContain("signed out");
});

test("RW1 it says which of the remembered prompts it decided, the newest first", () => {
  const prompt = (id: string, by: string | undefined, since: string) =>
    ({ id, since, given: { decision: "allow", by: "rule", at: since, ...(by && { rule: by }) } }) as ListedPrompt;
  const closed = [prompt("1", "r", "2"), prompt("2", "other", "3"), prompt("3", undefined, "4"), prompt("4", "r", "5")];
  const matches = matchesOf(rule, closed);
  expect([matches.map(({ id }) => id), matchText(matches)]).toEqual([["4", "1"], "matched 2 prompts lately"]);
  expect(matchText([])).toBe("matched none of the last prompts");
});

test("a prompt is told in a line by its first text", () => {
  expect(aboutText({ tool: "Bash", input: { timeout: 3, command: "make" } })).toBe("Bash make");
  expect(aboutText({ tool: "T", input: { n: 1 } })).toBe('T {"n":1}');
});
