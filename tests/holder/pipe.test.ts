// A child on pipes: both directions on tapes, stderr apart, and pressure instead of loss.
import { afterEach, expect, test } from "bun:test";
import { until } from "../until.ts";
import { attach, endAll, exitOf, tapeOf, terminal } from "./terminal.ts";

afterEach(endAll);

const pipe = { mode: "pipe" } as const;

test("requests and answers are both kept, and stderr apart", async () => {
  const script =
    'while read -r line; do echo "answer to $line"; echo "thought about $line" >&2; done; echo over; exit 6';
  const made = await terminal(["sh", "-c", script], pipe);
  await made.ear.type("one\n");
  await made.ear.type("two\n");
  await made.ear.hears("answer to two");
  made.ear.client.endInput();
  expect((await made.ear.hearsEnd()).code).toBe(6);
  expect(made.ear.text).toBe("answer to one\nanswer to two\nover\n");
  expect(tapeOf(made).toString()).toBe(made.ear.text);
  expect(tapeOf(made, "input-tape").toString()).toBe("one\ntwo\n");
  expect(tapeOf(made, "stderr-tape").toString()).toBe("thought about one\nthought about two\n");
});

test("a request without an answer is found by the next client", async () => {
  const made = await terminal(["sh", "-c", "read -r line; exec sleep 1000"], pipe);
  expect((await made.ear.type("a question\n")).ok).toBe(true);
  made.ear.client.close();
  const next = await attach(made, { writer: "next" });
  expect((await next.status()).tape.end).toBe(0);
  expect(tapeOf(made, "input-tape").toString()).toBe("a question\n");
});

test("the child has no terminal, and leads its own process group", async () => {
  const made = await terminal(
    ["sh", "-c", "test -t 0 || test -t 1 || test -t 2 || echo none; ps -o pgid= -p $$; echo $$"],
    pipe,
  );
  await made.ear.hearsEnd();
  const [none, group, pid] = made.ear.text.trim().split(/\s*\n\s*/);
  expect({ none, leads: group === pid }).toEqual({ none: "none", leads: true });
});

test("unread output blocks the child, and nothing is lost", async () => {
  const total = 20_000_000;
  const made = await terminal(["sh", "-c", `head -c ${total} /dev/zero; echo through >&2; exec sleep 1000`], pipe);
  const { ear } = made;
  await until(
    "the child is held back",
    () => (ear.client.offset ?? 0) > 4 << 20,
    () => ear.client.offset ?? 0,
  );
  const held = await settled(() => ear.client.offset ?? 0);
  expect(held).toBeLessThan(6 << 20);
  expect(tapeOf(made, "stderr-tape").length).toBe(0);
  const other = await attach(made, { writer: "other" });
  for (let at = 0; at < total; at = ear.client.offset ?? 0) {
    other.client.consumed(ear.client.offset ?? 0);
    await until(
      "more comes",
      () => (ear.client.offset ?? 0) > at,
      () => ear.client.offset ?? 0,
    );
  }
  await until(
    "the child has finished",
    () => tapeOf(made, "stderr-tape").toString() === "through\n",
    () => tapeOf(made, "stderr-tape").toString(),
  );
  expect(ear.bytes.length).toBe(total);
  expect(ear.holes).toEqual([]);
});

test("a child that ends while it is held back ends all the same, with everything on the tape", async () => {
  const made = await terminal(["sh", "-c", "read -r line; head -c 4400000 /dev/zero; exit 8"], pipe);
  await made.ear.type("\n");
  expect((await made.ear.hearsEnd()).code).toBe(8);
  expect(exitOf(made)?.offset).toBe(4_400_000);
  expect(tapeOf(made).length).toBe(4_400_000);
});

test("a child that closed its input does no harm, and a signal reaches its group", async () => {
  const made = await terminal(["sh", "-c", "exec 0<&-; echo closed; sleep 1000 | cat"], pipe);
  await made.ear.hears("closed");
  for (let n = 0; n < 5; n += 1) await made.ear.type("nobody reads this\n");
  made.ear.client.signal("SIGTERM");
  expect((await made.ear.hearsEnd()).signal).toBe("SIGTERM");
});

/** The value once it stays the same: under pressure nothing moves any more. */
async function settled(value: () => number): Promise<number> {
  let last = value();
  let same = 0;
  await until(
    "it stays the same",
    () => {
      same = value() === last ? same + 1 : 0;
      last = value();
      return same > 50;
    },
    value,
  );
  return last;
}
