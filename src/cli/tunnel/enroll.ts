// `holdfast tunnel enroll`: makes this home known at a relay.
import { ok, type Result, refused } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { whyNotAllowed } from "../../home/callers.ts";
import { type EnrolAt, enrol } from "../../home/enrol.ts";
import { isTunnelWanted, writeEnrolment, writeTunnelWanted } from "../../home/tunnel-files.ts";
import { realCertificates } from "../../world/real/certificates.ts";
import { realMachine } from "../../world/real/machine.ts";
import { realTunnels } from "../../world/real/tunnel.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { printJson, say } from "../print.ts";

export type EnrollFlags = DataFlags & { readonly name?: string };

const USUAL_PORT = 7443;
const ADDRESS = /^(?:[a-z]+:\/\/)?(\[[0-9a-f:]+\]|[^:/[\]]+)(?::(\d{1,5}))?\/?$/i;

async function enroll(world: DaemonCommandWorld, flags: EnrollFlags, at: string, token: string): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const relay = relayIn(at);
  if (!relay.ok) return relay;
  const refusal = whyNotAllowed(world, home.value, "tunnel enroll");
  if (refusal !== undefined) return { ok: false, error: refusal };
  const doors = { tunnels: realTunnels(), certificates: realCertificates(), clock: world.clock };
  const done = await enrol(doors, relay.value, token, flags.name ?? realMachine().hostName);
  if (!done.ok) return done;
  await writeEnrolment(world.disk, home.value, done.value);
  if (!isTunnelWanted(world.disk, home.value)) await writeTunnelWanted(world.disk, home.value, "on");
  const { host, port } = relay.value;
  if (flags.json === true) await printJson(world.console, { id: done.value.id, relay: `${host}:${port}` });
  else
    await say(
      world.console,
      `this home is enrolled at ${visibleLine(host)}. While Holdfast is up, it connects: holdfast tunnel status`,
    );
  return ok(EXIT.ok);
}

export function relayIn(text: string): Result<EnrolAt> {
  const [, host = "", port = `${USUAL_PORT}`] = ADDRESS.exec(text) ?? [];
  const number = Number(port);
  if (host !== "" && number >= 1 && number <= 65_535) return ok({ host: host.replace(/^\[|\]$/g, ""), port: number });
  return refused(
    "usage",
    `${JSON.stringify(text)} is not the address of a relay.`,
    "For example relay.example.org:7443",
  );
}

export const enrollCommand = withDaemonWorld(enroll);
