// `holdfast tunnel status|on|off`: what the tunnel does, and whether it is wanted.
// TS1. The web host has the tunnel, and writes what it does into run/tunnel.json; without a living one there is none.
import { localTime } from "../../base/local-time.ts";
import { ok, refused } from "../../base/result.ts";
import { visible } from "../../base/visible.ts";
import { whyNotAllowed } from "../../home/callers.ts";
import { readSafeMode } from "../../home/safe-mode.ts";
import {
  type Enrolment,
  isTunnelWanted,
  readEnrolment,
  readTunnelStatus,
  type TunnelStatus,
  writeTunnelWanted,
} from "../../home/tunnel-files.ts";
import { realCertificates } from "../../world/real/certificates.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { printJson, say } from "../print.ts";

type TunnelView = {
  readonly enrolled: boolean;
  readonly relay: string | null;
  readonly id: string | null;
  readonly wanted: "on" | "off";
  readonly state: string;
  readonly since: string | null;
  readonly why: string;
  readonly dialAt: string | null;
  readonly url: string | null;
  readonly certificateUntil: string | null;
  readonly authorityUntil: string | null;
};

async function status(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const view = tunnelView(world, home.value);
  if (flags.json === true) await printJson(world.console, view);
  else await world.console.out.write(visible(`${linesOf(world, view).join("\n")}\n`));
  return ok(view.enrolled && view.wanted === "on" && view.state !== "Connected" ? EXIT.failed : EXIT.ok);
}

export function tunnelView(world: DaemonCommandWorld, home: string): TunnelView {
  const enrolment = readEnrolment(world.disk, home);
  const live = liveStatus(world, home);
  const wanted = isTunnelWanted(world.disk, home) ? "on" : "off";
  const { state, since, why, dialAt } = live ?? {
    state: "Disconnected",
    since: null,
    why: whyNone(world, home),
    dialAt: null,
  };
  return {
    ...{
      enrolled: enrolment !== undefined,
      relay: relayOf(enrolment),
      id: enrolment?.id ?? null,
      wanted,
      state,
      since,
    },
    ...{
      why: enrolment === undefined ? "" : why,
      dialAt,
      url: live === undefined || live.url === "" ? null : live.url,
    },
    certificateUntil: untilOf(enrolment?.certificate),
    authorityUntil: untilOf(enrolment?.authority),
  };
}

/** TS1 */
function liveStatus({ disk, processes }: DaemonCommandWorld, home: string): TunnelStatus | undefined {
  const status = readTunnelStatus(disk, home);
  return status !== undefined && processes.startTime(status.pid) !== undefined ? status : undefined;
}

function whyNone({ disk }: DaemonCommandWorld, home: string): string {
  if (readSafeMode(disk, home).active) return "Holdfast is in safe mode.";
  return "The web host does not run: holdfast up";
}

function relayOf(enrolment: Enrolment | undefined): string | null {
  return enrolment === undefined ? null : `${enrolment.relay.host}:${enrolment.relay.port}`;
}

function untilOf(certificate: string | undefined): string | null {
  const life = certificate === undefined ? undefined : realCertificates().lifeOf(certificate);
  return life === undefined ? null : new Date(life.notAfter).toISOString();
}

function linesOf({ console }: DaemonCommandWorld, view: TunnelView): string[] {
  if (!view.enrolled) return ["not enrolled. `holdfast tunnel enroll` connects this home with a relay."];
  const until = view.certificateUntil === null ? "" : localTime(console, view.certificateUntil);
  return [
    `relay        ${view.relay}`,
    `wanted       ${view.wanted}`,
    `state        ${view.state}${view.since === null ? "" : ` since ${localTime(console, view.since)}`}`,
    ...(view.why === "" ? [] : [`why          ${view.why}`]),
    ...(view.dialAt === null ? [] : [`next try     ${localTime(console, view.dialAt)}`]),
    ...(view.url === null ? [] : [`page         ${view.url}`]),
    `certificate  until ${until}, renewed by itself before`,
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
