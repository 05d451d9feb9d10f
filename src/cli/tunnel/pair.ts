// `holdfast pair`: a link that lets one device reach this home through its relay.
// PA1. The daemon makes the secret, and refuses agents. It is only printed; it is behind the #, which is sent nowhere.
import { ok, type Result, refused } from "../../base/result.ts";
import type { DeviceRights } from "../../core/devices.ts";
import { readDeviceKey } from "../../home/tunnel-files.ts";
import { onDaemon } from "../client.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { printJson, say } from "../print.ts";
import { originIn } from "../system/page-export.ts";
import { tunnelOf } from "./status.ts";

export type PairFlags = DataFlags & { readonly rights: DeviceRights; readonly name?: string; readonly page?: string };

const BASE64URL = { alphabet: "base64url", omitPadding: true } as const;

async function pair(world: DaemonCommandWorld, flags: PairFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const { enrolled, url } = tunnelOf(world, home.value);
  const key = readDeviceKey(world.disk, home.value);
  if (!enrolled) return refused("not-enrolled", "This home is not enrolled at a relay.", "holdfast tunnel enroll");
  if (url === null || key === undefined)
    return refused("not-connected", "This home is not connected to its relay.", "holdfast tunnel status says why.");
  const { rights, name = "paired device" } = flags;
  const at = flags.page === undefined ? ok(url) : pageAddress(flags.page);
  if (!at.ok) return at;
  const made = await onDaemon(world, home.value, (client) => client.call("device.pair", { rights, name }));
  if (!made.ok) return made;
  const [secret, home32] = [made.value.secret, key.publicKey].map((hex) => Uint8Array.fromHex(hex).toBase64(BASE64URL));
  const link = { url: `${at.value}#pair=${secret}.${home32}`, rights, until: made.value.until };
  if (flags.json === true) await printJson(world.console, link);
  else {
    if (world.console.err.tty) await world.console.err.write(`${await pictureOf(link.url)}\n`);
    await world.console.out.write(`${link.url}\n`);
    await say(world.console, `open it on the device. It works once, until ${link.until}.`);
  }
  return ok(EXIT.ok);
}

/** An exported page may be below a directory. */
function pageAddress(text: string): Result<string> {
  const origin = originIn(text);
  return origin.ok ? ok(new URL(new URL(text).pathname, origin.value).href) : origin;
}

/** For a phone's camera. The package is loaded only here. */
async function pictureOf(url: string): Promise<string> {
  const { renderUnicodeCompact } = await import("uqr");
  return renderUnicodeCompact(url, { border: 2 });
}

export const pairCommand = withDaemonWorld(pair);
