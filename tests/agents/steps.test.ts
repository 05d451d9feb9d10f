// `agent:` steps of workflows: agents of the daemon, which is killed at any moment. tests/agents/steps-sim.test.ts has the moments in between.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { agentOf } from "../../src/core/workflow/agent-step.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { realClock } from "../../src/world/real-clock.ts";
import { realDisk } from "../../src/world/real-disk.ts";
import { until } from "../daemon/home.ts";
import { Runs } from "../workflow/runs.ts";
import { ACTOR, type AgentHome, agentHomes } from "./agent-home.ts";

const newHome = agentHomes();
const MINUTE = 60_000;

/** One agent step and one that writes down what it answered, on a home whose provider `actor` does what it is told. */
class Steps extends Runs {
  override readonly home: AgentHome;

  constructor(home: AgentHome, slots = 4) {
    super(home);
    this.home = home;
    const provider = `[provider.actor]\nkind = "scripted"\ncommand = ${JSON.stringify(ACTOR)}\n`;
    mkdirSync(home.file(".config/holdfast"), { recursive: true });
    writeFileSync(home.file(".config/holdfast/config.toml"), `[agents]\nslots = ${slots}\n${provider}`);
  }

  ask(lines: readonly string[], more: readonly string[] = []): Promise<string> {
    const prompt = lines.map((line) => `>> ${line}`).join("\n");
    const steps = [
      ...["steps:", "  - id: work", `    agent: { provider: actor, prompt: ${JSON.stringify(prompt)} }`],
      ...["    capture: answer", ...more.map((line) => `    ${line}`), "  - shell: echo ${answer} >> effects"],
    ];
    return this.begin(`${steps.join("\n")}\n`);
  }

  /** It tells that it works, and goes on when it is let. */
  get slow(): string[] {
    return [`append ${this.home.file("tried")} once`, `wait ${this.home.file("go")}`, "say at last"];
  }

  letGo(): void {
    writeFileSync(this.home.file("go"), "");
  }

  works(): Promise<boolean> {
    return until("it works", () => this.lines("tried").length > 0);
  }

  /** One agent, which had one turn and is terminated; its work is done once, and the run has its answer. */
  async isDoneOnce(id: string, answer = "at last"): Promise<void> {
    await this.is(id, "done");
    expect(this.lines()).toEqual([answer]);
    expect(this.lines("tried").length).toBeLessThanOrEqual(1);
    await this.isGone(`${id}.1`);
    await this.home.logged(agentOf(`${id}.1`), "turn.start", 1);
    await this.home.logged(agentOf(`${id}.1`), "agent.created", 1);
    const events = (await this.log(id)).split("\n").map((line) => (line === "" ? "" : String(JSON.parse(line).event)));
    for (const [name, times] of [
      ["started", 2],
      ["ended", 2],
      ["uncertain", 0],
    ] as const)
      expect(events.filter((event) => event === `workflow.attempt.${name}`)).toHaveLength(times);
  }

  /** Nobody of it is left in the tree. */
  async isGone(attempt: string): Promise<void> {
    await this.home.becomes(agentOf(attempt), "terminated");
    expect((await this.home.must("agent.list", {})).map(({ id }) => id)).not.toContain(agentOf(attempt));
  }
}

test(
  "an agent step is worked on by an agent of the daemon: what it asks makes the run wait, its answer is the step's output, and it goes with it",
  async () => {
    const steps = new Steps(newHome());
    await steps.home.live();
    const id = await steps.ask(["ask Bash ls", "say it is done"], ["timeout: 1h"]);
    const { needs, step } = await steps.is(id, "waiting");
    const [prompt] = await steps.home.must("prompt.list", {});
    expect({ step, needs }).toEqual({
      step: 1,
      needs: [
        {
          ...{ attempt: `${id}.1`, step: "work", why: "it asks for Bash" },
          ...{ agent: agentOf(`${id}.1`), prompt: prompt?.id ?? "" },
        },
      ],
    });
    expect(prompt?.name).toBe(`flow-work-${id.slice(0, 8)}.1`);
    await steps.home.answer(prompt?.id ?? "");
    await steps.isDoneOnce(id, "it is done");
  },
  MINUTE,
);

test(
  "the daemon is killed before the agent is made: the next one makes it",
  async () => {
    const steps = new Steps(newHome());
    const first = await steps.home.live({ HOLDFAST_SAFE_MODE: "nothing begins" });
    const id = await steps.ask(["say at last"]);
    expect(await steps.home.must("agent.list", {})).toEqual([]);
    await steps.home.kill(first);
    await steps.home.live();
    await steps.home.must("safe-mode.exit", {});
    await steps.isDoneOnce(id);
  },
  MINUTE,
);

test(
  "the daemon is killed between the making of the agent and its first turn: it has that turn",
  async () => {
    const steps = new Steps(newHome(), 1);
    const { home } = steps;
    const first = await home.live();
    const other = await home.agent("other", { instructions: `>> wait ${home.file("free")}` });
    await home.becomes(other, "working");
    const id = await steps.ask(["say at last"], ["timeout: 1h"]);
    await home.becomes(agentOf(`${id}.1`), "idle");
    await home.kill(first);
    await home.live();
    expect(await steps.is(id, "running")).toMatchObject({ attempts: [] });
    writeFileSync(home.file("free"), "");
    await steps.isDoneOnce(id);
  },
  MINUTE,
);

test(
  "the daemon is killed in the middle of the turn: the agent never noticed, and works once",
  async () => {
    const steps = new Steps(newHome());
    const first = await steps.home.live();
    const id = await steps.ask(steps.slow);
    await steps.works();
    await steps.home.kill(first);
    steps.letGo();
    await steps.home.live();
    await steps.isDoneOnce(id);
  },
  MINUTE,
);

test(
  "the daemon is killed at a prompt: it is the same prompt, and the run waits for it",
  async () => {
    const steps = new Steps(newHome());
    const first = await steps.home.live();
    const id = await steps.ask(["ask Bash ls", "say at last"], ["timeout: 1h"]);
    const before = await steps.is(id, "waiting");
    await steps.home.kill(first);
    await steps.home.live();
    const after = await steps.is(id, "waiting");
    expect(after.needs).toEqual(before.needs);
    const [item] = (await steps.home.report()).items.filter(({ what }) => what === "workflow");
    const prompt = after.needs[0]?.prompt ?? "";
    expect(item).toMatchObject({ fate: "needs you", next: `holdfast answer ${prompt} allow|deny` });
    expect((await steps.home.answer(prompt))?.ok).toBe(true);
    await steps.isDoneOnce(id);
  },
  MINUTE,
);

test(
  "the daemon is killed between the end of the turn and that of the attempt: the answer is taken, and nothing is asked again",
  async () => {
    const steps = new Steps(newHome());
    const { home } = steps;
    const first = await home.live();
    const id = await steps.ask(steps.slow);
    await steps.works();
    const agent = agentOf(`${id}.1`);
    await until("it is with its agent", async () => (await steps.show(id)).attempts[0]?.agent === agent);
    await home.kill(first);
    // What the daemon wrote last: the end of the turn, and no more.
    const log = await EventLog.open({ disk: realDisk(), clock: realClock(), home: home.path });
    const data = { turn: 1, response: "it was said", at: new Date().toISOString() };
    const written = log.append([{ session: `agents/${agent}`, ts: data.at, event: "turn.complete", data }]);
    if (written.ok) await written.value.durable;
    await log.close();
    await home.live();
    await steps.isDoneOnce(id, "it was said");
  },
  MINUTE,
);

test(
  "a retry is another agent without the old one's words; cancel, interrupt and timeout terminate the agent, and resume makes a new one",
  async () => {
    const steps = new Steps(newHome());
    const { home } = steps;
    await home.live();
    const failing = await steps.ask(
      [`append ${home.file("failed")} once`, "fail it is broken"],
      ["retry: { attempts: 2, backoff: 10ms }"],
    );
    expect((await steps.is(failing, "failed")).error?.message).toBe("Its agent's turn failed: it is broken");
    expect(steps.lines("failed")).toEqual(["once", "once"]);
    for (const attempt of [`${failing}.1`, `${failing}.2`]) await steps.isGone(attempt);

    const timed = await steps.ask(["hang"], ["timeout: 50ms"]);
    expect((await steps.is(timed, "failed")).error?.message).toBe("It was stopped after 0.05 s.");
    await steps.isGone(`${timed}.1`);

    const stopped = await steps.ask(steps.slow);
    await steps.works();
    await home.must("workflow.interrupt", { id: stopped });
    await steps.is(stopped, "interrupted");
    await steps.isGone(`${stopped}.1`);
    steps.letGo();
    await home.must("workflow.resume", { id: stopped, force: false });
    await steps.is(stopped, "done");
    expect([steps.lines("tried"), steps.lines()]).toEqual([["once", "once"], ["at last"]]);
    await steps.isGone(`${stopped}.2`);

    const cancelled = await steps.ask(["ask Bash ls"]);
    await steps.is(cancelled, "waiting");
    await home.must("workflow.cancel", { id: cancelled });
    await steps.is(cancelled, "cancelled");
    await steps.isGone(`${cancelled}.1`);
    expect(await home.must("prompt.list", {})).toEqual([]);
  },
  MINUTE,
);

test(
  "an agent that a person terminates, and one that cannot be started, is a failed step",
  async () => {
    const steps = new Steps(newHome());
    const { home } = steps;
    await home.live();
    const ended = await steps.ask(["hang"]);
    const agent = agentOf(`${ended}.1`);
    await home.becomes(agent, "working");
    await home.must("agent.terminate", { id: agent, reason: "enough" });
    expect((await steps.is(ended, "failed")).error?.message).toBe("Its agent was terminated: enough");
    const none = await steps.begin("steps:\n  - agent: { provider: acp, prompt: hello }\n");
    expect((await steps.is(none, "failed")).error?.message).toContain("The provider acp needs a command.");
  },
  MINUTE,
);
