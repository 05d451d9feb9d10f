// What a program prints may be made to break its reader. It stays with that program's session: the daemon lives, the
// next one becomes LIVE, and everybody else goes on.
import { expect, test } from "bun:test";
import { Runs } from "../workflow/runs.ts";
import { type AgentHome, agentHomes } from "./agent-home.ts";

const newHome = agentHomes();
const DEEP = 100_000;

/** An agent that prints these lines after its first message. */
function printing(place: AgentHome, name: string, ...lines: readonly string[]): Promise<string> {
  return place.agent(name, { command: ["sh", "-c", `read open; read prompt; ${lines.map(echo).join("; ")}; cat`] });
}

/** Deep values would be too long for a command line. */
function echo(line: string): string {
  const [before = "", after] = line.split("DEEP");
  const words = `printf '%s' '${before}'`;
  if (after === undefined) return `${words}; echo`;
  const half = (bracket: string) => `head -c ${DEEP} /dev/zero | tr '\\0' '${bracket}'`;
  return `${words}; ${half("[")}; ${half("]")}; printf '%s\\n' '${after}'`;
}

test("a line that is nested a hundred thousand levels deep, a limit for ever, a step that prints brackets", async () => {
  const place = newHome();
  const first = await place.live();
  const deep = await printing(
    place,
    "deep",
    '{"type":"ask","request":"r","tool":"Bash","input":DEEP}',
    '{"type":"done"}',
  );
  const late = await printing(place, "late", '{"type":"limit","until":"9999-12-31T23:59:59.999Z"}');
  const other = await place.agent("other");
  for (const id of [deep, late]) await place.say(id, "go on");
  await place.rests(deep, 1);
  await place.becomes(late, "sleeping");
  const { until } = await place.lastOf(late, "agent.sleeping");
  expect(Date.parse(String(until))).toBeLessThan(Date.now() + 32 * 24 * 3_600_000);
  const runs = new Runs(place);
  const run = await runs.begin(
    `steps:\n  - shell: head -c ${DEEP} /dev/zero | tr '\\0' '['; head -c ${DEEP} /dev/zero | tr '\\0' ']'\n    capture: { x: json }\n`,
  );
  expect((await runs.is(run, "failed")).error?.message).toContain("not JSON");
  await place.kill(first);
  await place.live();
  expect((await place.must("status", {})).recovery.stage).toBe("LIVE");
  await place.say(other, ">> say hello");
  expect(await place.rests(other, 1)).toMatchObject({ name: "other" });
  await place.must("agent.terminate", { id: deep, reason: "" });
});

test("a provider that every object has by inheritance is not a provider", async () => {
  const place = newHome();
  const first = await place.live();
  const id = await place.agent("root");
  const names = ["constructor", "__proto__", "toString"];
  for (const [turn, provider] of names.entries()) {
    await place.say(id, `>> call spawn_agent {"name":"w","instructions":"x","provider":"${provider}"}`);
    await place.rests(id, turn + 1);
    expect(await place.ask("agent.new", place.wanted("w", { provider }))).toMatchObject({ ok: false });
  }
  await place.kill(first);
  await place.live();
  expect((await place.must("agent.list", {})).map(({ name }) => name)).toEqual(["root"]);
});
