// Claims about the messages that flow between agents.
import { expect, test } from "bun:test";
import type { ListedMessage } from "../../wire/rpc/messages.ts";
import { withMessages } from "./message-flow.ts";

function message(n: number, text = `message ${n}`): ListedMessage {
  const at = new Date(n * 1000).toISOString();
  return { id: `m${n}`, sender: "user", recipient: "a", kind: "message", text, at };
}

test("MF2 what the home has and what comes meanwhile are one list, newest first, each once, and of bounded length", () => {
  const noticed = withMessages([], [message(9)]); // Before the home has answered.
  const all = withMessages(
    noticed,
    [9, 8, 7].map((n) => message(n)),
  );
  expect(all.map(({ id }) => id)).toEqual(["m9", "m8", "m7"]);
  expect(withMessages(all, [message(8)])).toBe(all);
  const many = Array.from({ length: 80 }, (_, n) => message(n + 10)).reduce(
    (list, one) => withMessages(list, [one]),
    all,
  );
  expect([many.length, many[0]?.id, many.at(-1)?.id]).toEqual([50, "m89", "m40"]);
  expect(withMessages([], [message(1, `\n first ${"x".repeat(300)}\nsecond`)])[0]?.text).toHaveLength(200);
});
