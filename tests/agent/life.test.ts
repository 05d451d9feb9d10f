// Agents in a real daemon, with real processes in holders: turns, tools, prompts, and how they survive a killed daemon.
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { until } from "../until.ts";
import { agentHomes, freshId } from "./agent-home.ts";

const home = agentHomes();

test("a message to an idle agent wakes it, and its turn has an answer", async () => {
  const place = home();
  await place.live();
  const id = await place.agent("alpha");
  await place.say(id, ">> say hello");
  await place.rests(id, 1);
  expect(await place.shown(id)).toMatchObject({ name: "alpha", lastText: "hello", state: "idle", turns: 1 });
});

test("PR-3(a,c,d) the daemon is killed at the moment of a prompt: same id afterwards, answered once, and the turn continues", async () => {
  const place = home();
  const first = await place.live();
  const id = await place.agent("alpha");
  await place.say(
    id,
    `>> append ${place.file("done")} before\n>> ask Bash rm -rf /\n>> append ${place.file("done")} after`,
  );
  const before = await place.prompt();
  const { pid } = await place.shown(id);
  first.process.kill("SIGKILL");
  await first.process.exited;
  await place.live();
  const after = await place.prompt();
  expect(after).toEqual(before);
  expect((await place.shown(id)).pid).toBe(pid);
  const answer = { answer: freshId(), prompt: after.id, decision: "allow", message: "", always: false } as const;
  expect(await place.ask("prompt.answer", answer)).toMatchObject({ ok: true });
  expect(await place.ask("prompt.answer", { ...answer, answer: freshId(), decision: "deny" })).toMatchObject({
    ok: false,
  });
  await place.rests(id, 1);
  expect(readFileSync(place.file("done"), "utf8")).toBe("before\nafter\n");
});

test("AG-1(a) a child is spawned by a tool, and its result reaches its parent", async () => {
  const place = home();
  await place.live();
  const id = await place.agent("root");
  const task = `>> append ${place.file("child")} ran\\n>> call complete {\\"result\\":\\"42\\"}`;
  await place.say(id, `>> call spawn_agent {"name":"worker","instructions":"${task}"}`);
  await until(
    "the child has run",
    () => existsSync(place.file("child")),
    () => `${place.file("child")} exists: ${existsSync(place.file("child"))}`,
  );
  await place.rests(id, 2); // Its own, and the one that the child's result began.
  await until(
    "the child has left",
    async () => (await place.must("agent.list", {})).length === 1,
    async () => (await place.must("agent.list", {})).length,
  );
  expect(readFileSync(place.file("child"), "utf8")).toBe("ran\n");
});
