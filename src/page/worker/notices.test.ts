// What a service worker shows.
import { expect, test } from "bun:test";
import { endMessage, questionMessage, testMessage } from "../../core/notify/message.ts";
import { messageIn } from "../../wire/push/message.ts";
import { endedAfter, endedIn, noticeOf } from "./notices.ts";

const FACTS = { id: "p1", agent: "a1", name: "builder", tool: "Bash" };
const QUESTION = questionMessage({ ...FACTS, input: { command: "make" } }, true);
const END = endMessage({ ...FACTS, decision: "allow" }, { decision: "allow", how: "Answered on phone.", at: "" });

test("NW1 NW4 a question shows all of its input and the home's buttons, under the tag of its prompt", () => {
  const { title, options } = noticeOf(QUESTION, []);
  expect([title, options.tag, options.body]).toEqual(["builder asks for Bash", "p1", "command: make"]);
  expect(options.actions?.map(({ action }) => action)).toEqual(["allow", "deny"]);
  const long = questionMessage({ ...FACTS, input: { command: "x".repeat(300) } }, true);
  expect(noticeOf(long, []).options.actions).toEqual([]);
});

test("NW2 NW3 after its end a question shows the end; what is unknown shows something; a test is a test", () => {
  const ended = endedAfter([], END);
  expect(endedAfter(ended, QUESTION)).toBe(ended);
  const { title, options } = noticeOf(QUESTION, ended);
  expect([title, options.body, options.actions, options.silent]).toEqual([END.title, END.body, undefined, true]);
  expect(noticeOf(undefined, []).options.tag).toBe("unknown");
  expect(noticeOf(testMessage(), ended).title).toBe("A test of Holdfast");
  const many = Array.from({ length: 250 }, (_, at) => ({ ...END, tag: String(at) }));
  expect(many.reduce(endedAfter, ended)).toHaveLength(200);
});

test("what the vault has may be anything", () => {
  expect(endedIn(undefined)).toEqual([]);
  expect(endedIn([{ tag: "a", title: "b", body: "c" }, { tag: 1 }, null, "x"])).toHaveLength(1);
});

test("a message is read with limits, and every message of the home is one", () => {
  for (const message of [QUESTION, END, testMessage()]) expect(messageIn(JSON.stringify(message))).toEqual(message);
  const bad = [
    { ...QUESTION, v: 2 },
    { ...QUESTION, title: "x".repeat(2_000) },
    { ...QUESTION, actions: ["run"] },
    7,
    null,
  ];
  for (const message of bad) expect(messageIn(JSON.stringify(message))).toBeUndefined();
  expect(messageIn("{")).toBeUndefined();
});
