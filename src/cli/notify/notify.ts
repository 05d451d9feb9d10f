// `holdfast notify status|ls|test`: who is called when a prompt waits, how the last calls went, and a call now.
import { localTime } from "../../base/local-time.ts";
import { ok } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import type { NotifyStatus, NotifyTarget } from "../../wire/rpc/rpc.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { lookLive } from "../look.ts";
import { count, printJson, say } from "../print.ts";
import { tableText } from "../table.ts";
import { muteText } from "./mute.ts";

const HEAD = ["WHO", "KIND", "LAST CALL", "WAITING", "TROUBLE"];
const NOBODY =
  "nobody is called. Allow notifications on the page, or set [notify] command or url in the configuration.";

async function status(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const found = await ask(world, flags);
  if (!found.ok) return found;
  if (flags.json) await printJson(world.console, found.value);
  else await world.console.out.write(visible(`${linesOf(world, found.value).join("\n")}\n`));
  return ok(found.value.targets.some(({ failures }) => failures > 0) ? EXIT.failed : EXIT.ok);
}

async function ls(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const found = await ask(world, flags);
  if (!found.ok) return found;
  const { targets } = found.value;
  if (flags.json) await printJson(world.console, targets);
  else if (targets.length === 0) await say(world.console, NOBODY);
  else await world.console.out.write(tableOf(world, targets));
  return ok(EXIT.ok);
}

async function test(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const done = await onDaemon(world, home.value, (client) => client.call("notify.test", {}));
  if (!done.ok) return done;
  if (flags.json) await printJson(world.console, done.value);
  else if (done.value.length === 0) await say(world.console, NOBODY);
  else
    for (const { name, ok: reached, why } of done.value)
      await world.console.out.write(`${visibleLine(reached ? `called ${name}` : `could not call ${name}: ${why}`)}\n`);
  return ok(done.value.every((one) => one.ok) ? EXIT.ok : EXIT.failed);
}

async function ask(world: DaemonCommandWorld, flags: DataFlags) {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  return await lookLive(world, home.value, (client) => client.call("notify.status", {}));
}

function linesOf({ console }: DaemonCommandWorld, { targets, quiet, isQuiet, mute, mutes = [] }: NotifyStatus) {
  const muted = [...mute, ...mutes.map((one) => muteText(console, one))];
  const shown = muted.length === 0 ? [] : [`muted        ${muted.join(", ")}`];
  if (targets.length === 0) return [NOBODY, ...shown];
  const failing = targets.filter(({ failures }) => failures > 0);
  return [
    `called       ${targets.map(({ name }) => name).join(", ")}`,
    ...(quiet === "" ? [] : [`quiet hours  ${quiet}${isQuiet ? ", now" : ""}`]),
    ...shown,
    ...failing.map(
      ({ name, failures, why, failedAt }) =>
        `failed       ${name}: ${why} (${count(failures, "time")} in a row, last ${localTime(console, failedAt ?? "")})`,
    ),
    failing.length === 0 ? "no call has failed" : "It goes on trying. `holdfast notify test` tries everyone now.",
  ];
}

function tableOf({ console }: DaemonCommandWorld, targets: readonly NotifyTarget[]): string {
  const rows = targets.map(({ name, kind, service, okAt, waiting, failures, why }) => {
    const what = service === null ? kind : `${kind} (${service})`;
    const last = okAt === null ? "never" : localTime(console, okAt);
    return [name, what, last, String(waiting), failures === 0 ? "" : why].map(visibleLine);
  });
  return tableText(console, [HEAD, ...rows], [{ column: HEAD.indexOf("TROUBLE"), keeps: "start" }]);
}

export const statusCommand = withDaemonWorld(status);
export const lsCommand = withDaemonWorld(ls);
export const testCommand = withDaemonWorld(test);
