// The machine of a drill goes down while holders are starting: no process from before may survive and start something
// afterwards.
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Machine } from "../../src/drill/machine/boots.ts";
import { makeSite } from "../../src/drill/site.ts";
import { holderStart } from "../../src/wire/holder/start.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { realSelf } from "../../src/world/self.ts";
import { realWorld } from "../../src/world/world.ts";
import { fakeConsole } from "../cli/fake-console.ts";
import { BUN, ours } from "../ours.ts";
import { until } from "../until.ts";
import { drillPlace } from "./place.ts";

const place = drillPlace();

function machine(): Machine {
  const doors = { sockets: realSockets(), self: realSelf() };
  const console = fakeConsole({ env: { TMPDIR: place } });
  return new Machine(makeSite({ ...realWorld(), ...doors, console }));
}

/** As a daemon of the drill starts it; stopped before it gets to do anything, however long we take to look. */
async function startedHolder({ site }: Machine): Promise<Bun.Subprocess> {
  const directory = join(site.home, "terminals");
  mkdirSync(directory, { recursive: true });
  const of = mkdtempSync(join(directory, "t"));
  const start = holderStart(BUN, "src/holder/main.ts", of, { ours: site.world.self.environment() });
  const stopped = ["/bin/sh", "-c", 'kill -STOP $$; exec "$@"', "sh", ...ours("src/holder/main.ts", of)];
  const holder = Bun.spawn(stopped, { cwd: "/", env: { ...start.env }, stdio: [null, null, null] });
  await until(
    "it is stopped",
    () => readFileSync(`/proc/${holder.pid}/stat`, "latin1").includes(") T "),
    () => readFileSync(`/proc/${holder.pid}/stat`, "latin1"),
  );
  expect(readdirSync(of)).toEqual([]);
  return holder;
}

test("a crash of the drill's machine takes holders along that had not claimed anything yet", async () => {
  const drilled = machine();
  const holder = await startedHolder(drilled);
  const crashed = await drilled.crash();
  holder.kill("SIGKILL"); // Where the crash did not.
  await holder.exited;
  expect(crashed).toEqual({ ours: 1, holders: 0, programs: 0 });
});
