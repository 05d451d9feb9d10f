// A signal that was acknowledged reaches its program, also if the daemon is killed before the holder takes it.
import { afterAll, expect, test } from "bun:test";
import { AgentHome } from "../agent/agent-home.ts";
import { until } from "../until.ts";

const home = new AgentHome();
afterAll(() => home.close());

/** More than a daemon takes to send it, and to record that. */
const LOOKS = 20;

test("N5 the holder is stopped when a signal is sent, and the daemon killed: the next one sends it", async () => {
  const daemon = await home.live();
  await home.agent("worker"); // With agents in the home, a holder looks who its clients are.
  const id = await home.open("one", ["sleep", "1000"]);
  const { holder } = await home.is(id, "running");
  process.kill(holder, "SIGSTOP");
  expect((await home.ask("terminal.signal", { id, signal: "SIGTERM" }))?.ok).toBe(true);
  const isRecorded = () => home.text(`terminals/${id}/events.jsonl`).includes("terminal.signalled");
  for (let look = 0; look < LOOKS && !isRecorded(); look += 1) await Bun.sleep(25);
  await home.kill(daemon);
  process.kill(holder, "SIGCONT");
  await home.live();
  await until(
    "it has ended",
    async () => (await home.listed(id)).state.kind === "ended",
    () => home.listed(id),
  );
});
