// What a program prints may be made to break its reader. It stays with that program's session: the daemon lives, the
// next one becomes LIVE, and everybody else goes on.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { processes } from "../daemon/home.ts";
import { rewriteLast } from "../poison.ts";
import { until } from "../until.ts";
import { Runs } from "../workflow/runs.ts";
import { AGENT_PATIENCE_MS, type AgentHome, agentHomes, freshId } from "./agent-home.ts";

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

/** An older version wrote this line, and no checkpoint behind it. */
function poison(place: AgentHome, session: string, event: string, data: string): void {
  rewriteLast(place.file(`${session}/events.jsonl`), event, data);
  for (const name of readdirSync(place.file(session)))
    if (name.startsWith("checkpoint")) rmSync(place.file(`${session}/${name}`), { recursive: true });
}

/** What an older version accepted. */
const ASKED = JSON.stringify({
  ...{ prompt_id: "p", generation: 1, request: "r", tool: "Bash", input: "DEEP", options: null },
  ...{ since: "2026-01-01T00:00:00.000Z", deadline: "2099-01-01T00:00:00.000Z" },
  expires: { decision: "deny", refreshable: false },
}).replace('"DEEP"', "[".repeat(DEEP) + "]".repeat(DEEP));

test("PB2 FO5 poisoned lines in the logs of two agents: the home is LIVE, they can be terminated, the others go on", async () => {
  const place = newHome();
  const first = await place.live();
  const [deep, torn, other] = [await place.agent("deep"), await place.agent("torn"), await place.agent("other")];
  for (const id of [deep, torn, other]) await place.say(id, ">> say hello");
  for (const id of [deep, torn, other]) await place.rests(id, 1);
  const running = await place.shown(torn);
  expect(await place.stop(first)).toBe(0);
  poison(place, `agents/${deep}`, "prompt.opened", ASKED);
  poison(place, `agents/${torn}`, "agent.held", "{}");
  const second = await place.live();
  expect((await place.must("status", {})).recovery.stage).toBe("LIVE");
  const { items } = await place.report();
  expect(items.find(({ id }) => id === torn)).toMatchObject({ name: "torn", fate: "needs you" });
  expect(await place.must("agent.show", { id: torn })).toMatchObject({ state: "crashed", turns: 1 });
  expect(await place.ask("agent.send", { id: torn, message: freshId(), text: "x", replyTo: null })).toMatchObject({
    ok: false,
    error: { code: "set-aside" },
  });
  const tree = await place.must("agent.list", {});
  expect(tree.find(({ id }) => id === torn)?.note).toContain("It is set aside: its events do not fold: agent.held");
  await place.say(other, ">> say hello");
  await place.rests(other, 2);
  for (const id of [deep, torn])
    expect(await place.must("agent.terminate", { id, reason: "" })).toMatchObject({ state: "terminated" });
  const gone = () => running.pid === null || processes.startTime(running.pid) === undefined;
  await until("the process of torn is gone", gone, () => place.shown(torn), AGENT_PATIENCE_MS);
  await place.kill(second);
  await place.live();
  expect((await place.report()).items.map(({ id, fate }) => [id, fate])).toEqual([[other, "back as it was"]]);
  expect((await place.must("agent.list", {})).map(({ name }) => name)).toEqual(["other"]);
  for (const id of [deep, torn]) expect((await place.shown(id)).state).toBe("terminated");
  expect(place.text(`agents/${torn}/events.jsonl`)).toContain('"event":"agent.held"'); // Nothing was deleted.
  await place.say(other, ">> say hello");
  await place.rests(other, 3);
});

test("PB2 FO5 a run whose log does not fold can be cancelled: its step ends, and it stays cancelled", async () => {
  const place = newHome();
  const first = await place.live();
  const runs = new Runs(place);
  const run = await runs.begin("steps:\n  - shell: echo $$ > pid; exec sleep 1000\n");
  await until(
    "its step runs",
    () => existsSync(place.file("pid")) && place.text("pid").endsWith("\n"),
    () => runs.show(run),
  );
  const pid = Number(place.text("pid"));
  const begun = processes.startTime(pid);
  expect(begun).toBeDefined();
  const { repo } = await runs.show(run);
  const log = `state/${repo}/sessions/${run}/events.jsonl`;
  await until(
    "its log knows that, so that its last line can be spared",
    () => place.text(log).includes('"workflow.attempt.running"'),
    () => place.text(log),
  );
  expect(await place.stop(first)).toBe(0);
  poison(place, `state/${repo}/sessions/${run}`, "workflow.resumed", "{}");
  const second = await place.live();
  expect((await runs.show(run)).error?.message).toContain("its events do not fold");
  // Settled: nothing ends the step of a run that was set aside.
  expect(processes.startTime(pid)).toBe(begun);
  await place.must("workflow.cancel", { id: run });
  await until(
    "its step is gone",
    () => processes.startTime(pid) !== begun,
    () => runs.show(run),
  );
  expect(await place.ask("workflow.resume", { id: run, force: true })).toMatchObject({
    error: { code: "log.frozen" },
  });
  await place.kill(second);
  await place.live();
  expect((await runs.show(run)).state).toBe("cancelled");
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
