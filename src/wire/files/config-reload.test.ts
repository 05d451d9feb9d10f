import { expect, test } from "bun:test";
import { loadConfig } from "./config.ts";
import { takenUp, whenTaken } from "./config-reload.ts";
import type { Config } from "./config-schema.ts";

function configOf(text: string): Config {
  const env = (name: string) => (name === "HOLDFAST_CONFIG" ? "/c" : undefined);
  const loaded = loadConfig({ env, absolute: (path) => path, read: () => Buffer.from(text) });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  return loaded.value.config;
}

const BEFORE = configOf(`
[agents]
slots = 2
[web]
port = 1
[provider.old]
kind = "acp"
[rule.first]
decision = "deny"
tool = "A"
`);

test("a reload takes up what may change while Holdfast runs, and names both what it took and what waits", () => {
  const read = configOf(`
[agents]
slots = 3
[web]
port = 2
[retention]
histories = 3
ended_days = 4
[terminal]
tape_bytes = 99999999
env_deny = ["X"]
[watch.mine]
command = ["x"]
[provider.new]
kind = "acp"
[rule.zero]
decision = "allow"
tool = "B"
[rule.first]
decision = "deny"
tool = "A"
`);
  const { config, applied, restart } = takenUp(BEFORE, read);
  expect(applied.toSorted()).toEqual([
    ...["agents.slots", "provider.new", "provider.old", "retention.ended_days", "rule.zero", "terminal.env_deny"],
  ]);
  expect(restart.toSorted()).toEqual(["retention.histories", "terminal.tape_bytes", "watch.mine", "web.port"]);
  expect(config).toMatchObject({ agents: { slots: 3 }, web: { port: 1 }, watch: {}, retention: { endedDays: 4 } });
  expect([config.retention.histories, config.terminal.tapeBytes]).toEqual([20, 64 << 20]); // CR1
  expect([Object.keys(config.provider), Object.keys(config.rule)]).toEqual([["new"], ["zero", "first"]]);
  expect(takenUp(config, BEFORE).restart).toEqual([]);
  expect(takenUp(BEFORE, BEFORE)).toEqual({ config: BEFORE, applied: [], restart: [] });
});

test("the reference says of each table when its changes count", () => {
  expect(whenTaken("agents", ["slots", "env"])).toBe("Changes count at `holdfast reload`.");
  expect(whenTaken("log", ["segment_bytes"])).toBe("Changes count when Holdfast starts.");
  expect(whenTaken("retention", ["histories", "run_days", "log_days"])).toBe(
    "Changes of `histories` count when Holdfast starts, all others at `holdfast reload`.",
  );
});
