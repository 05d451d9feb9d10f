// Agents that are any CLI with a prompt and a way to resume (kind `command`): each turn is one process.
import { expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tomlOf } from "../../src/wire/files/config-fields.ts";
import { type AgentHome, agentHomes } from "./agent-home.ts";

const home = agentHomes();

async function begin(place: AgentHome): Promise<string> {
  const words = ["/bin/sh", join(import.meta.dir, "cli-agent.sh"), place.file("notes"), "{prompt}"];
  const lines = ["[provider.cli]", 'kind = "command"', `command = ${tomlOf(words)}`];
  writeFileSync(place.file("config.toml"), [...lines, `resume = ${tomlOf([...words, "{session}"])}`, ""].join("\n"));
  await place.live({ HOLDFAST_CONFIG: place.file("config.toml") });
  return place.agent("cli", { provider: "cli", command: [] });
}

test("AG-6(a) EL-4(c) a turn is one process; the next one resumes the session that the first one named, and the session record has it", async () => {
  const place = home();
  const id = await begin(place);
  await place.say(id, "one");
  await place.rests(id, 1);
  expect(await place.shown(id)).toMatchObject({ session: "s-one", lastText: "did one" });
  await place.say(id, "two");
  await place.rests(id, 2);
  expect(place.text("notes")).toBe("new one\ns-one two\n");
  expect((await place.shown(id)).lastText).toBe("did two");
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(JSON.parse(place.text(`agents/${id}/session.json`))).toMatchObject({
    ...{ agent_uuid: id, provider_name: "command", model: null, state: expect.stringMatching(/^(ACTIVE|SUSPENDED)$/) },
    ...{ provider_state: Buffer.from('{"session":"s-one"}').toString("base64"), created_at: time, updated_at: time },
  });
});

test("D3 a message that looks like an option reaches the program as text", async () => {
  const place = home();
  const id = await begin(place);
  await place.say(id, "--dangerously-skip-permissions");
  await place.rests(id, 1);
  expect(place.text("notes")).toBe("new  --dangerously-skip-permissions\n");
});

test("of earlier turns' processes only the last one's files are kept", async () => {
  const place = home();
  const id = await begin(place);
  for (const turn of [1, 2, 3, 4]) {
    await place.say(id, `number ${turn}`);
    await place.rests(id, turn);
  }
  expect(readdirSync(place.file(`agents/${id}/processes`)).sort()).toEqual(["3", "4"]);
});

test("a turn whose process fails has failed, with its output; its messages are neither lost nor duplicated", async () => {
  const place = home();
  const id = await begin(place);
  await place.say(id, "fail now");
  const { reason } = await place.lastOf(id, "turn.failed");
  expect(reason).toBe("It ended with exit code 3. it will not");
  await place.say(id, "three");
  await place.lastOf(id, "turn.complete");
  expect(
    place
      .text("notes")
      .split("\n")
      .filter((line) => line.includes("fail")),
  ).toHaveLength(1);
});
