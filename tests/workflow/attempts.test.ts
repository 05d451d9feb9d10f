// Attempts on a simulated machine, with real holders from the pool: what is reported, and what is on disk by then.
import { expect, test } from "bun:test";
import { ok } from "../../src/base/result.ts";
import type { WorkflowCommand } from "../../src/core/workflow/commands.ts";
import { Attempts } from "../../src/daemon/workflow/attempts.ts";
import { RunSecrets } from "../../src/daemon/workflow/run-secrets.ts";
import { readHeld } from "../../src/home/held/held-state.ts";
import { HoldfastMachine } from "../sim/holdfast/machine.ts";
import { HOME } from "../sim/machine.ts";
import { Story, shell } from "./stories.ts";

const ATTEMPT = "r1.1";
const DIRECTORY = `${HOME}/state/w/sessions/r1/attempts/1`;
const STEP_MS = 5;

/** One step, whose attempt is to be started. */
class Stage {
  readonly machine = new HoldfastMachine(1);
  readonly story = new Story([shell("a")]);
  readonly told: string[] = [];
  readonly attempts: Attempts;

  constructor() {
    this.machine.disk.makeDirectory(`${HOME}/run`);
    const doors = this.machine.doors(this.machine.born());
    const self = {
      environment: () => ({}),
      collect: () => undefined,
      command: () => ["bun"] as const,
      lasting: () => ["bun"] as const,
      files: () => [],
      binary: () => undefined,
      holder: async () => undefined,
      capacity: () => ({ cores: 1, memoryBytes: 0 }),
    };
    const watch = { directory: () => () => undefined };
    this.attempts = new Attempts(
      { ...doors, self, watch, paths: { uid: 0, steps: () => [] } },
      {
        run: (id) => (id === "r1" ? this.story.run : undefined),
        runs: () => [this.story.run],
        submit: async ({ id: _, ...command }) => {
          const held = readHeld({ ...doors, directory: DIRECTORY }, 1);
          this.told.push(`${command.kind} while ${held.kind}`);
          this.story.say(command as Parameters<Story["say"]>[0]);
        },
        holderCommand: () => ({ runtime: "bun", entry: "orders" }),
        beforeStep: async () => ok(undefined),
        mayBegin: () => true,
        slots: 2,
        secrets: new RunSecrets(() => ({})),
        onBug: (error) => this.machine.failed(error),
      },
    );
  }

  async pass(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += STEP_MS) {
      await this.machine.clock.settle();
      this.machine.clock.advance(STEP_MS);
    }
    await this.machine.clock.settle();
    if (this.machine.trouble !== undefined) throw this.machine.trouble;
  }
}

test("an attempt is started once, and its end is reported when it is on disk", async () => {
  const stage = new Stage();
  stage.attempts.start(ATTEMPT);
  stage.attempts.start(ATTEMPT);
  await stage.pass(200);
  expect(stage.machine.witness.marks.length).toBe(1);
  expect(stage.told).toEqual(["attempt-running while claimed", "attempt-ended while ended"]);
});

test("an attempt stopped before it began is claimed by us before that is reported, and is never started", async () => {
  const stage = new Stage();
  stage.attempts.stop(ATTEMPT, "SIGTERM");
  await stage.pass(100);
  expect(stage.told).toEqual(["attempt-prevented while cancelled"]);
  stage.attempts.start(ATTEMPT);
  await stage.pass(200);
  expect(stage.machine.witness.marks).toEqual([]);
});

test("an attempt whose files are removed while it is recorded as running is lost, and not run again", async () => {
  const stage = new Stage();
  const [child, holder] = [{ pid: 99_999, startTime: 1, bootId: "b" }, 99_998];
  const running: WorkflowCommand = { kind: "attempt-running", id: "r1", attempt: ATTEMPT, child, holder };
  stage.story.say(running as Parameters<Story["say"]>[0]);
  expect(await stage.attempts.look(ATTEMPT)).toEqual({ kind: "lost", reason: "its files are gone" });
});
