// What one agent prints may be more than a transaction of the log takes, or more than a request may be.
import { expect, test } from "bun:test";
import { idOf } from "../../holdfast/script.ts";
import { Site } from "../../holdfast/site.ts";
import { HOME } from "../../machine.ts";
import { HOSTILE, HostileMachine } from "./hostile-machine.ts";

const AGENT = idOf(1);
const print = (message: object) => Buffer.from(`${JSON.stringify(message)}\n`);
const ask = (number: number) => ({
  type: "ask",
  request: `r${number}`,
  tool: "Write",
  input: { text: "x".repeat(100_000) },
});

test("E4 a line that is more than a transaction takes fails the turn, in this life and the next", async () => {
  const machine = new HostileMachine(1);
  machine.output.push(print({ type: "limit", until: "x".repeat(1_200_000) }));
  const site = new Site(machine);
  await site.live();
  await site.agent(AGENT, "scripted", [HOSTILE]);
  await site.machine.during(site.client.sleep(60_000)); // Many rounds.
  expect(await site.ask("agent.list", {})).toMatchObject([{ state: "idle", turns: 1 }]);
  await site.again();
  expect(await site.ask("agent.list", {})).toMatchObject([{ state: "idle", turns: 1 }]);
  const log = Buffer.from(machine.disk.peek(`${HOME}/agents/${AGENT}/events.jsonl`) ?? []).toString();
  expect(log).toMatch(/"event":"turn.failed".*"reason":"What it wrote cannot be recorded: a transaction of \d+ bytes/);
});

test("sixteen large questions at once can be shown: an answer of the daemon may be longer than a request", async () => {
  const machine = new HostileMachine(1);
  for (let number = 0; number < 16; number += 1) machine.output.push(print(ask(number)));
  const site = new Site(machine);
  await site.live();
  await site.agent(AGENT, "scripted", [HOSTILE]);
  const open = async () => {
    while ((await site.client.ask("prompt.list", {})).length < 16) await site.client.sleep(50);
  };
  await site.machine.during(open());
  expect(await site.ask("prompt.list", {})).toHaveLength(16);
});
