// The effects for attempts with an agent, over agents and runs driven by a test: the unusual cases.
import { expect, test } from "bun:test";
import { ok, type Result, refused } from "../../src/base/result.ts";
import { agentName, agentOf } from "../../src/core/workflow/agent-step.ts";
import type { Step } from "../../src/core/workflow/definition.ts";
import { progressOf } from "../../src/core/workflow/progress.ts";
import type { Run } from "../../src/core/workflow/run.ts";
import type { StepAgents, StepAgentWish } from "../../src/daemon/agent/for-steps.ts";
import { type AgentStepPorts, AgentSteps } from "../../src/daemon/workflow/agent-steps.ts";
import { AgentFixture, planFor } from "../agent/house.ts";
import { everything, nothing } from "../sim/survive.ts";
import { simWorld } from "../sim/world.ts";
import { Story } from "./stories.ts";

const AGENT = agentOf("r1.1");
const DIRECTORY = "/h/state/w/sessions/r1/attempts/1";

/** One agent step `work`; effects are performed at once. */
class Stage {
  readonly world = { ...simWorld(1), home: "/h" };
  readonly fixture = new AgentFixture();
  readonly story: Story;
  readonly ports: AgentStepPorts;
  readonly steps: AgentSteps;
  readonly wishes: StepAgentWish[] = [];
  /** Why no agent can be created at the moment. */
  refusal: Result<never> | undefined;
  /** What failed for a run. */
  readonly contained: string[] = [];
  trusted = true;
  aside = false;

  constructor(step: Partial<Step> = {}, prompt = "Think.") {
    this.story = new Story([{ id: "work", work: { kind: "agent", provider: "scripted", prompt }, ...step }]);
    this.world.disk.plant("/h/made", Buffer.from(""));
    this.ports = {
      run: (id) => (id === "r1" ? this.story.run : undefined),
      submit: async ({ id: _, ...command }): Promise<Result<Run>> => {
        this.story.say(command as Parameters<Story["say"]>[0]);
        return ok(this.story.run);
      },
      isTrusted: () => this.trusted,
      agents: this.#agents(),
      beforeStep: async () => ok(undefined),
      onBug: (error) => {
        throw error;
      },
      guard: (id, work) => {
        try {
          work();
        } catch (error) {
          this.contained.push(`${id}: ${error}`);
        }
      },
    };
    this.steps = new AgentSteps(this.world, this.ports);
  }

  #agents(): StepAgents {
    const { fixture } = this;
    return {
      agent: (id) => (fixture.agentRecords.has(id) ? fixture.agent(id) : undefined),
      owned: () => (fixture.agentRecords.has(AGENT) ? [fixture.agent(AGENT)] : []),
      isSetAside: () => this.aside,
      create: async (wish) => {
        this.wishes.push(wish);
        if (this.refusal !== undefined) return this.refusal;
        const { id, name, owner, prompt } = wish;
        const birth = { id, name, owner, parent: undefined, instructions: prompt, settings: {} };
        const made = fixture.try({ kind: "create", ...birth, plan: planFor("scripted") });
        return made.ok ? ok(fixture.agent(id)) : made;
      },
      terminate: async (id, reason) => {
        fixture.do({ kind: "terminate", id, reason, by: "workflow" });
        return ok(fixture.agent(id));
      },
    };
  }

  /** Waits until nothing is in progress. */
  async start(): Promise<void> {
    this.steps.start("r1.1");
    await this.world.clock.settle();
  }

  async heard(): Promise<void> {
    this.steps.heard(this.fixture.agent(AGENT));
    await this.world.clock.settle();
  }

  /** It is created, and its process has its prompt. */
  async works(): Promise<void> {
    await this.start();
    this.fixture.start(AGENT);
    await this.heard();
  }
}

test("its agent is created once, is known by its attempt and ends it with its first turn, whatever messages arrive meanwhile", async () => {
  const stage = new Stage({ capture: { x: "stdout" } });
  await stage.works();
  await stage.start();
  expect(stage.wishes).toHaveLength(1);
  expect(stage.story.attempts).toEqual(["r1.1 work handed"]);
  stage.fixture.send(AGENT, "more");
  stage.fixture.done(AGENT, "the first");
  stage.fixture.takeAll(AGENT);
  stage.fixture.done(AGENT, "the second");
  expect(stage.fixture.agent(AGENT)).toMatchObject({ turns: 2, turn: undefined });
  await stage.heard();
  expect([stage.story.state, stage.story.variables]).toEqual(["done", { x: "the first" }]);
  expect(stage.fixture.agent(AGENT)).toMatchObject({ terminated: { by: "workflow" }, outcome: undefined });
});

test("PB2 what fails for a run in a round, or when its agent changes, fails for that run alone", async () => {
  const stage = new Stage();
  await stage.works();
  const broken = new AgentSteps(stage.world, {
    ...stage.ports,
    run: () => {
      throw new TypeError("a bug");
    },
  });
  broken.begin();
  broken.round();
  broken.heard(stage.fixture.agent(AGENT));
  expect(stage.contained).toEqual(["r1: TypeError: a bug", "r1: TypeError: a bug"]);
});

test("an agent that asks before it was first inspected is working, and waits", async () => {
  const stage = new Stage();
  const birth = { id: AGENT, name: "early", owner: "r1.1", parent: undefined, instructions: "Think.", settings: {} };
  stage.fixture.do({ kind: "create", ...birth, plan: planFor("scripted") });
  stage.fixture.start(AGENT);
  stage.fixture.says(AGENT, { kind: "ask", request: "q", tool: "Bash", input: "ls", options: null });
  await stage.heard();
  const prompt = stage.fixture.agent(AGENT).prompts[0]?.id ?? "";
  expect([stage.story.state, progressOf(stage.story.run).needs]).toEqual([
    "waiting",
    [{ attempt: "r1.1", step: "work", why: "it asks for Bash", agent: AGENT, prompt }],
  ]);
  stage.fixture.do({ kind: "answer", id: AGENT, prompt, answer: "a1", decision: "allow", message: "", always: false });
  await stage.heard();
  expect(stage.story.attempts).toEqual(["r1.1 work handed"]);
});

test("an attempt that an older daemon started in a holder stays there", () => {
  const stage = new Stage();
  expect(stage.steps.has("r1.1")).toBe(true);
  stage.world.disk.plant(`${DIRECTORY}/claim.json`, Buffer.from("{}"));
  expect(stage.steps.has("r1.1")).toBe(false);
  const running = new Stage();
  const child = { pid: 1, startTime: 1, bootId: "b" };
  running.story.say({ kind: "attempt-running", attempt: "r1.1", child, holder: 2 });
  expect(running.steps.has("r1.1")).toBe(false);
  running.story.say({ kind: "attempt-waiting", attempt: "r1.1", reason: "May I?" });
  expect([running.steps.has("r1.1"), running.steps.has("r1.2"), running.steps.has("r2.1")]).toEqual([
    false,
    false,
    false,
  ]);
});

test("the files of file(…) are on the disk before the agent exists, even after a power cut", async () => {
  const stage = new Stage({}, "Read ${file('long')}.");
  await stage.start();
  expect(stage.wishes[0]?.prompt).toBe(`Read ${DIRECTORY}/file-1.`);
  const left = stage.world.disk.powerCut(nothing);
  expect(left.stat(`${DIRECTORY}/file-1`)?.size).toBe(4);
  expect(stage.world.disk.powerCut(everything).stat(`${DIRECTORY}/file-1`)?.size).toBe(4);
});

test("it is retried if the log refuses; a permanent refusal is a failed step", async () => {
  const stage = new Stage();
  stage.refusal = refused("log.blocked", "There is no room.", "Make some.");
  await stage.start();
  expect(stage.story.attempts).toEqual(["r1.1 work starting"]);
  stage.refusal = refused("log.too-large", "It is too large.", "Use a file.");
  await stage.start();
  expect(stage.story.run.status).toMatchObject({ kind: "failed", error: { message: "It is too large. Use a file." } });
});

test("an attempt stopped while its files are written, or before anything began, never gets an agent", async () => {
  const stage = new Stage({}, "Read ${file('long')}.");
  const starting = stage.start();
  stage.story.say({ kind: "interrupt" });
  await starting;
  expect([stage.wishes, stage.story.state]).toEqual([[], "interrupted"]);
  const other = new Stage();
  other.story.say({ kind: "cancel" });
  other.steps.stop("r1.1");
  await other.world.clock.settle();
  await other.start();
  expect([other.wishes, other.story.state]).toEqual([[], "cancelled"]);
});

test("a stopped attempt has ended when its agent has no process left", async () => {
  const stage = new Stage();
  await stage.works();
  stage.story.say({ kind: "interrupt" });
  stage.steps.stop("r1.1");
  await stage.heard();
  expect([stage.fixture.state(AGENT), stage.story.state]).toEqual(["terminated", "running"]);
  stage.fixture.ends(AGENT, null, "SIGTERM");
  await stage.heard();
  expect(stage.story.state).toBe("interrupted");
});

test("a held agent waits for a person, and one whose log is damaged is uncertain", async () => {
  const stage = new Stage();
  await stage.works();
  stage.fixture.fold({ event: "agent.held", id: AGENT, data: { reason: "Its policy says so.", at: stage.fixture.at } });
  await stage.heard();
  expect(progressOf(stage.story.run)).toMatchObject({
    ...{ state: "waiting", needs: [{ why: "Its policy says so.", agent: AGENT, prompt: null }] },
  });
  stage.fixture.agentRecords.delete(AGENT);
  stage.aside = true;
  stage.steps.tend(stage.story.run);
  await stage.world.clock.settle();
  expect([stage.story.state, progressOf(stage.story.run).needs[0]?.agent]).toEqual(["uncertain", null]);
  stage.aside = false;
  expect(stage.steps.look("r1.1")).toEqual({ kind: "lost", reason: "its agent is gone" });
});

test("an agent whose attempt is over is terminated in the next round; if the run's log is damaged, none is", async () => {
  const stage = new Stage();
  await stage.works();
  stage.story.say({ kind: "attempt-prevented", attempt: "r1.1", reason: "somebody said so" });
  const again = new AgentSteps(stage.world, stage.ports); // The daemon's next life.
  stage.trusted = false;
  again.begin();
  again.round();
  await stage.world.clock.settle();
  expect(stage.fixture.state(AGENT)).toBe("working");
  stage.trusted = true;
  again.round();
  await stage.world.clock.settle();
  expect(stage.fixture.state(AGENT)).toBe("terminated");
});

test("a run with a damaged log causes no action", async () => {
  const stage = new Stage();
  await stage.works();
  stage.story.say({ kind: "cancel" });
  stage.trusted = false;
  await stage.heard();
  expect(stage.fixture.state(AGENT)).toBe("working");
  stage.trusted = true;
  await stage.heard();
  expect(stage.fixture.state(AGENT)).toBe("terminated");
});

test("names identify the owner of the agent, fit, and differ for each attempt", () => {
  const { run } = new Stage().story;
  const long = { ...run, name: "ünd so weiter ".repeat(20), id: "0123456789" };
  expect(agentName(run, "work", undefined, "r1.1")).toBe("story-work-r1.1");
  expect(agentName(run, "work", 7, "r1.12")).toBe("story-work-7-r1.12");
  const name = agentName(long, "work", 7, "0123456789.3");
  expect([name.length, name.slice(-11)]).toEqual([64, "-01234567.3"]);
  expect(name).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]*$/);
});
