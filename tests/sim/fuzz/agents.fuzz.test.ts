// The lifecycle fuzzer of agents, over the pure core: tests/agent/fuzz-steps.ts has its steps, fuzz-oracle.ts what must
// hold.
import { expect, test } from "bun:test";
import { STEPS, type Step } from "../../agent/fuzz-steps.ts";
import { AgentSystem } from "../../agent/fuzz-system.ts";
import { FAILURES } from "./failures.ts";
import { fuzz } from "./fuzzer.ts";
import { PROFILE } from "./profile.ts";

test("FI-3(a,c,d) FI-4(a) AG-2(a) AG-3(c) PR-3(a,d) whatever agents do and suffer, no message, turn or prompt is lost or doubled", async () => {
  await fuzz<Step>({ name: "agents", directory: FAILURES, steps: STEPS, start: AgentSystem.start }, PROFILE);
  expect(PROFILE.runs).toBeGreaterThan(0);
});
