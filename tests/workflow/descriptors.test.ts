// A pool's holder serves attempt after attempt; neither it nor the daemon keeps a descriptor of one that has ended.
import { expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { daemonHomes } from "../daemon/home.ts";
import { until } from "../until.ts";
import { Runs } from "./runs.ts";

const newHome = daemonHomes();

/** Each attempt prints to both outputs; the 2nd and the 200th wait for a file, so that their holder can be seen. */
const FLOW = `
name: printing
mode: iterative
max_iterations: 200
steps:
  - id: one
    shell: |
      echo x >> begun
      echo printed
      echo complained >&2
      n=$(wc -l < begun)
      [ $n != 2 ] && [ $n != 200 ] || while [ ! -e go-$n ]; do sleep 0.02; done
`;

test("one holder serves 200 attempts that print, and has no more descriptors in the last than in the second", async () => {
  const home = newHome();
  const daemon = await home.live();
  const runs = new Runs(home);
  const id = await runs.begin(FLOW);
  const openIn = async (attempt: number) => {
    await until(
      `attempt ${attempt} waits`,
      () => runs.lines("begun").length === attempt && holderOf(attempt) !== undefined,
      () => runs.lines("begun").length,
    );
    const pid = holderOf(attempt) ?? 0;
    return { pid, holder: descriptors(pid), daemon: descriptors(daemon.process.pid) };
  };
  const holderOf = (attempt: number) => {
    const claim = runs.claim(id, attempt);
    return claim === "" ? undefined : Number(JSON.parse(claim).pid);
  };
  const second = await openIn(2);
  writeFileSync(home.file("go-2"), "");
  const last = await openIn(200);
  expect(last.pid).toBe(second.pid);
  await until(
    "what the attempts before had open is closed, but for a connection or two",
    () => descriptors(last.pid) <= second.holder + 3 && descriptors(daemon.process.pid) <= second.daemon + 5,
    () => ({ second, last: [descriptors(last.pid), descriptors(daemon.process.pid)] }),
  );
  writeFileSync(home.file("go-200"), "");
  await runs.is(id, "done");
});

function descriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
