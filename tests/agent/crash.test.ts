// What happens to agents whose processes crash, hang, or are ended (SP-1 … SP-3), in a real daemon.
import { expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { processes } from "../daemon/home.ts";
import { until } from "../until.ts";
import { ACTOR, agentHomes, freshId } from "./agent-home.ts";

const home = agentHomes();

test("SP-1(b) SP-2(a) a process that crashes in a turn is restarted, resumed, and asked to continue", async () => {
  const place = home();
  await place.live();
  const settings = { recovery_prompt: ">> say back" };
  const id = await place.agent("alpha", { settings, env: { ACTOR_OPENED: place.file("opened") } });
  await place.say(id, ">> say so far\n>> crash");
  await place.rests(id, 1);
  expect(await place.shown(id)).toMatchObject({ lastText: "back", turns: 1 });
  expect(place.text("opened")).toBe("false\ntrue\n");
  expect(await place.lastOf(id, "process.ended")).toMatchObject({ outcome: "crashed", code: 9, generation: 1 });
});

test("a process that died before any output may not have read its prompt: the next one gets it too", async () => {
  const place = home();
  await place.live();
  const id = await place.agent("alpha", { settings: { recovery_prompt: "Be careful." } });
  await place.say(id, `>> once ${place.file("once")}\n>> crash\n>> say there`);
  await place.rests(id, 1);
  expect((await place.shown(id)).lastText).toBe("there");
  await place.logged(id, "process.starting", 2);
  const { prompt } = await place.lastOf(id, "process.starting");
  expect(prompt).toMatchObject({ text: expect.stringMatching(/^Be careful\.\n\n>> once /) });
});

test("SP-2(b) SP-3(a,b) five crashes within a minute are final: clients and parent are notified, and a person can retry", async () => {
  const place = home();
  await place.live();
  const told: unknown[] = [];
  const client = await place.client();
  if (client !== undefined) client.onNotice = ({ data }) => void told.push(data);
  await client?.call("subscribe", { topics: ["agent.status"] });
  const id = await place.agent("alpha", { settings: { recovery_prompt: ">> crash" } });
  await place.say(id, ">> say so far\n>> crash");
  const { note } = await place.becomes(id, "crashed");
  expect(note).toContain("5 times within a minute");
  await until(
    "the subscriber is notified",
    () => told.length > 0,
    () => told.length,
  );
  expect(told).toEqual([{ id, status: "CRASHED", reason: String(note) }]);
  await place.must("agent.set", { id, settings: { recovery_prompt: ">> say well" } });
  await place.must("agent.retry", { id });
  await place.rests(id, 1);
  expect((await place.shown(id)).lastText).toBe("well");
});

test("SP-1(c) a process that is silent for too long is hung: it is killed, and the next one continues", async () => {
  const place = home();
  await place.live();
  const id = await place.agent("alpha", { settings: { recovery_prompt: ">> say awake" } });
  const hungAfter = (ms: number) => place.must("agent.set", { id, settings: { hung_after_ms: ms } });
  await place.say(id, ">> say so far\n>> hang");
  await place.lastOf(id, "agent.read");
  await hungAfter(1000);
  await place.lastOf(id, "process.stopping");
  await hungAfter(600_000); // On a busy machine the next one may take longer than that to say its first word.
  await place.rests(id, 1);
  expect(await place.lastOf(id, "process.stopping")).toMatchObject({ reason: "hung", signal: "SIGTERM" });
  expect(await place.lastOf(id, "process.ended")).toMatchObject({ outcome: "killed" });
});

test("terminating an agent ends its process and those below it", async () => {
  const place = home();
  await place.live();
  const parent = await place.agent("root");
  const child = await place.agent("child", { parent });
  await place.say(parent, ">> hang");
  await place.say(child, ">> hang");
  const pids = await until(
    "both run",
    async () => {
      const found = [(await place.shown(parent)).pid, (await place.shown(child)).pid];
      return found.every((pid) => pid !== null) ? found : undefined;
    },
    async () => [await place.shown(parent), await place.shown(child)],
  );
  await place.must("agent.terminate", { id: parent, reason: "enough" });
  await until(
    "no process is left",
    () => pids.every((pid) => processes.startTime(Number(pid)) === undefined),
    () => pids,
  );
  expect((await place.shown(child)).state).toBe("terminated");
  expect(await place.ask("agent.send", { id: child, message: freshId(), text: "hi", replyTo: null })).toMatchObject({
    error: { code: "terminated" },
  });
});

test("AG-5(a,b) with one slot, the resting agent makes room, and is resumed when it gets a message", async () => {
  const place = home();
  writeFileSync(place.file("config.toml"), "[agents]\nslots = 1\n");
  await place.live({ HOLDFAST_CONFIG: place.file("config.toml") });
  const opened = place.file("opened");
  const first = await place.agent("first", { env: { ACTOR_OPENED: opened } });
  const second = await place.agent("second");
  await place.say(first, ">> say one");
  await place.rests(first, 1);
  await place.say(second, ">> say two");
  await place.rests(second, 1);
  await place.becomes(first, "suspended");
  await place.logged(first, "suspend.result", 1);
  expect(await place.lastOf(first, "suspend.result")).toMatchObject({ reason: "evicted" });
  await place.say(first, ">> say three");
  await place.rests(first, 2);
  expect(place.text("opened")).toBe("false\ntrue\n");
  await place.logged(first, "session.restored", 1);
});

test("SP-2(b) a program is looked up on its creator's PATH, also by later processes; one that is missing is refused, and one that goes missing fails at once", async () => {
  const place = home();
  await place.live();
  mkdirSync(place.file("bin"));
  const program = place.file("bin/mine");
  writeFileSync(program, `#!/bin/sh\nexec ${ACTOR.join(" ")}\n`, { mode: 0o755 });
  const PATH = `${place.file("bin")}:/usr/bin:/bin`;
  const id = await place.agent("alpha", { command: ["mine"], env: { PATH } });
  await place.say(id, `>> once ${place.file("once")}\n>> crash\n>> say found`);
  await place.rests(id, 1);
  expect((await place.shown(id)).lastText).toBe("found");
  const refusal = async (command: string, env: Record<string, string>) => {
    const made = await place.ask("agent.new", place.wanted("other", { command: [command], env }));
    return made?.ok === false ? made.error.message : "";
  };
  expect(await refusal("theirs", { PATH })).toBe(`theirs is not on your PATH: ${PATH}`);
  expect(await refusal("mine", {})).toBe("mine is not on the PATH of Holdfast's daemon: /usr/local/bin:/usr/bin:/bin");
  expect(await refusal("/nowhere/at/all", { PATH })).toBe("/nowhere/at/all is not a program.");
  rmSync(program);
  await place.must("agent.suspend", { id });
  await place.becomes(id, "suspended");
  await place.say(id, "hello");
  expect((await place.becomes(id, "crashed")).note).toContain("mine cannot be started");
});
