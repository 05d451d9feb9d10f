// The decisions about notifications: states of a call, quiet hours, words, subscriptions.
import { describe, expect, test } from "bun:test";
import { cells, unreachable } from "../../base/machine.ts";
import { type CallEvent, callMachine } from "./call-machine.ts";
import { endMessage, questionMessage, testMessage } from "./message.ts";
import {
  after,
  called,
  dueOf,
  keyOf,
  MAX_CALLS,
  type Outbox,
  over,
  released,
  replied,
  withoutTarget,
} from "./outbox.ts";
import { isQuiet, quietHoursOf } from "./quiet.ts";
import { ofDevices, type Subscription, subscribed, wrongEndpoint } from "./subscriptions.ts";

const CALL = { prompt: "p1", target: "t1", agent: "a1", name: "builder", tool: "Bash" };
const KEY = keyOf(CALL);
const HOW = { decision: "allow", how: "Answered in a shell.", at: "2026-01-01T00:00:00.000Z" } as const;
const NONE: Outbox = new Map();

function happened(...events: readonly CallEvent[]): Outbox {
  return events.reduce((outbox, event) => after(outbox, KEY, event), called(NONE, [CALL], false));
}

describe("a call", () => {
  test("every state can be reached, and one that may be on a screen is never done without its end", () => {
    expect(unreachable(callMachine)).toEqual([]);
    const silent = new Set<CallEvent>(["target is gone", "not sent", "too late", "accepted"]);
    for (const { state, event, next } of cells(callMachine))
      if (next === "done" && !silent.has(event)) expect(["held", "due"]).toContain(state);
  });

  test("OB1 one for each prompt and target", () => {
    const once = called(NONE, [CALL], false);
    expect(called(once, [CALL], false)).toBe(once);
    expect(called(once, [{ ...CALL, target: "t2" }], false).size).toBe(2);
    expect(withoutTarget(called(once, [{ ...CALL, target: "t2" }], false), "t1").size).toBe(1);
  });

  test("OB2 OB3 what may have arrived is withdrawn, and what has not is dropped", () => {
    expect(over(happened(), KEY, HOW).size).toBe(0);
    expect(over(called(NONE, [CALL], true), KEY, HOW).size).toBe(0);
    expect(over(happened("about to be sent", "refused"), KEY, HOW).size).toBe(0);
    for (const last of ["lost", "accepted"] as const) {
      const ended = over(happened("about to be sent", last), KEY, HOW);
      expect(ended.get(KEY)).toMatchObject({ state: "withdrawing", over: HOW });
      expect(over(ended, KEY, { ...HOW, decision: "deny" })).toBe(ended);
      expect(after(ended, KEY, "lost")).toBe(ended);
      expect(after(ended, KEY, "accepted").size).toBe(0);
    }
  });

  test("OB4 a full outbox takes no more", () => {
    const many = Array.from({ length: MAX_CALLS + 1 }, (_, at) => ({ ...CALL, prompt: `p${at}` }));
    const full = called(called(NONE, [CALL], true), many, false);
    expect(full.size).toBe(MAX_CALLS);
    expect(called(full, [{ ...CALL, prompt: "one more" }], false)).toBe(full);
    expect(released(full).get(KEY)?.state).toBe("due");
    expect(released(released(full))).toEqual(released(full));
  });

  test("OB5 the reply to a question says nothing once the prompt is over, unless the target is gone", () => {
    const tried = { ...CALL, state: "due", over: null } as const;
    const ended = over(happened("about to be sent"), KEY, HOW);
    expect(replied(ended, tried, "accepted")).toBe(ended);
    expect(replied(ended, tried, "target is gone").size).toBe(0);
    expect(replied(ended, { ...tried, state: "withdrawing", over: HOW }, "accepted").size).toBe(0);
    expect(replied(NONE, tried, "accepted")).toBe(NONE);
  });

  test("OB5 a refusal says nothing of an earlier attempt that may have arrived", () => {
    const tried = { ...CALL, state: "due", over: null } as const;
    const sent = happened("about to be sent");
    expect(replied(sent, tried, "refused").get(KEY)?.state).toBe("due");
    expect(replied(sent, { ...tried, state: "sent" }, "refused").get(KEY)?.state).toBe("sent");
  });

  test("what is sent now follows from its state", () => {
    const outboxes = [
      called(NONE, [CALL], true),
      happened(),
      happened("about to be sent", "accepted"),
      over(happened("about to be sent"), KEY, HOW),
    ];
    expect(outboxes.flatMap((outbox) => [...outbox.values()].map(dueOf))).toEqual([
      undefined,
      "question",
      undefined,
      "end",
    ]);
  });
});

test("quiet hours, also over midnight, by the clock of the home", () => {
  const at = (time: string) => Date.parse(`2026-01-01T${time}:00Z`);
  const utc = { minutesAhead: () => 0 };
  const night = quietHoursOf("22:00-07:30") ?? { from: 0, to: 0 };
  const quiet = ["21:59", "22:00", "03:00", "07:29", "07:30"].map((time) => isQuiet(night, at(time), utc));
  expect(quiet).toEqual([false, true, true, true, false]);
  const noon = quietHoursOf("12:00-13:00") ?? { from: 0, to: 0 };
  expect(["11:59", "12:00", "13:00"].map((time) => isQuiet(noon, at(time), utc))).toEqual([false, true, false]);
  expect(isQuiet(noon, at("10:30"), { minutesAhead: () => 120 })).toBe(true);
  expect(isQuiet(noon, at("01:30"), { minutesAhead: () => -780 })).toBe(true);
  for (const wrong of ["", "22-7", "24:00-07:00", "22:00 - 07:00"]) expect(quietHoursOf(wrong)).toBeUndefined();
});

describe("what a notification says", () => {
  const facts = { id: "p1", agent: "a1", name: "builder", tool: "Bash" };

  test("NM1 all of the input with Allow and Deny, or where to look and neither", () => {
    const short = questionMessage({ ...facts, input: { command: "ls -la", count: 2 } }, true);
    expect(short).toMatchObject({ title: "builder asks for Bash", body: "command: ls -la\ncount: 2", tag: "p1" });
    expect(short.actions).toEqual(["allow", "deny"]);
    expect(questionMessage({ ...facts, input: "plain" }, false)).toMatchObject({ body: "plain", actions: [] });
    for (const input of [
      { command: `echo ${"x".repeat(300)} secret` },
      ["a", { b: "c".repeat(400) }],
      { a: 1, b: 2, c: 3, d: 4, e: 5 },
    ]) {
      const long = questionMessage({ ...facts, input }, true);
      expect(long.actions).toEqual([]);
      expect(JSON.stringify(long)).not.toContain("secret");
      expect(long.body).toContain("holdfast prompts");
    }
  });

  test("NM2 nothing in it hides a part of the rest, and it always fits a push message", () => {
    const { body } = questionMessage({ ...facts, input: { command: "rm -rf /\u202E\n" } }, true);
    expect(body).toBe("command: rm -rf /\\u202e\\u000a");
    const wild = "\\\u0001€".repeat(100);
    const all = [
      questionMessage({ ...facts, name: wild, tool: wild, input: wild.slice(0, 30) }, true),
      endMessage(
        { ...facts, name: wild.slice(0, 64), tool: wild.slice(0, 100), decision: "deny" },
        { ...HOW, how: wild.slice(0, 230) },
      ),
      testMessage(),
    ];
    for (const message of all) expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(3_993);
  });

  test("an end says what was decided, and where", () => {
    const titles = (["allow", "deny", null] as const).map(
      (decision) => endMessage({ ...facts, decision }, { ...HOW, decision }).title,
    );
    expect(titles).toEqual([
      "builder: Bash was allowed",
      "builder: Bash was denied",
      "builder no longer asks for Bash",
    ]);
    expect(endMessage({ ...facts, decision: "allow" }, HOW)).toMatchObject({ tag: "p1", body: HOW.how, actions: [] });
  });
});

describe("subscriptions", () => {
  const one: Subscription = { id: "s1", device: "d1", endpoint: "https://a/1", p256dh: "", auth: "", madeAt: "" };

  test("SB1 a browser has one, which ends with its access", () => {
    const two = subscribed([one], { ...one, id: "s2", device: "d2", endpoint: "https://a/2" });
    expect(two.map(({ id }) => id)).toEqual(["s1", "s2"]);
    expect(subscribed(two, { ...one, id: "s3", endpoint: "https://a/3" }).map(({ id }) => id)).toEqual(["s2", "s3"]);
    expect(ofDevices(two, new Set(["d2"])).map(({ id }) => id)).toEqual(["s2"]);
    expect(ofDevices(two, new Set(["d1", "d2"]))).toBe(two);
    const many = Array.from({ length: 70 }, (_, at) => ({
      ...one,
      id: `s${at}`,
      device: `d${at}`,
      endpoint: `https://a/${at}`,
    }));
    expect(many.reduce<readonly Subscription[]>(subscribed, [])).toHaveLength(64);
  });

  test("SB2 an endpoint is an https address", () => {
    expect(wrongEndpoint("https://push.example.net:8443/p/1?x=y")).toBeUndefined();
    const wrong = [
      "",
      "http://a/1",
      "file:///etc",
      "https://u:p@a/1",
      "https://a/#x",
      `https://a/${"x".repeat(2_000)}`,
    ];
    for (const endpoint of wrong) expect(wrongEndpoint(endpoint)?.code).toBe("bad-endpoint");
  });
});
