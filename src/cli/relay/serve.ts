// `holdfast relay serve`: runs the relay as a separate program with our standard streams, and returns its exit code.
import { exitCodeOf } from "../../base/exit-code.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import {
  decodeSettings,
  encodeSettings,
  isLoopback,
  listenAddress,
  type RelaySettings,
} from "../../wire/relay/serve.ts";
import { type Console, END_SIGNALS } from "../../world/console.ts";
import { runInOurPlace } from "../../world/real/in-our-place.ts";
import { realProgram } from "../../world/real/program.ts";
import { EARLY_COMPILERS } from "../../world/self.ts";
import type { Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { HomeFlags } from "../flags.ts";
import { relayHome } from "./home.ts";

const DAY_MS = 86_400_000;
const HEARTBEAT_MS = 15_000;
const LISTEN = "0.0.0.0:7443";

export type ServeFlags = HomeFlags & {
  readonly domain: string;
  readonly host?: readonly string[];
  readonly listen?: string;
  readonly https?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly http?: string;
  readonly allowOrigin?: readonly string[];
  readonly life?: number;
  readonly grace?: number;
  readonly heartbeat?: number;
};

export function settingsOf(console: Console, flags: ServeFlags): Result<RelaySettings> {
  const home = relayHome(console, flags.home);
  if (!home.ok) return home;
  const { domain, listen = LISTEN, life = 30 * DAY_MS, grace = 30 * DAY_MS, heartbeat = HEARTBEAT_MS } = flags;
  const hosts = flags.host === undefined || flags.host.length === 0 ? [domain.replace(/:\d+$/, "")] : flags.host;
  const browsers = browsersOf(console, flags);
  if (!browsers.ok) return browsers;
  const origins = (flags.allowOrigin ?? []).map((text) => URL.parse(text)?.origin ?? text);
  const spans = { lifeMs: life, graceMs: grace, heartbeatMs: heartbeat };
  const settings = { home: home.value, domain, hosts, listen, ...browsers.value, origins, ...spans };
  // The relay reads them in the same way.
  if (decodeSettings(encodeSettings(settings)) !== undefined) return ok(settings);
  return refused(
    "usage",
    "One of the names or addresses cannot be used.",
    "An address is a number and a port: 0.0.0.0:7443. An origin is https://page.example.org",
  );
}

function browsersOf(
  console: Console,
  { https, http, cert, key }: ServeFlags,
): Result<Pick<RelaySettings, "https" | "http">> {
  const hint = "Give --https ADDRESS --cert FILE --key FILE; or --http 127.0.0.1:8080, behind a reverse proxy.";
  if (http !== undefined && https === undefined) {
    const at = listenAddress(http);
    if (at !== undefined && isLoopback(at)) return ok({ http });
    return refused("usage", "Plain HTTP is only served on loopback.", hint);
  }
  if (https === undefined || http !== undefined || cert === undefined || key === undefined)
    return refused("usage", "It is not clear how browsers are to be served.", hint);
  return ok({ https: { at: https, certificate: console.absolute(cert), key: console.absolute(key) } });
}

async function serve({ console, self }: DaemonCommandWorld, flags: ServeFlags): Promise<Exit> {
  const settings = settingsOf(console, flags);
  if (!settings.ok) return settings;
  const argv = self.command("src/relay/main.ts", encodeSettings(settings.value));
  const child = runInOurPlace({ argv, cwd: "/", env: { ...self.environment(), ...EARLY_COMPILERS } });
  const program = realProgram();
  for (const signal of END_SIGNALS) program.onSignal(signal, () => child.signal(signal)); // It ends first, then we do.
  const ending = await child.ended;
  return ok(ending.kind === "exited" ? ending.code : exitCodeOf({ code: null, signal: ending.signal }));
}

export const serveCommand = withDaemonWorld<ServeFlags, []>(serve);
