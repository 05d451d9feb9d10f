// Agents are recovered from their checkpoints and the tails of their logs (EL-5), and a damaged checkpoint costs time only.
import { expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { until } from "../until.ts";
import { type AgentHome, agentHomes } from "./agent-home.ts";

const home = agentHomes();

/** Puts nonsense where the first event stood: whoever reads it cannot fold it. */
function spoilHistory(place: AgentHome, id: string): void {
  const path = place.file(`agents/${id}/events.jsonl`);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace('"event":"agent.created"', '"event":"agent.cheated"'));
}

/** A life that left a history of which the write-ahead log has nothing more, and no checkpoint. */
async function earlierLife(place: AgentHome): Promise<string> {
  const daemon = await place.live();
  const id = await place.agent("alpha");
  await place.say(id, ">> say hello");
  await place.rests(id, 1);
  expect(await place.stop(daemon)).toBe(0);
  for (const name of ["checkpoint.json", "checkpoint.backup.json"])
    rmSync(place.file(`agents/${id}/${name}`), { force: true });
  return id;
}

test("after a clean end an agent comes from its checkpoint: its history is not read", async () => {
  const place = home();
  const first = await place.live();
  const id = await place.agent("alpha");
  await place.say(id, ">> say hello");
  await place.rests(id, 1);
  expect(await place.stop(first)).toBe(0);
  spoilHistory(place, id);
  await place.live();
  expect(await place.shown(id)).toMatchObject({ name: "alpha", lastText: "hello", turns: 1 });
  await place.say(id, ">> say again");
  await place.rests(id, 2);
});

test("a checkpoint is written when the tail has outgrown it, and a killed daemon reads only what came after it", async () => {
  const place = home();
  const id = await earlierLife(place);
  const second = await place.live();
  await place.say(id, `>> say ${"x".repeat(30_000)}`);
  await place.rests(id, 2);
  await until(
    "a checkpoint",
    () => existsSync(place.file(`agents/${id}/checkpoint.json`)),
    () =>
      `${place.file(`agents/${id}/checkpoint.json`)} exists: ${existsSync(place.file(`agents/${id}/checkpoint.json`))}`,
  );
  await place.say(id, ">> say short");
  await place.rests(id, 3);
  await place.logged(id, "turn.complete", 3);
  await place.kill(second);
  spoilHistory(place, id);
  await place.live();
  expect(await place.shown(id)).toMatchObject({ lastText: "short", turns: 3 });
  await place.say(id, ">> say fourth");
  await place.rests(id, 4);
});

test("a harmed checkpoint is passed over: the log alone has everything", async () => {
  const place = home();
  const first = await place.live();
  const id = await place.agent("alpha");
  await place.say(id, ">> say hello");
  await place.rests(id, 1);
  expect(await place.stop(first)).toBe(0);
  const path = place.file(`agents/${id}/checkpoint.json`);
  writeFileSync(path, readFileSync(path, "utf8").replace("hello", "cello"));
  const second = await place.live();
  expect((await place.shown(id)).lastText).toBe("hello");
  expect(second.said()).toContain("a checkpoint is passed over");
});

test("AG-2(b) an agent that has ended stays ended, without its history", async () => {
  const place = home();
  const id = await earlierLife(place);
  const first = await place.live();
  await place.must("agent.terminate", { id, reason: "enough" });
  await until(
    "a checkpoint",
    () => existsSync(place.file(`agents/${id}/checkpoint.json`)),
    () =>
      `${place.file(`agents/${id}/checkpoint.json`)} exists: ${existsSync(place.file(`agents/${id}/checkpoint.json`))}`,
  );
  await place.logged(id, "agent.terminated", 1);
  await place.kill(first);
  spoilHistory(place, id);
  await place.live();
  expect(await place.shown(id)).toMatchObject({ state: "terminated", note: "enough" });
});
