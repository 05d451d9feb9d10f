// `holdfast tunnel status|on|off`: what the tunnel does, and whether it is wanted.
import { localTime } from "../../base/local-time.ts";
import { ok, refused } from "../../base/result.ts";
import { visible } from "../../base/visible.ts";
import { whyNotAllowed } from "../../home/callers.ts";
import { readEnrolment, writeTunnelWanted } from "../../home/tunnel-files.ts";
import { tunnelView } from "../../home/tunnel-view.ts";
import type { WebTunnelView } from "../../wire/page/messages.ts";
import { realCertificates } from "../../world/real/certificates.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { printJson, say } from "../print.ts";

async function status(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const view = tunnelOf(world, home.value);
  if (flags.json === true) await printJson(world.console, view);
  else await world.console.out.write(visible(`${linesOf(world, view).join("\n")}\n`));
  return ok(view.enrolled && view.wanted === "on" && view.state !== "Connected" ? EXIT.failed : EXIT.ok);
}

export function tunnelOf(world: DaemonCommandWorld, home: string): WebTunnelView {
  return tunnelView({ ...world, certificates: realCertificates() }, home);
}

function linesOf({ console }: DaemonCommandWorld, view: WebTunnelView): string[] {
  if (!view.enrolled) return [`not enrolled. ${view.next}`];
  const until = view.certificateUntil === null ? "" : localTime(console, view.certificateUntil);
  return [
    `relay        ${view.relay}`,
    `wanted       ${view.wanted}`,
    `state        ${view.state}${view.since === null ? "" : ` since ${localTime(console, view.since)}`}`,
    ...(view.why === "" ? [] : [`why          ${view.why}`]),
    ...(view.dialAt === null ? [] : [`next try     ${localTime(console, view.dialAt)}`]),
    ...(view.url === null ? [] : [`page         ${view.url}`]),
    `certificate  until ${until}, renewed by itself before`,
    ...(view.next === "" ? [] : [`next         ${view.next}`]),
  ];
}

function turn(wanted: "on" | "off") {
  return withDaemonWorld(async (world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> => {
    const home = existingHome(world, flags.home);
    if (!home.ok) return home;
    const refusal = whyNotAllowed(world, home.value, `tunnel ${wanted}`);
    if (refusal !== undefined) return { ok: false, error: refusal };
    if (readEnrolment(world.disk, home.value) === undefined)
      return refused("not-enrolled", "This home is not enrolled at a relay.", "holdfast tunnel enroll RELAY TOKEN");
    await writeTunnelWanted(world.disk, home.value, wanted);
    if (flags.json === true) await printJson(world.console, { wanted });
    else await say(world.console, `the tunnel is turned ${wanted}.`);
    return ok(EXIT.ok);
  });
}

export const statusCommand = withDaemonWorld(status);
export const onCommand = turn("on");
export const offCommand = turn("off");
