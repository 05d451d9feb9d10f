import { expect, test } from "bun:test";
import { agentOf, listsOf, promptOf } from "../../../tests/cli/top-lists.ts";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";
import { KeyReader } from "./keys.ts";
import { frameOf, seenAfter } from "./layout.ts";
import { type Act, FIRST, NOTHING_SEEN, noted, press, type Seen, type TopState } from "./state.ts";

/** A person at a window: what they typed, and what they saw. */
class Person {
  state: TopState;
  seen: Seen = NOTHING_SEEN;
  readonly acts: Act[] = [];
  readonly #size: { readonly cols: number; readonly rows: number };

  constructor(prompts: readonly ListedPrompt[], size = { cols: 80, rows: 24 }) {
    this.state = noted(FIRST, { lists: listsOf({ prompts, agents: [agentOf("a1")] }), isUp: true, message: "" });
    this.#size = size;
    this.look();
  }

  look(): void {
    const frame = frameOf(this.state, { size: this.#size, widthOf: Bun.stringWidth, minutesAhead: () => 0 });
    this.seen = seenAfter(frame, this.seen);
  }

  /** Keys that come together, before the next frame. */
  together(text: string): void {
    for (const key of new KeyReader().push(Buffer.from(text))) {
      const { state, act } = press(this.state, key, this.seen);
      this.state = state;
      if (act !== undefined) this.acts.push(act);
    }
  }

  /** Keys, each of which is seen to have its effect before the next. */
  types(...keys: readonly string[]): this {
    for (const key of keys) {
      this.together(key);
      this.look();
    }
    return this;
  }

  hears(...prompts: readonly ListedPrompt[]): this {
    this.state = noted(this.state, { lists: { ...this.state.lists, prompts } });
    return this;
  }

  get answers(): string[] {
    return this.acts.flatMap((act) => (act.kind === "answer" ? [`${act.decision} ${act.prompt.id}`] : []));
  }
}

const [ONE, TWO, THREE] = [
  promptOf("1"),
  promptOf("2", { since: "2026-11-18T15:44:12Z" }),
  promptOf("3", { since: "3" }),
];
const DOWN = "\u001b[B";
const END = "\u001b[F";
const LONG = promptOf("long", { input: { command: "x\n".repeat(100) } });

test("a selected and shown prompt is allowed or denied by its id", () => {
  expect(new Person([ONE, TWO]).types("p", "a").answers).toEqual(["allow 1"]);
  expect(new Person([ONE, TWO]).types("p", "p", "d").answers).toEqual(["deny 2"]);
  expect(new Person([ONE, TWO]).types(DOWN, "j", "k", "a").answers).toEqual(["allow 1"]);
});

test("TP1 nothing is answered that the last frame did not show as selected", () => {
  const person = new Person([ONE, TWO]);
  person.together("pa");
  expect(person.answers).toEqual([]);
  expect(person.state.message).toContain("Nothing was answered");
  person.look();
  person.together("pa"); // The frame showed the first, and the cursor is on the second.
  expect(person.answers).toEqual([]);
  expect(new Person([ONE]).types("a", "d").answers).toEqual([]);
});

test("TP1 a prompt whose content has changed since it was drawn is not answered", () => {
  const person = new Person([ONE]).types("p").hears({ ...ONE, input: { command: "rm -rf /" } });
  person.together("a");
  expect(person.answers).toEqual([]);
  person.look();
  expect(person.types("a").answers).toEqual(["allow 1"]);
});

test("TP2 if the selected prompt goes away, a key meant for it answers no other, however often it is pressed", () => {
  const person = new Person([ONE, TWO]).types("p").hears(TWO);
  expect(person.state).toMatchObject({ selected: undefined, message: "The prompt is not open any more." });
  person.together("aad");
  expect(person.types("a", "d").answers).toEqual([]);
  expect(new Person([ONE, TWO]).types("p", "a", "a", "d").answers).toEqual(["allow 1"]);
});

test("TP3 a key that moves leads to the row that was drawn there, or to none", () => {
  const gone = new Person([ONE, TWO, THREE]).types("p").hears(ONE, THREE);
  gone.together(DOWN);
  expect(gone.state).toMatchObject({ selected: undefined, message: "What was there is gone." });
  const late = new Person([TWO, THREE])
    .types("p")
    .hears(ONE, TWO, promptOf("2a", { since: "2026-11-18T15:44:12.5Z" }), THREE);
  late.together(DOWN);
  expect(late.state.selected).toBe("prompt 3");
  const kept = new Person([TWO]).types("p").hears(ONE, TWO);
  expect(kept.state.selected).toBe("prompt 2");
});

test("TP4 a long prompt is allowed once its end was in view, and denied at any time", () => {
  expect(new Person([LONG]).types("p", "d").answers).toEqual(["deny long"]);
  const person = new Person([LONG]).types("p", "a");
  expect([person.answers, person.state.message]).toEqual([[], expect.stringContaining("more of it below")]);
  expect(person.types(END, "\u001b[H", "a").answers).toEqual(["allow long"]);
  expect(new Person([LONG]).types("p", ...Array(20).fill(" "), "a").answers).toEqual(["allow long"]);
  expect(new Person([LONG]).types("p", "\r", ...Array(3).fill("j"), "a").answers).toEqual([]);
  for (const size of [
    { cols: 80, rows: 4 },
    { cols: 20, rows: 24 },
  ])
    expect(new Person([ONE], size).types("p", "a").answers).toEqual([]);
  expect(new Person([ONE], { cols: 80, rows: 9 }).types("p", "\r", "a").answers).toEqual(["allow 1"]);
});

test("nothing is answered while the daemon is away", () => {
  const person = new Person([ONE]).types("p");
  person.state = noted(person.state, { isUp: false });
  expect(person.types("a", "d").answers).toEqual([]);
});

test("TP5 a text and a question keep what they are about, and keys in them are text", () => {
  const person = new Person([ONE, TWO]).types("p", "s").hears(TWO).types("add\u001b[200~a\nq\u001b[201~ \u007f!", "\r");
  expect(person.acts).toEqual([{ kind: "send", to: { kind: "prompt", of: ONE }, text: "adda\nq!" }]);
  const asks = new Person([ONE, TWO]).types("p", "i").hears(TWO).types("y");
  expect(asks.acts).toEqual([{ kind: "interrupt", of: { kind: "prompt", of: ONE } }]);
  expect(new Person([ONE]).types("p", "i", "a").acts).toEqual([]);
  expect(new Person([ONE]).types("p", "s", "a", "\u001b", "\u001b[200~a\u001b[201~").acts).toEqual([]);
});

test("q leaves the list and comes back from everything else", () => {
  expect(new Person([ONE]).types("q").acts).toEqual([{ kind: "quit" }]);
  expect(new Person([ONE]).types("p", "\r", "q").acts).toEqual([]);
  expect(new Person([ONE]).types("?", "q").acts).toEqual([]);
  expect(new Person([ONE]).types("p", "s", "q", "\u0003").acts).toEqual([{ kind: "quit" }]);
});
