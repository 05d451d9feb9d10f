import { expect, test } from "bun:test";
import { strays } from "./sim-strays.ts";

test("AG-2(c) a session without agent.created is terminated, reported and put into quarantine, once; a child without its parent is kept", async () => {
  expect(await strays()).toEqual([]);
});
