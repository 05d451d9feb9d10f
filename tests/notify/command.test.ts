// The operator's `[notify] command` (src/daemon/notify/command.ts), with real programs and a clock that only we move.
import { expect, test } from "bun:test";
import { testMessage } from "../../src/core/notify/message.ts";
import { type CommandPorts, runCommand } from "../../src/daemon/notify/command.ts";
import { realChildren } from "../../src/world/real/children.ts";
import { processes } from "../daemon/home.ts";
import { SimClock } from "../sim/clock.ts";
import { until } from "../until.ts";

const NEVER = new Promise<void>(() => undefined);
const environment = () => ({ PATH: "/usr/bin:/bin", HOME: "/", ANTHROPIC_API_KEY: "sk-secret" });

function shell(script: string, { clock = new SimClock(), stopped = NEVER } = {}) {
  const ports: CommandPorts = { children: realChildren(), clock, home: "/", environment };
  return runCommand(ports, ["/bin/sh", "-c", script], testMessage(), stopped);
}

test("NC1 it has the message as input and the facts as variables, and none of our secrets", async () => {
  const script = 'test "$(cat | grep -c \\"kind\\":\\"test\\")" = 1 && test "$HOLDFAST_TITLE" = "A test of Holdfast"';
  expect(await shell(script)).toEqual({ kind: "accepted" });
  expect(await shell('test -z "$ANTHROPIC_API_KEY" && test -n "$HOME" && test "$HOLDFAST_KIND" = test')).toEqual({
    kind: "accepted",
  });
});

test("one that fails says why, up to a length; one that does not exist, or reads nothing, too", async () => {
  expect(await shell("echo no such phone >&2; exit 3")).toEqual({
    kind: "refused",
    why: "the command exited with 3: no such phone",
  });
  const loud = await shell("head -c 1000000 /dev/zero | tr '\\0' x; exit 1");
  expect(loud).toMatchObject({ kind: "refused" });
  expect(JSON.stringify(loud).length).toBeLessThan(700);
  expect(await shell("kill -9 $$")).toMatchObject({ kind: "refused", why: "the command was ended by SIGKILL" });
  const ports: CommandPorts = { children: realChildren(), clock: new SimClock(), home: "/", environment };
  expect(await runCommand(ports, ["/no/such/program"], testMessage(), NEVER)).toMatchObject({ kind: "refused" });
});

test("NC1 one that does not end in time, or is not wanted any more, is killed with all it started", async () => {
  for (const how of ["time", "stop"] as const) {
    const clock = new SimClock();
    const { promise: stopped, resolve } = Promise.withResolvers<void>();
    const file = `/tmp/hfcmd-${process.pid}-${how}`;
    const running = shell(`sleep 1000 & echo $! > ${file}; wait`, { clock, stopped });
    const pid = await until(
      "it runs",
      async () =>
        Number(
          await Bun.file(file)
            .text()
            .catch(() => ""),
        ) || undefined,
      () => file,
    );
    if (how === "time") clock.advance(30_000);
    else resolve();
    expect(await running).toMatchObject({ kind: "lost" });
    await until(
      "its child is gone",
      () => processes.startTime(pid) === undefined,
      () => pid,
    );
    await Bun.file(file).unlink();
  }
});
