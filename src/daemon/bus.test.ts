import { expect, test } from "bun:test";
import { partialTopic } from "../wire/rpc/partial.ts";
import { Bus } from "./bus.ts";

type Heard = (readonly [string, unknown])[];

function listener(): { heard: Heard; ear: (topic: string, data: unknown) => void } {
  const heard: Heard = [];
  return { heard, ear: (topic, data) => void heard.push([topic, data]) };
}

test("BU1 what is kept reaches later subscribers too, each once, in order, and only until it is forgotten", () => {
  const bus = new Bus();
  const [early, late, other, tooLate] = [listener(), listener(), listener(), listener()];
  bus.subscribe(["recovery.*"], early.ear);
  const forgetCrash = bus.publishAndKeep("recovery.crash", 1);
  bus.publishAndKeep("recovery.safemode", 2);
  bus.publish("recovery.stage", 3);
  const all: Heard = [
    ["recovery.crash", 1],
    ["recovery.safemode", 2],
  ];
  expect(early.heard).toEqual([...all, ["recovery.stage", 3]]);

  const leave = bus.subscribe(["recovery.crash"], late.ear);
  expect(late.heard).toEqual(all.slice(0, 1));
  leave();
  bus.subscribe(["recovery.*"], late.ear); // The same subscriber, with more topics.
  expect(late.heard).toEqual(all);
  bus.subscribe(["terminal.*"], other.ear);
  expect(other.heard).toEqual([]);

  forgetCrash();
  bus.subscribe(["*"], tooLate.ear);
  expect(tooLate.heard).toEqual(all.slice(1));
  expect(early.heard).toHaveLength(3);
});

test("BU2 partial text goes only to those who name it", () => {
  const bus = new Bus();
  const heard: string[] = [];
  bus.subscribe(["*"], (topic) => heard.push(`all: ${topic}`));
  bus.subscribe([partialTopic("a1")], (topic) => heard.push(`one: ${topic}`));
  for (const topic of [partialTopic("a1"), partialTopic("a2"), "agent.read"]) bus.publish(topic, {});
  expect(heard).toEqual([`one: ${partialTopic("a1")}`, "all: agent.read"]);
});
