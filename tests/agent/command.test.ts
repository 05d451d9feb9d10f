// Agents that are any CLI with a prompt and a way to resume (kind `command`): each turn is one process.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tomlOf } from "../../src/wire/files/config-fields.ts";
import { killIfThere } from "../daemon/home.ts";
import { until } from "../until.ts";
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
  const blob = Buffer.from('{"session":"s-one"}').toString("base64");
  expect(JSON.parse(place.text(`agents/${id}/session.json`))).toEqual({
    ...{ v: 1, agent_uuid: id, provider_name: "command", model: null },
    ...{ state: expect.stringMatching(/^(ACTIVE|SUSPENDED)$/), provider_state_blob: blob, provider_state: blob },
    ...{ created_at: time, updated_at: time },
  });
});

test("a program that reads its input to the end gets that end", async () => {
  const place = home();
  const id = await begin(place);
  await place.say(id, "stdin");
  await place.rests(id, 1);
  expect(place.text("notes")).toBe("new stdin\n");
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

test("SP-2(a) a process that is killed is resumed in the same turn; what one wrote to standard error is in the log, also of a complete turn", async () => {
  const place = home();
  const id = await begin(place);
  await place.say(id, "hang, then warn");
  const pid = await until(
    "it hangs",
    async () => (existsSync(place.file("notes.hung")) ? ((await place.shown(id)).pid ?? undefined) : undefined),
    () => place.shown(id),
  );
  killIfThere(pid);
  await place.rests(id, 1);
  const [first, ...rest] = place.text("notes").split("\n");
  expect([first, rest.join("\n")]).toEqual([
    "new hang, then warn",
    expect.stringMatching(/^s-one You were interrupted/),
  ]);
  await place.logged(id, "turn.complete", 1);
  expect(await place.lastOf(id, "agent.read")).toMatchObject({ events: [{ kind: "stderr", text: "be careful" }, {}] });
  await place.logged(id, "turn.failed", 0);
});

test("a turn whose process fails has failed, with its output; its messages are neither lost nor duplicated", async () => {
  const place = home();
  const id = await begin(place);
  await place.say(id, "fail now");
  const { reason } = await place.lastOf(id, "turn.failed");
  expect(reason).toBe("It ended with exit code 3. it will not for a reason");
  await place.say(id, "three");
  await place.lastOf(id, "turn.complete");
  expect(
    place
      .text("notes")
      .split("\n")
      .filter((line) => line.includes("fail")),
  ).toHaveLength(1);
});

test("EL-4(c) a recovery checks the record: one that is damaged, or of another, is reported and written again", async () => {
  const place = home();
  const id = await begin(place);
  await place.say(id, "one");
  await place.rests(id, 1);
  await place.kill(place.daemon);
  let daemon = await place.live({ HOLDFAST_CONFIG: place.file("config.toml") });
  const path = `agents/${id}/session.json`;
  const whole = JSON.parse(place.text(path));
  for (const [text, why] of [
    ["{", "session.json was missing or could not be read"],
    [JSON.stringify({ ...whole, provider_name: "claude" }), "session.json had another provider_name"],
    [JSON.stringify({ ...whole, state: "BORED" }), "session.json had no state that there is"],
  ] as const) {
    await place.kill(daemon);
    writeFileSync(place.file(path), text);
    daemon = await place.live({ HOLDFAST_CONFIG: place.file("config.toml") });
    const item = (await place.report()).items.find((one) => one.id === id);
    expect(item?.reason).toContain(`${why}, and was written again`);
    await until(
      "it is written again",
      () => {
        const text = place.text(path);
        return text !== "{" && JSON.parse(text).provider_name === "command" && JSON.parse(text).state !== "BORED";
      },
      () => place.text(path),
    );
  }
});
