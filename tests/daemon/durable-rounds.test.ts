// What a heartbeat's round does for terminals that are still being written: nothing (U6 of session-store.ts).
import { expect, test } from "bun:test";
import { Stalled } from "../sim/holdfast/stalled.ts";

test("U6 a round during the write of a terminal starts nothing for it", async () => {
  const stalled = await Stalled.begin();
  const { machine, client } = stalled;
  let starts = 0;
  machine.fork = () => {
    starts += 1;
  };
  const recipe = { lane: "main", argv: ["/bin/sh"], cwd: "/u", env: {}, cols: 80, rows: 24 };
  const create = (name: string) => client.ask("terminal.new", { name, ...recipe });
  await stalled.lived(create("a"));
  await stalled.until(() => starts === 2); // Its holder, and the spare; its syncs are known to be slow now.
  const { made, goOn } = await stalled.stallAt(() => create("b"));
  await stalled.pass(5_000);
  expect([starts, machine.witness.running.size]).toEqual([2, 1]); // Nor was the spare given to it.
  goOn();
  await stalled.lived(made);
  await stalled.until(() => machine.witness.running.size === 2);
  await stalled.until(() => starts === 3); // The next spare.
});
