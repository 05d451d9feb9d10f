// Calling people (src/daemon/notify/desk.ts), on a simulated disk that crashes and fails.
import { expect, test } from "bun:test";
import type { Message } from "../../src/core/notify/message.ts";
import type { Mute } from "../../src/core/notify/mutes.ts";
import { MAX_CALLS } from "../../src/core/notify/outbox.ts";
import type { Reply } from "../../src/daemon/notify/reply.ts";
import type { Target } from "../../src/daemon/notify/senders.ts";
import { SimDisk } from "../sim/disk.ts";
import { everyCrash } from "../sim/every-crash.ts";
import { COMMAND, DeskLife, type Facts, Phones } from "./phone.ts";

const URL_TARGET: Target = { kind: "url", id: "url", name: "example.com", url: "https://example.com" };

function facts(...pairs: readonly (readonly [string, "open" | "again" | "allow" | "deny" | "stale"])[]): Facts {
  return new Map(pairs);
}

function live(given: Partial<ConstructorParameters<typeof DeskLife>[0]> = {}): DeskLife {
  const life = new DeskLife({ disk: new SimDisk(), ...given });
  life.desk.goLive();
  return life;
}

/** An open prompt is shown; the end of another, if the prompt was. */
function expectShown(phones: Phones, memory: Memory, target: string): void {
  for (const [prompt, became] of memory.facts) {
    const wasSeen = memory.phones.at(prompt, target) !== undefined;
    const end = wasSeen ? "end" : undefined;
    expect(phones.at(prompt, target)).toBe(became === "open" ? "question" : end);
  }
}

type Memory = { readonly facts: Facts; readonly phones: Phones };

test("ND1 after a crash at any call every open prompt is shown once for each target, and every end replaces it", async () => {
  const survived = await everyCrash<Memory>({
    start: new SimDisk(),
    takesLong: true,
    nothingPromised: { facts: new Map(), phones: new Phones() },
    live: async (disk, promised) => {
      let now: Facts = new Map();
      const phones = new Phones();
      const tell = () => promised({ facts: now, phones: new Phones(phones) });
      const steps = [
        facts(["p1", "open"]),
        facts(["p1", "open"], ["p2", "open"]),
        facts(["p1", "allow"], ["p2", "open"]),
        facts(["p1", "allow"], ["p2", "stale"], ["p3", "open"]),
      ];
      const last = facts(["p1", "allow"], ["p2", "stale"], ["p3", "deny"]);
      const taken = () => {
        if (phones.at("p3", "url") === "question") now = last; // It is answered as soon as it is shown.
        tell();
      };
      const life = new DeskLife({ disk, phones, taken, own: [COMMAND, URL_TARGET] });
      life.desk.goLive();
      for (const step of steps) {
        now = step;
        tell(); // It is in the log of the agent.
        await life.hear(step);
        tell();
      }
      await life.hear(last);
      tell();
    },
    check: async (disk, memory) => {
      const life = new DeskLife({ disk, phones: new Phones(memory.phones), own: [COMMAND, URL_TARGET] });
      life.become(memory.facts);
      life.desk.goLive();
      await life.settled();
      expect(life.said).toEqual([]);
      for (const target of ["command", "url"]) expectShown(life.phones, memory, target);
      const later = new Map([...memory.facts].map(([prompt]) => [prompt, "allow"] as const)).set("p9", "allow");
      await life.hear(new Map([...memory.facts, ["p9", "open"]])); // A second life.
      expect(life.phones.at("p9")).toBe("question");
      await life.hear(later);
      expect(life.phones.at("p9")).toBe("end");
      for (const kind of life.phones.shown.values()) expect(kind).toBe("end");
      expect(life.states()).toEqual([]);
    },
  });
  expect(survived).toBeGreaterThan(100);
});

test("ND1 nothing leaves while the disk refuses, and everything once it does not", async () => {
  const disk = new SimDisk();
  const life = live({ disk });
  disk.fault = ({ operation }) => (operation === "write" ? { kind: "fail", code: "ENOSPC" } : undefined);
  await life.hear(facts(["p1", "open"], ["p2", "open"]));
  expect(life.phones.sent).toEqual([]);
  expect(life.said.join()).toContain("ENOSPC");
  await life.hear(facts(["p1", "open"], ["p2", "deny"]));
  disk.fault = undefined;
  await life.pass(10_000);
  expect(life.phones.sent).toEqual(["question p1 command"]);
});

test("BK2 a book that cannot be read when the daemon goes live is read later, and nothing is missed", async () => {
  const disk = new SimDisk();
  await live({ disk }).hear(facts(["p1", "open"]));
  const life = new DeskLife({ disk });
  life.become(facts(["p1", "allow"], ["p2", "open"]));
  disk.fault = ({ operation }) => (operation === "open" ? { kind: "fail", code: "EIO" } : undefined);
  life.desk.goLive();
  life.desk.tick();
  await life.settled();
  expect(life.phones.sent).toEqual([]);
  disk.fault = undefined;
  life.desk.tick();
  await life.settled();
  expect(life.phones.sent.toSorted()).toEqual(["end p1 command", "question p2 command"]);
});

test("ND3 a question that is under way when it is answered is given up, and its end is sent at once", async () => {
  const heard: Message["kind"][] = [];
  const reply = async (_: Target, { kind }: Message, stopped: Promise<void>): Promise<Reply> => {
    heard.push(kind);
    if (kind === "end") return { kind: "accepted" };
    await stopped;
    return { kind: "lost", why: "given up" };
  };
  const life = live({ reply });
  await life.hear(facts(["p1", "open"]));
  expect(life.states()).toEqual(["sent"]);
  await life.hear(facts(["p1", "allow"]));
  expect(heard).toEqual(["question", "end"]);
  expect(life.states()).toEqual([]);
  expect(life.book.now.records.get("command")).toMatchObject({ failures: 0 });
});

test("OB5 what may have arrived is withdrawn although a later attempt was refused, also in the next life", async () => {
  const disk = new SimDisk();
  const replies: Reply[] = [
    { kind: "lost", why: "no reply" },
    { kind: "refused", why: "not reached" },
  ];
  const life = live({ disk, reply: () => replies.shift() ?? { kind: "accepted" } });
  await life.hear(facts(["p1", "open"]));
  await life.pass(1_000);
  expect(replies).toEqual([]);
  const next = new DeskLife({ disk: disk.processKill(), phones: new Phones(life.phones) });
  for (const one of [life, next]) {
    one.become(facts(["p1", "allow"]));
    one.desk.goLive();
    await one.settled();
    expect(one.phones.at("p1")).toBe("end");
  }
});

test("ND8 a prompt that is asked again rings again, also if nobody has taken its end yet, and ends in its turn", async () => {
  let now: Reply = { kind: "accepted" };
  const life = live({ reply: () => now });
  await life.hear(facts(["p1", "open"]));
  now = { kind: "refused", why: "it is down" };
  await life.hear(facts(["p1", "stale"]));
  await life.hear(facts(["p1", "again"]));
  now = { kind: "accepted" };
  await life.pass(10_000);
  expect([life.phones.at("p1"), life.phones.at("p1-1")]).toEqual(["end", undefined]);
  life.desk.tick();
  await life.settled();
  expect([life.phones.at("p1"), life.phones.at("p1-1")]).toEqual(["end", "question"]);
  await life.hear(facts(["p1", "allow"]));
  expect([life.phones.at("p1-1"), life.states()]).toEqual(["end", []]);
});

test("a prompt that is answered before anything has left shows nothing", async () => {
  const life = live();
  life.become(facts(["p1", "open"]));
  life.desk.lookAtAll();
  await life.hear(facts(["p1", "allow"])); // The call is being written to disk.
  expect(life.phones.sent).toEqual([]);
  expect(life.states()).toEqual([]);
});

test("ND4 failures are repeated with growing waits, or as long as the target wants, and are on record", async () => {
  const replies: Reply[] = [
    { kind: "refused", why: "it answered 429", retryAfterMs: 60_000 },
    { kind: "refused", why: "it answered 503" },
    { kind: "accepted" },
  ];
  const life = live({ reply: () => replies.shift() ?? { kind: "accepted" } });
  await life.hear(facts(["p1", "open"]));
  await life.pass(59_000);
  expect(replies).toHaveLength(2);
  await life.pass(1_000);
  expect(replies).toHaveLength(1);
  expect(life.book.now.records.get("command")).toMatchObject({ failures: 2, why: "it answered 503", okAt: null });
  await life.pass(2_000);
  expect(life.phones.at("p1")).toBe("question");
  expect(life.book.now.records.get("command")).toMatchObject({ failures: 0, why: "" });
});

test("an end that cannot be delivered is given up after a day", async () => {
  const life = live({ reply: (_, { kind }) => ({ kind: kind === "end" ? "lost" : "accepted", why: "no reply" }) });
  await life.hear(facts(["p1", "open"]));
  await life.hear(facts(["p1", "allow"]));
  expect(life.states()).toEqual(["withdrawing"]);
  for (let hours = 0; hours < 25; hours += 1) await life.pass(3_600_000);
  expect(life.states()).toEqual([]);
});

test("ND2 a target that never answers takes no more than its share, and delays no other", async () => {
  let most = 0;
  let flying = 0;
  const reply = ({ id }: Target): Reply | Promise<Reply> => {
    if (id === "url") return { kind: "accepted" };
    flying += 1;
    most = Math.max(most, flying);
    return new Promise(() => undefined);
  };
  const life = live({ reply, own: [COMMAND, URL_TARGET] });
  const prompts = Array.from({ length: 50 }, (_, at) => [`p${at}`, "open"] as const);
  await life.hear(new Map(prompts));
  expect(most).toBe(4);
  expect(life.phones.sent.filter((one) => one.endsWith("url"))).toHaveLength(50);
});

test("OB4 prompts that find no room are called about as soon as there is some", async () => {
  const life = live({ reply: () => new Promise(() => undefined) });
  const prompts = Array.from({ length: MAX_CALLS + 10 }, (_, at) => [`p${at}`, "open"] as const);
  await life.hear(new Map(prompts));
  expect(life.states()).toHaveLength(MAX_CALLS);
  await life.hear(new Map(prompts.map(([id], at) => [id, at >= 10 && at < 30 ? "allow" : "open"] as const)));
  life.desk.tick();
  await life.settled();
  expect(life.book.now.outbox.has(`p${MAX_CALLS + 9} command`)).toBe(true);
});

test("ND5 nobody is called in quiet hours; what is still open is sent when they end", async () => {
  const life = live({ quiet: "00:00-07:00" }); // The clock begins at midnight.
  await life.hear(facts(["p1", "open"], ["p2", "open"]));
  expect(life.states()).toEqual(["held", "held"]);
  expect(life.desk.isQuiet()).toBe(true);
  await life.hear(facts(["p1", "open"], ["p2", "allow"]));
  await life.pass(7 * 3_600_000);
  life.desk.tick();
  await life.settled();
  expect(life.phones.sent).toEqual(["question p1 command"]);
});

test("an agent that is muted calls nobody; one that is gone is withdrawn", async () => {
  const life = live({ muted: "noise" });
  await life.hear(facts(["p1", "open"]), "noise");
  await life.hear(facts(["p2", "open"]), "builder");
  expect(life.phones.sent).toEqual(["question p2 command"]);
  life.forget();
  life.desk.lookAtAll();
  await life.settled();
  expect(life.phones.at("p2")).toBe("end");
});

const EVERYTHING: Mute = { of: "all", key: "", until: null };

test("ND7 a muted lane calls nobody, nor does anyone while everything is muted; what is open afterwards is sent", async () => {
  const disk = new SimDisk();
  const life = live({ disk });
  life.desk.mute({ of: "lane", key: "night", until: null }, true);
  await life.hear(facts(["p1", "open"]), "owl", "night");
  await life.hear(facts(["p2", "open"]), "lark", "day");
  expect(life.phones.sent).toEqual(["question p2 command"]);
  life.desk.mute({ ...EVERYTHING, until: new Date(life.clock.now() + 60_000).toISOString() }, true);
  await life.hear(facts(["p2", "allow"], ["p3", "open"]), "lark", "day");
  expect(life.phones.sent).toEqual(["question p2 command", "end p2 command"]);
  await life.book.saved();
  const next = new DeskLife({ disk, phones: life.phones }); // The daemon dies: both choices are on disk.
  next.become(facts(["p1", "open"]), "owl", "night");
  next.become(facts(["p3", "open"]), "lark", "day");
  next.desk.goLive();
  await next.pass(59_000);
  next.desk.tick();
  await next.settled();
  expect(next.phones.sent).toHaveLength(2);
  await next.pass(2_000);
  next.desk.tick();
  await next.settled();
  expect(next.phones.sent.slice(2)).toEqual(["question p3 command"]);
  expect(next.desk.mutes()).toEqual([{ of: "lane", key: "night", until: null }]);
  next.desk.mute({ of: "lane", key: "night", until: null }, false);
  await next.settled();
  expect(next.phones.sent.slice(3)).toEqual(["question p1 command"]);
});

test("ND7 a call that failed is not repeated while its agent is muted", async () => {
  const replies: Reply[] = [{ kind: "refused", why: "busy" }];
  const life = live({ reply: () => replies.shift() ?? { kind: "accepted" } });
  await life.hear(facts(["p1", "open"]));
  life.desk.mute(EVERYTHING, true);
  await life.pass(60_000);
  expect(life.phones.sent).toEqual([]);
  life.desk.mute(EVERYTHING, false);
  await life.settled();
  expect(life.phones.sent).toEqual(["question p1 command"]);
});

const subscription = { id: "s1", device: "d1", endpoint: "https://push/1", p256dh: "", auth: "", madeAt: "" };

test("ND6 SB1 a browser is called while it may use the page, and until its push service says it is gone", async () => {
  const replies: Reply[] = [{ kind: "accepted" }, { kind: "gone", why: "the browser has unsubscribed" }];
  const life = live({ own: [], devices: ["d1", "d2"], reply: () => replies.shift() ?? { kind: "accepted" } });
  life.desk.replace([subscription, { ...subscription, id: "s2", device: "d2", endpoint: "https://push/2" }]);
  await life.hear(facts(["p1", "open"]));
  expect(life.phones.at("p1", "s1")).toBe("question");
  expect(life.book.now.subscriptions.map(({ id }) => id)).toEqual(["s1"]);
  life.devices = ["d2"];
  await life.hear(facts(["p1", "open"], ["p2", "open"]));
  life.desk.tick();
  await life.settled();
  expect(life.phones.at("p2", "s1")).toBeUndefined();
  expect(life.book.now).toMatchObject({ subscriptions: [] });
  expect(life.states()).toEqual([]);
});

test("ND2 what it throws is logged, and it goes on; a stopped desk sends nothing more", async () => {
  let thrown = 0;
  const reply = (): Reply => {
    thrown += 1;
    if (thrown === 1) throw new Error("a bug");
    return { kind: "accepted" };
  };
  const life = live({ reply });
  await life.hear(facts(["p1", "open"]));
  expect(life.said.join()).toContain("a bug");
  await life.pass(1_000);
  expect(life.phones.at("p1")).toBe("question");
  await life.desk.stop();
  await life.hear(facts(["p1", "allow"]));
  expect(life.phones.at("p1")).toBe("question");
});
