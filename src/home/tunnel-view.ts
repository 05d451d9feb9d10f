// What people see of a home's tunnel, the same on the command line and on the page: its state, why, and what to do.
// TV1. The web host has the tunnel, and writes what it does into run/tunnel.json; without a living one there is none.
import type { WebTunnelView } from "../wire/page/messages.ts";
import type { Certificates } from "../world/certificates.ts";
import type { Disk } from "../world/disk.ts";
import type { Processes } from "../world/process.ts";
import { readSafeMode } from "./safe-mode.ts";
import { type Enrolment, isTunnelWanted, readEnrolment, readTunnelStatus, type TunnelStatus } from "./tunnel-files.ts";

export type TunnelViewWorld = {
  readonly disk: Disk;
  readonly processes: Processes;
  readonly certificates: Pick<Certificates, "lifeOf">;
};

export function tunnelView(world: TunnelViewWorld, home: string): WebTunnelView {
  const { disk, certificates } = world;
  const enrolment = readEnrolment(disk, home);
  const live = liveStatus(world, home);
  const { state, since, dialAt } = live ?? { state: "Disconnected", since: null, dialAt: null };
  const until = (certificate: string | undefined) => {
    const life = certificate === undefined ? undefined : certificates.lifeOf(certificate);
    return life === undefined ? null : new Date(life.notAfter).toISOString();
  };
  const seen: Seen = {
    ...{ enrolled: enrolment !== undefined, relay: relayOf(enrolment), id: enrolment?.id ?? null },
    ...{ wanted: isTunnelWanted(disk, home) ? "on" : "off", state, since, dialAt },
    why: enrolment === undefined ? "" : (live?.why ?? whyNone(disk, home)),
    url: live === undefined || live.url === "" ? null : live.url,
    certificateUntil: until(enrolment?.certificate),
    authorityUntil: until(enrolment?.authority),
  };
  return { ...seen, next: nextOf(seen, readSafeMode(disk, home).active) };
}

/** TV1 */
function liveStatus({ disk, processes }: TunnelViewWorld, home: string): TunnelStatus | undefined {
  const status = readTunnelStatus(disk, home);
  return status !== undefined && processes.startTime(status.pid) !== undefined ? status : undefined;
}

function whyNone(disk: Disk, home: string): string {
  return readSafeMode(disk, home).active ? "Holdfast is in safe mode." : "The web host does not run.";
}

function relayOf(enrolment: Enrolment | undefined): string | null {
  return enrolment === undefined ? null : `${enrolment.relay.host}:${enrolment.relay.port}`;
}

type Seen = Omit<WebTunnelView, "next">;

/** Empty if there is nothing to do. */
function nextOf({ enrolled, wanted, state, since }: Seen, isSafe: boolean): string {
  if (!enrolled) return "`holdfast tunnel enroll` connects this home with a relay.";
  if (state === "Ended") return "Enrol again, with a new token: `holdfast tunnel enroll`";
  if (wanted === "off") return "`holdfast tunnel on` connects it again.";
  if (isSafe) return "It is off in safe mode: `holdfast safe-mode exit`";
  if (since === null) return "`holdfast up`";
  if (state === "Connected") return "";
  return "It tries again by itself. `holdfast doctor` checks the clock, the certificate and the way to the relay.";
}
