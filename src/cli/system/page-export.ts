// `holdfast page export`: the page as files, to be served from elsewhere than the relay. The web host has them, so its
// program writes them.
import { exitCodeOf } from "../../base/exit-code.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { runInOurPlace } from "../../world/real/in-our-place.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { printJson, say } from "../print.ts";
import { tunnelOf } from "../tunnel/status.ts";

export type ExportFlags = DataFlags & { readonly relay?: string };

async function exportPage(world: DaemonCommandWorld, flags: ExportFlags, given: string): Promise<Exit> {
  const { console, self } = world;
  const relay = relayOf(world, flags);
  if (!relay.ok) return relay;
  const directory = console.absolute(given);
  const argv = self.command("src/web/main.ts", "export", directory, relay.value);
  const ending = await runInOurPlace({ argv, cwd: "/", env: self.environment() }).ended;
  const code = ending.kind === "exited" ? ending.code : exitCodeOf({ code: null, signal: ending.signal });
  if (code !== EXIT.ok) return ok(code);
  if (flags.json === true) await printJson(console, { directory, relay: relay.value });
  else await say(console, `the page for ${relay.value} is in ${directory}. Its README.txt says how to serve it.`);
  return ok(EXIT.ok);
}

function relayOf(world: DaemonCommandWorld, { home, relay }: ExportFlags): Result<string> {
  if (relay !== undefined) return originIn(relay);
  const meant = meantHome(world, home);
  if (!meant.ok) return meant;
  const { url } = tunnelOf(world, meant.value);
  if (url !== null) return originIn(url);
  const hint = "`holdfast tunnel status` says why; or give --relay URL, where browsers find this home.";
  return refused("not-connected", "This home is not connected to a relay.", hint);
}

/** The origin of a page that people name. */
export function originIn(text: string): Result<string> {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return ok(url.origin);
  return refused(
    "usage",
    `${JSON.stringify(text)} is not the address of a page.`,
    "For example https://page.example.org/",
  );
}

export const pageExportCommand = withDaemonWorld(exportPage);
