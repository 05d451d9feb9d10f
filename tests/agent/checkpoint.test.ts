// Agents are recovered from their checkpoints and the tails of their logs (EL-5); a damaged checkpoint only costs time.
import { expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { until } from "../until.ts";
import { type AgentHome, agentHomes } from "./agent-home.ts";

const home = agentHomes();

/** Overwrites the first event with garbage, so that reading it fails. */
function spoilHistory(place: AgentHome, id: string): void {
  const path = place.file(`agents/${id}/events.jsonl`);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace('"event":"agent.created"', '"event":"agent.cheated"'));
}

/** A life whose history is no longer in the write-ahead log, without a checkpoint. */
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

test("after a clean end an agent is restored from its checkpoint: its history is not read", async () => {
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

test("a checkpoint is written when the tail has outgrown it, and after a kill only later events are read", async () => {
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

test("a damaged checkpoint is skipped: the log alone has everything", async () => {
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

test("AG-2(b) an ended agent stays ended, without its history", async () => {
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
