// What happens to agents whose daemon, holder or machine dies, at the moments that matter (AG-4, AG-7, PR-3).
import { expect, test } from "bun:test";
import { killIfThere } from "../daemon/home.ts";
import { boot, powerCut } from "../daemon/power-cut.ts";
import { until } from "../until.ts";
import { type AgentHome, agentHomes } from "./agent-home.ts";

const home = agentHomes();
const ALLOW = { rule_id: "all", decision: "allow", tool: "*", args: {}, message: "" } as const;

async function holderOf(place: AgentHome, id: string): Promise<number> {
  return Number((await place.lastOf(id, "process.running"))["holder"]);
}

test("PR-3(d) the daemon dies between an answer and its delivery: it is delivered once, and the turn continues", async () => {
  const place = home();
  const first = await place.live();
  const id = await place.agent("alpha");
  await place.say(id, `>> ask Bash ls\n>> append ${place.file("done")} after`);
  const { id: prompt } = await place.prompt();
  const holder = await holderOf(place, id);
  killIfThere(holder, "SIGSTOP"); // It accepts nothing now.
  expect(await place.answer(prompt)).toMatchObject({ ok: true });
  await place.kill(first);
  killIfThere(holder, "SIGCONT");
  await place.live();
  await place.rests(id, 1);
  expect(place.text("done")).toBe("after\n");
  await place.logged(id, "prompt.delivered", 1);
});

test("AG-3(c) the daemon dies before a process has its prompt: it gets it once", async () => {
  const place = home();
  const first = await place.live();
  const id = await place.agent("alpha");
  await place.say(id, ">> say ready");
  await place.rests(id, 1);
  const holder = await holderOf(place, id);
  killIfThere(holder, "SIGSTOP");
  await place.say(id, `>> append ${place.file("done")} once`);
  await place.kill(first);
  killIfThere(holder, "SIGCONT");
  await place.live();
  await place.rests(id, 2);
  expect(place.text("done")).toBe("once\n");
  await place.logged(id, "message.delivered", 2);
});

test("a daemon killed right after accepting a message starts the process in its next life, once", async () => {
  const place = home();
  let daemon = await place.live();
  const ids: string[] = [];
  for (const name of ["one", "two", "three", "four"]) {
    const id = await place.agent(name);
    ids.push(id);
    await place.say(id, `>> append ${place.file(name)} once`); // The start of its process is decided with it.
    await place.kill(daemon);
    daemon = await place.live();
  }
  for (const id of ids) await place.rests(id, 1);
  for (const name of ["one", "two", "three", "four"]) expect(place.text(name)).toBe("once\n");
});

test("AG-4(b) a holder that does not answer during a recovery is adopted when it does", async () => {
  const place = home();
  const first = await place.live();
  const id = await place.agent("alpha");
  await place.say(id, ">> ask Bash ls\n>> say well");
  const { id: prompt } = await place.prompt();
  const holder = await holderOf(place, id);
  killIfThere(holder, "SIGSTOP");
  await place.kill(first);
  await place.live();
  const { items } = await place.report();
  expect(items.find((item) => item.id === id)).toMatchObject({ fate: "needs you" });
  killIfThere(holder, "SIGCONT");
  await until(
    "it has a process",
    async () => (await place.shown(id)).pid !== null,
    async () => (await place.shown(id)).pid,
  );
  expect(await place.answer(prompt)).toMatchObject({ ok: true });
  await place.rests(id, 1);
});

test("AG-4(b) an agent at rest is left alone by the next daemon, and its next message reaches the same process", async () => {
  const place = home();
  const first = await place.live();
  const id = await place.agent("alpha");
  await place.say(id, ">> say ready");
  await place.rests(id, 1);
  const { pid } = await place.shown(id);
  const record = place.text(`agents/${id}/session.json`);
  await place.kill(first);
  const second = await place.live();
  expect(await place.shown(id)).toMatchObject({ pid });
  await place.say(id, `>> append ${place.file("done")} once`);
  await place.rests(id, 2);
  expect([place.text("done"), (await place.shown(id)).pid]).toEqual(["once\n", pid]);
  await place.kill(second);
  expect(place.text(`agents/${id}/session.json`)).toBe(record); // R4 of daemon/agent/records.ts
});

test("AG-4(b) an agent at rest whose process ends after the restart, unasked, has another for its next message", async () => {
  const place = home();
  const first = await place.live();
  const id = await place.agent("alpha");
  await place.say(id, ">> say ready");
  await place.rests(id, 1);
  const { pid } = await place.shown(id);
  await place.kill(first);
  await place.live();
  killIfThere(pid ?? 0, "SIGKILL");
  await place.logged(id, "process.ended", 1);
  await place.say(id, `>> append ${place.file("done")} once`);
  await place.rests(id, 2);
  expect(place.text("done")).toBe("once\n");
});

test("PR-3(b) a daemon killed again and again in the middle of turns loses nothing and duplicates nothing", async () => {
  const place = home();
  let daemon = await place.live();
  await place.must("rule.add", { agent: null, rule: ALLOW });
  const id = await place.agent("alpha");
  const work = (number: number) =>
    `>> say begin ${number}\n>> ask Bash ls\n>> append ${place.file("done")} ${number}\n>> call list_children {}\n>> say end`;
  const rounds = 8;
  for (let round = 0; round < rounds; round += 1) {
    await place.say(id, work(round));
    await until(
      "it has begun",
      () => place.events(id).length > 4 + round * 9 + round,
      () => place.events(id).length,
    ); // A little later in the turn each time.
    await place.kill(daemon);
    daemon = await place.live();
  }
  await until(
    "everything is read",
    async () => (await place.shown(id)).inbox === 0,
    async () => (await place.shown(id)).inbox,
  );
  await until(
    "everything is done",
    () => place.text("done").split("\n").length > rounds,
    () => place.text("done").split("\n").length,
  );
  await until(
    "it rests",
    async () => (await place.shown(id)).state === "idle",
    async () => (await place.shown(id)).state,
  );
  const numbers = Array.from({ length: rounds }, (_, number) => `${number}`);
  expect(place.text("done").trim().split("\n")).toEqual(numbers);
});

test("AG-7(a,b) after a power cut a root continues by itself, one with policy ask waits, and open prompts must be asked again", async () => {
  const place = home();
  await place.live(boot(1));
  const auto = await place.agent("auto", { settings: { recovery_prompt: ">> say on again" } });
  const asks = await place.agent("asks", { settings: { recovery: "ask", recovery_prompt: ">> say on again" } });
  await place.say(auto, ">> ask Bash ls");
  await place.say(asks, ">> say so far\n>> hang");
  const { id: prompt } = await place.prompt();
  await until(
    "both work",
    async () => (await place.shown(asks)).pid !== null,
    async () => (await place.shown(asks)).pid,
  );
  await until(
    "the other has begun",
    () => place.events(asks).includes("agent.read"),
    () => place.events(asks),
  );
  await powerCut(place);
  await place.live(boot(2));
  await place.rests(auto, 1);
  expect(await place.answer(prompt)).toMatchObject({ error: { code: "stale" } });
  expect(await place.shown(asks)).toMatchObject({ state: "suspended", turns: 1, pid: null });
  const { items } = await place.report();
  expect(items.find((item) => item.id === asks)).toMatchObject({ fate: "needs you" });
  await place.must("agent.retry", { id: asks });
  await place.rests(asks, 1);
  expect((await place.shown(asks)).lastText).toBe("on again");
});

/** Does what the report says is next for an agent; returns the command. */
async function doNext(place: AgentHome, id: string): Promise<string | undefined> {
  const { items } = await place.report();
  const next = items.find((item) => item.id === id)?.next;
  const [, prompt] = /^holdfast answer (\S+) allow$/.exec(next ?? "") ?? [];
  const [, retried] = /^holdfast agent retry (\S+)$/.exec(next ?? "") ?? [];
  if (prompt !== undefined) expect(await place.answer(prompt)).toMatchObject({ ok: true });
  if (retried !== undefined) await place.must("agent.retry", { id });
  return next?.replace(/[0-9a-f]{8,}/, "ID");
}

test("a report offers to answer only those prompts that can be answered: after a kill of processes, of holders, and a power cut", async () => {
  const place = home();
  const first = await place.live(boot(1));
  const ids = new Map<string, string>();
  const policy = { recovery_prompt: ">> ask Bash again" };
  for (const name of ["lives", "killed", "unheld", "asks"]) {
    const settings = name === "asks" ? { ...policy, recovery: "ask" as const } : policy;
    const id = await place.agent(name, { settings });
    ids.set(name, id);
    await place.say(id, ">> ask Bash ls");
    await place.becomes(id, "waiting");
  }
  const of = (name: string) => ids.get(name) ?? "";
  const pids = await Promise.all(["killed", "asks"].map(async (name) => Number((await place.shown(of(name))).pid)));
  const holder = await holderOf(place, of("unheld"));
  await place.kill(first);
  for (const pid of [...pids, holder]) killIfThere(pid);
  const second = await place.live(boot(1));
  expect(await doNext(place, of("lives"))).toBe("holdfast answer ID allow");
  expect(await doNext(place, of("killed"))).toBe("holdfast agent tree");
  expect(await doNext(place, of("unheld"))).toBe("holdfast agent tree");
  expect(await doNext(place, of("asks"))).toBe("holdfast agent retry ID");
  await place.rests(of("lives"), 1);
  for (const name of ["killed", "unheld", "asks"]) await place.becomes(of(name), "waiting"); // They ask again.
  expect(second.process.exitCode).toBe(null);
  await powerCut(place);
  await place.live(boot(2));
  expect(await doNext(place, of("killed"))).toBe("holdfast agent tree");
  expect(await doNext(place, of("asks"))).toBe("holdfast agent retry ID");
  for (const name of ["killed", "unheld", "asks"]) await place.becomes(of(name), "waiting");
  for (const { id } of await place.must("prompt.list", {})) expect(await place.answer(id)).toMatchObject({ ok: true });
  for (const name of ["killed", "unheld", "asks"]) await place.rests(of(name), 1);
});

test("SP-2(a) a killed holder takes its process down, and a new one continues", async () => {
  const place = home();
  await place.live();
  const id = await place.agent("alpha", { settings: { recovery_prompt: ">> say on again" } });
  await place.say(id, ">> say so far\n>> hang");
  await until(
    "it has begun",
    () => place.events(id).includes("agent.read"),
    () => place.events(id),
  );
  killIfThere(await holderOf(place, id));
  await place.rests(id, 1);
  expect((await place.shown(id)).lastText).toBe("on again");
});

test("AG-3(c) a prompt of many pieces arrives complete, even if the daemon dies on the way", async () => {
  const place = home();
  const first = await place.live();
  const id = await place.agent("alpha");
  await place.say(id, ">> say ready");
  await place.rests(id, 1);
  const holder = await holderOf(place, id);
  killIfThere(holder, "SIGSTOP");
  const text = `>> long ${place.file("long")}\n${"x".repeat(100_000)}`;
  await place.say(id, text);
  await place.kill(first);
  killIfThere(holder, "SIGCONT");
  await place.live();
  await place.rests(id, 2);
  expect(place.text("long")).toBe(`${text.length}\n`);
});

test("SM-3(b,g) in safe mode no turn begins; it begins when the operator leaves it", async () => {
  const place = home();
  await place.live({ HOLDFAST_SAFE_MODE: "three crashes" });
  const id = await place.agent("alpha");
  await place.say(id, ">> say hello");
  expect(await place.shown(id)).toMatchObject({ inbox: 1, turns: 0, pid: null });
  await place.must("safe-mode.exit", {});
  await place.rests(id, 1);
});
