import { expect, test } from "bun:test";
import { stageStates } from "./stages.ts";

const shown = (stage: Parameters<typeof stageStates>[0]) => stageStates(stage).map(({ state }) => state);

test("the stages before are done, the one after a failure is tried again, and live is the end", () => {
  expect(shown("CRASHED")).toEqual(["later", "later", "later", "later", "later"]);
  expect(shown("RESTORING")).toEqual(["done", "done", "now", "later", "later"]);
  expect(shown("INVENTORY_FAILED")).toEqual(["done", "failed", "later", "later", "later"]);
  expect(shown("LIVE")).toEqual(["done", "done", "done", "done", "done"]);
});
