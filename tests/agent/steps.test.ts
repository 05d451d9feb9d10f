// `agent:` steps of workflows, with a daemon killed at chosen moments. tests/agent/steps-sim.test.ts covers the moments
// in between.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { agentOf } from "../../src/core/workflow/agent-step.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { until } from "../until.ts";
import { Runs } from "../workflow/runs.ts";
import { ACTOR, type AgentHome, agentHomes } from "./agent-home.ts";

const newHome = agentHomes();

/**
 * Runs with one agent step and one that writes down its answer, on a home whose provider `actor` follows its prompt.
 */
class Steps extends Runs {
  override readonly home: AgentHome;

  constructor(home: AgentHome) {
    super(home);
    this.home = home;
    const provider = `[provider.actor]\nkind = "scripted"\ncommand = ${JSON.stringify(ACTOR)}\n`;
    mkdirSync(home.file(".config/holdfast"), { recursive: true });
    writeFileSync(home.file(".config/holdfast/config.toml"), `[agents]\nslots = 1\n${provider}`);
  }

  ask(lines: readonly string[], more: readonly string[] = []): Promise<string> {
    const prompt = lines.map((line) => `>> ${line}`).join("\n");
    const steps = [
      ...["steps:", "  - id: work", `    agent: { provider: actor, prompt: ${JSON.stringify(prompt)} }`],
      ...["    capture: answer", ...more.map((line) => `    ${line}`), "  - shell: echo ${answer} >> $HOLDFAST_RUN"],
    ];
    return this.begin(`${steps.join("\n")}\n`);
  }

  /** It signals that it works, and continues when it is allowed to. */
  slow(name: string): string[] {
    return [`append ${this.home.file(`${name}-tried`)} once`, `wait ${this.home.file(`${name}-go`)}`, "say at last"];
  }

  forget(name: string): void {
    writeFileSync(this.home.file(`${name}-go`), "");
  }

  works(name: string): Promise<boolean> {
    return until(
      "it works",
      () => this.lines(`${name}-tried`).length > 0,
      () => this.lines(`${name}-tried`).length,
    );
  }

  /** One agent, with one turn, terminated; one end of the attempt, nothing uncertain, and the run has its answer. */
  async isDoneOnce(id: string, answer = "at last"): Promise<void> {
    await this.is(id, "done");
    expect(this.lines(id)).toEqual([answer]);
    await this.isGone(`${id}.1`);
    await this.home.logged(agentOf(`${id}.1`), "turn.start", 1);
    await this.home.logged(agentOf(`${id}.1`), "agent.created", 1);
    const log = await this.log(id);
    const counts = ["started", "ended", "uncertain"].map((name) => log.split(`"workflow.attempt.${name}"`).length - 1);
    expect(counts).toEqual([2, 2, 0]);
  }

  /** None of its agents is left in the tree. */
  async isGone(attempt: string): Promise<void> {
    await this.home.becomes(agentOf(attempt), "terminated");
    expect((await this.home.must("agent.list", {})).map(({ id }) => id)).not.toContain(agentOf(attempt));
  }
}

test("the daemon is killed before the agent is created, and again before its first turn: it is created once, and has that turn", async () => {
  const steps = new Steps(newHome());
  const { home } = steps;
  const first = await home.live({ HOLDFAST_SAFE_MODE: "nothing begins" });
  const early = await steps.ask(["say at last"]);
  expect(await home.must("agent.list", {})).toEqual([]);
  await home.kill(first);
  const second = await home.live();
  await home.must("safe-mode.exit", {});
  await steps.isDoneOnce(early);

  const other = await home.agent("other", { instructions: `>> wait ${home.file("free")}` });
  await home.becomes(other, "working"); // It has the only slot.
  const late = await steps.ask(["say at last"]);
  await until(
    "the agent is created",
    async () => (await home.ask("agent.show", { id: agentOf(`${late}.1`) }))?.ok,
    async () => (await home.ask("agent.show", { id: agentOf(`${late}.1`) }))?.ok,
  );
  await home.kill(second);
  await home.live();
  expect(await steps.is(late, "running")).toMatchObject({ attempts: [] });
  writeFileSync(home.file("free"), "");
  await steps.isDoneOnce(late);
});

test("the daemon is killed in the middle of the turn, and between its end and that of the attempt: the agent works once, and its answer is used", async () => {
  const steps = new Steps(newHome());
  const { home } = steps;
  const first = await home.live();
  const amid = await steps.ask(steps.slow("amid"));
  await steps.works("amid");
  await home.kill(first);
  steps.forget("amid");
  const second = await home.live();
  await steps.isDoneOnce(amid);
  expect(steps.lines("amid-tried")).toEqual(["once"]);

  const after = await steps.ask(steps.slow("after"));
  await steps.works("after");
  const agent = agentOf(`${after}.1`);
  await until(
    "it is with its agent",
    async () => (await steps.show(after)).attempts[0]?.agent === agent,
    async () => (await steps.show(after)).attempts[0]?.agent,
  );
  await home.kill(second);
  // The daemon's last event: the end of the turn, and no more.
  const log = await EventLog.open({ disk: realDisk(), clock: realClock(), home: home.path });
  const data = { turn: 1, response: "it was said", at: new Date().toISOString() };
  const written = log.append([{ session: `agents/${agent}`, ts: data.at, event: "turn.complete", data }]);
  if (written.ok) await written.value.durable;
  await log.close();
  await home.live();
  await steps.isDoneOnce(after, "it was said");
  expect(steps.lines("after-tried")).toEqual(["once"]);
});

test("the agent's question makes the run wait; the daemon is killed then: the prompt is the same, and its answer lets the step end", async () => {
  const steps = new Steps(newHome());
  const { home } = steps;
  const first = await home.live();
  const id = await steps.ask(["ask Bash ls", "say at last"], ["timeout: 1h"]);
  const before = await steps.is(id, "waiting");
  const [asked] = await home.must("prompt.list", {});
  expect(asked?.name).toBe(`flow-work-${id.slice(0, 8)}.1`);
  const prompt = asked?.id ?? "";
  const need = { attempt: `${id}.1`, step: "work", why: "it asks for Bash", agent: agentOf(`${id}.1`), prompt };
  expect([before.step, before.needs]).toEqual([1, [need]]);
  await home.kill(first);
  await home.live();
  expect((await steps.is(id, "waiting")).needs).toEqual([need]);
  const [item] = (await home.report()).items.filter(({ what }) => what === "workflow");
  expect(item).toMatchObject({ fate: "needs you", next: `holdfast answer ${prompt} allow|deny` });
  await home.answer(prompt);
  await steps.isDoneOnce(id);
});

test("a retry is another agent; cancel, interrupt and timeout terminate it, and resume creates a new one; terminating it fails the step", async () => {
  const steps = new Steps(newHome());
  const { home } = steps;
  await home.live();
  const retry = ["retry: { attempts: 2, backoff: 10ms }"];
  const failing = await steps.ask([`append ${home.file("failed")} once`, "fail it is broken"], retry);
  expect((await steps.is(failing, "failed")).error?.message).toBe("Its agent's turn failed: it is broken");
  expect(steps.lines("failed")).toEqual(["once", "once"]);
  for (const attempt of [`${failing}.1`, `${failing}.2`]) await steps.isGone(attempt);

  const timed = await steps.ask(["hang"], ["timeout: 50ms"]);
  expect((await steps.is(timed, "failed")).error?.message).toBe("Timed out after 0.05 s.");
  await steps.isGone(`${timed}.1`);

  const stopped = await steps.ask(steps.slow("stopped"));
  await steps.works("stopped");
  await home.must("workflow.interrupt", { id: stopped });
  await steps.is(stopped, "interrupted");
  await steps.isGone(`${stopped}.1`);
  steps.forget("stopped");
  await home.must("workflow.resume", { id: stopped, force: false });
  await steps.is(stopped, "done");
  expect([steps.lines("stopped-tried"), steps.lines(stopped)]).toEqual([["once", "once"], ["at last"]]);
  await steps.isGone(`${stopped}.2`);

  const cancelled = await steps.ask(["ask Bash ls"]);
  await steps.is(cancelled, "waiting");
  await home.must("workflow.cancel", { id: cancelled });
  await steps.is(cancelled, "cancelled");
  await steps.isGone(`${cancelled}.1`);
  expect(await home.must("prompt.list", {})).toEqual([]);

  const ended = await steps.ask(["ask Bash ls"]);
  await steps.is(ended, "waiting");
  await home.must("agent.terminate", { id: agentOf(`${ended}.1`), reason: "enough" });
  expect((await steps.is(ended, "failed")).error?.message).toBe("Its agent was terminated: enough");
  const none = await steps.begin("steps:\n  - agent: { provider: acp, prompt: hello }\n");
  expect((await steps.is(none, "failed")).error?.message).toContain("The provider acp needs a command.");
});
