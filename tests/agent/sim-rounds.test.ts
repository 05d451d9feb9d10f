// The engine's rounds, on the simulated machine: they must not keep any agent from being started.
import { expect, test } from "bun:test";
import { AgentSimulation, creation } from "./sim-drive.ts";

const ROUND_MS = 5_000;

test("an agent whose creation is being written during a round is started like any other", async () => {
  for (let pauses = 1; pauses <= 6; pauses += 1) {
    const simulation = new AgentSimulation();
    simulation.wish(creation("a".repeat(32), "scripted", ">> note one"));
    // Time moves from timer to timer: to a round, too.
    for (let pause = 0; pause < pauses; pause += 1) await simulation.rest();
    simulation.wish(creation("b".repeat(32), "scripted", ">> note two"));
    await simulation.rest();
    expect(simulation.machine.notes).toEqual(["one", "two"]);
    expect(simulation.machine.clock.elapsed()).toBeLessThan((pauses + 2) * ROUND_MS);
  }
});
