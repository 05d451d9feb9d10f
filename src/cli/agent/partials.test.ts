import { expect, test } from "bun:test";
import type { Json } from "../../base/json.ts";
import type { Entry } from "../../log/session/entry.ts";
import { PartialSeries } from "./partials.ts";

const at = "2026-01-02T03:04:05.678Z";

function read(offset: number, ...events: Json[]): Entry {
  const data = { generation: 1, offset, events, at };
  return { seq: 2, prev: 1, session_id: "agents/a", ts: at, event: "agent.read", data };
}

/** All that is shown. A new text begins with `|`. */
class Screen {
  readonly #series = new PartialSeries();
  text = "";

  partial(offset: number, from: number, text: string, joins?: boolean): void {
    this.#show(this.#series.next({ id: "a", generation: 1, offset, from, text, ...(joins && { joins }) }));
  }

  whole(offset: number, text: string, part = false): void {
    this.#show(this.#series.whole({ text, part }));
    this.#series.told(read(offset, { kind: "text", text }));
  }

  alive(offset: number): void {
    this.#series.told(read(offset));
  }

  #show(shown: { readonly text: string; readonly part: boolean } | undefined): void {
    if (shown !== undefined) this.text += `${shown.part ? "" : "|"}${shown.text}`;
  }
}

test("PS1 pieces are shown as they come, and of their text only what they lack", () => {
  const screen = new Screen();
  screen.partial(10, 0, "Hel");
  screen.alive(10);
  screen.partial(20, 3, "lo ");
  screen.whole(30, "Hello you");
  screen.partial(40, 0, "And");
  screen.whole(50, "And now");
  expect(screen.text).toBe("|Hello you|And now");
});

test("PS1 if pieces were missed, the whole text is shown when it is there", () => {
  const screen = new Screen();
  screen.partial(20, 3, "lo ");
  screen.whole(30, "Hello you");
  screen.partial(40, 0, "And");
  screen.partial(50, 6, "w");
  screen.whole(60, "And now");
  expect(screen.text).toBe("|Hello you|And now");
});

test("PS1 a text that begins anew, because its request was repeated, is shown anew", () => {
  const screen = new Screen();
  screen.partial(10, 0, "Hel");
  screen.partial(10, 0, "Good ");
  screen.partial(10, 5, "day");
  screen.whole(10, "Good day");
  expect(screen.text).toBe("|Hel|Good day");
});

test("PS2 a piece that comes after its text is not shown", () => {
  const screen = new Screen();
  screen.whole(30, "Hello");
  screen.partial(10, 0, "Hel");
  screen.partial(30, 3, "lo");
  expect(screen.text).toBe("|Hello");
});

test("PS1 text that comes in parts only goes on where it was, also after some of it was recorded", () => {
  const screen = new Screen();
  screen.partial(10, 0, "Once ", true);
  screen.partial(20, 5, "upon ", true);
  screen.whole(20, "Once upon ", true);
  screen.partial(30, 0, "a time", true);
  screen.whole(40, "a time", true);
  expect(screen.text).toBe("Once upon a time");
});
