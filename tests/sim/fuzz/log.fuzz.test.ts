// The crash-recovery fuzzer of the log, the checkpoint store and the tape: steps.ts has its steps, system.ts what must
// hold.
import { expect, test } from "bun:test";
import { FAILURES } from "./failures.ts";
import { fuzz } from "./fuzzer.ts";
import { PROFILE } from "./profile.ts";
import { STEPS, type Step } from "./steps.ts";
import { System } from "./system.ts";

test("FI-1(b) FI-4(b) EL-2 EL-3(a,b,c,d) whatever is done, fails and crashes, in any order, nothing acknowledged is lost", async () => {
  await fuzz<Step>({ name: "log", directory: FAILURES, steps: STEPS, start: System.start }, PROFILE);
  expect(PROFILE.runs).toBeGreaterThan(0);
});
