// The relay: homes connect to it over mutual TLS, browsers over HTTPS, and it joins them. It reads nothing of what
// passes, and keeps who is enrolled and who is revoked.
// RY1. One for each home directory: the lock is the system's. A directory that is something else's is left alone.
// RY2. Commands can ask, and homes and browsers connect, only once the records are read.
// RY3. The certificate for homes is renewed long before it ends; the one for browsers is read again on request.
import { ok, type Result, refused } from "../base/result.ts";
import { makeDirectories } from "../log/file/file.ts";
import { type Held, takeLock } from "../log/file/lock.ts";
import { DESK_SOCKET, type RelayStatus } from "../wire/relay/desk.ts";
import { isLoopback, type ListenAddress, listenAddress, type RelaySettings } from "../wire/relay/serve.ts";
import type { PublicListener } from "../world/http.ts";
import { identify } from "../world/process.ts";
import type { TunnelListener } from "../world/tunnel.ts";
import { Authority } from "./authority.ts";
import { Browsers } from "./browsers.ts";
import { Desk, timeText } from "./desk.ts";
import { EnrolmentDesk } from "./enrolment.ts";
import { Homes } from "./homes.ts";
import { AddressLimit, Pacer } from "./pace.ts";
import type { RelayWorld, Say } from "./ports.ts";
import { RecordsStore } from "./records-store.ts";
import { readTls } from "./tls-files.ts";

const LOCK = "relay.lock";
/** Connections of homes from one address: an office, or a relay's own restart, has many. */
const CONNECTIONS = { count: 600, windowMs: 60_000 };
/** Of TLS; after it a home has as long to show who it is (HL3 of home-link.ts). */
const HANDSHAKE_MS = 10_000;
/** Larger than any message of a page, which are encrypted in pieces of 64 KiB. */
const MAX_MESSAGE = 128 << 10;
/** RY3. How long before its end, and how often that is looked at. */
const RENEW_MS = 30 * 86_400_000;
const LOOK_MS = 3_600_000;

export type Relay = {
  /** Resolves with the reason when its log has stopped for good. */
  readonly halted: Promise<unknown>;
  /** RY3 */
  rereadCertificate(): void;
  close(): Promise<void>;
};

type Site = { readonly world: RelayWorld; readonly settings: RelaySettings; readonly say: Say };

export async function startRelay(site: Site): Promise<Result<Relay>> {
  const { world, settings } = site;
  const lock = takeHome(world, settings.home);
  if (!lock.ok) return lock;
  const [tunnelAt, browsersAt] = [
    listenAddress(settings.listen),
    listenAddress(settings.https?.at ?? settings.http ?? ""),
  ];
  if (tunnelAt === undefined || browsersAt === undefined) return NOWHERE;
  if (settings.https === undefined && !isLoopback(browsersAt)) return NOT_PLAINLY;
  const store = await RecordsStore.open({ disk: world.disk, clock: world.clock, home: settings.home });
  if (!store.ok) return store;
  const authority = await Authority.open(world, settings.home);
  if (!authority.ok) return authority;
  const parts = { store: store.value, authority: authority.value, lock: lock.value, tunnelAt, browsersAt };
  return ok(await serve(site, parts));
}

const NOWHERE = refused(
  "usage",
  "There is no address to listen on for browsers.",
  "Give --https with --cert and --key, or --http.",
);
const NOT_PLAINLY = refused(
  "usage",
  "Without a certificate, browsers are only served on loopback.",
  "Give --https with --cert and --key; or --http 127.0.0.1:8080, behind a reverse proxy.",
);

/** RY1 */
function takeHome({ disk, clock, processes }: RelayWorld, home: string): Result<Held> {
  makeDirectories(disk, home);
  const isStrange = disk.stat(`${home}/${LOCK}`) === undefined && disk.list(home).length > 0;
  const hint = "Give another directory with --home.";
  if (isStrange) return refused("not-ours", `${home} has files that are not a relay's.`, hint);
  const who = identify(processes, processes.pid);
  if (who === undefined) return refused("no-proc", "The relay cannot find its own process in /proc.", "Mount /proc.");
  return takeLock({ disk, clock }, `${home}/${LOCK}`, who);
}

type Parts = {
  readonly store: RecordsStore;
  readonly authority: Authority;
  readonly lock: Held;
  readonly tunnelAt: ListenAddress;
  readonly browsersAt: ListenAddress;
};

async function serve({ world, settings, say }: Site, parts: Parts): Promise<Relay> {
  const { store, authority, tunnelAt, browsersAt } = parts;
  const { clock, disk } = world;
  const urlOf = (id: string) => urlIn(settings, store.records.homes.get(id)?.label ?? "");
  const { lifeMs, graceMs, heartbeatMs } = settings;
  const enrolment = new EnrolmentDesk(world, { store, authority, lifeMs });
  const shared = { store, desk: enrolment, heartbeatMs, graceMs, say, urlOf };
  const homes = new Homes(clock, { ...shared, authority: authority.certificate });
  const browsers = new Browsers(world, {
    ...{ domain: settings.domain, behindProxy: settings.https === undefined, homes },
    origins: settings.origins ?? [],
    records: () => store.records,
  });
  const tunnel = await listenForHomes(world, { authority, hosts: settings.hosts, at: tunnelAt, homes });
  const tls = settings.https && readTls(disk, settings.https);
  const failed = (error: unknown) => say(`an answer failed: ${String(error)}`);
  const http = world.http.listen({ ...browsersAt, maxMessage: MAX_MESSAGE, failed, ...(tls && { tls }) }, (request) =>
    browsers.answer(request),
  );
  const status = (): RelayStatus => ({
    ...{ pid: world.processes.pid, home: settings.home, domain: settings.domain, hosts: settings.hosts },
    tunnel: { host: tunnelAt.host, port: tunnel.listener.port },
    browsers: { host: browsersAt.host, port: http.port, tls: tls !== undefined },
    homes: { ...counted(store), connected: homes.count },
    tabs: browsers.tabs,
    authority: { hash: authority.hash, until: timeText(authority.life.notAfter) },
    certificateUntil: timeText(tunnel.until()),
  });
  const desk = new Desk({ clock, store, enrolment, homes, urlOf, status });
  const socket = await world.sockets.listen(`${settings.home}/${DESK_SOCKET}`, (connection) => desk.accept(connection));
  say(`homes connect to port ${tunnel.listener.port}, browsers to port ${http.port}`);
  const close = async () => {
    socket.close();
    tunnel.stop();
    homes.close();
    await http.close();
    await store.close();
    parts.lock.release();
  };
  return { halted: store.halted, close, rereadCertificate: () => reread({ world, settings, say }, http) };
}

function counted({ records }: RecordsStore): { readonly enrolled: number; readonly revoked: number } {
  const all = [...records.homes.values()];
  const revoked = all.filter(({ revokedAt }) => revokedAt !== null).length;
  return { enrolled: all.length - revoked, revoked };
}

function urlIn({ domain, http }: RelaySettings, label: string): string {
  const [name = ""] = domain.split(":");
  const isHere = http !== undefined && /(?:^|\.)localhost$/i.test(name);
  return `${isHere ? "http" : "https"}://${label}.${domain}/`;
}

type ForHomes = {
  readonly authority: Authority;
  readonly hosts: readonly string[];
  readonly at: ListenAddress;
  readonly homes: Homes;
};
type HomesListener = { readonly listener: TunnelListener; until(): number; stop(): void };

async function listenForHomes({ clock, tunnels }: RelayWorld, given: ForHomes): Promise<HomesListener> {
  const { authority, hosts, at, homes } = given;
  const [pacer, addresses] = [new Pacer(clock), new AddressLimit(clock, CONNECTIONS.count, CONNECTIONS.windowMs)];
  let server = await authority.server(hosts);
  const options = { ...server, ...at, authority: authority.certificate };
  const greets = (address: string) => !pacer.isFull && addresses.count(address);
  const listener = await tunnels.listen(
    { ...options, handshakeMs: HANDSHAKE_MS, greets, admit: () => pacer.next() },
    (peer, tunnel) => homes.accept(peer, tunnel),
  );
  let stopLooking: () => void = () => undefined;
  const look = async () => {
    if (clock.now() > server.notAfter - RENEW_MS) {
      server = await authority.server(hosts); // RY3
      listener.renew(server);
    }
    stopLooking = clock.after(LOOK_MS, () => void look());
  };
  stopLooking = clock.after(LOOK_MS, () => void look());
  const stop = () => {
    stopLooking();
    listener.close();
  };
  return { listener, until: () => server.notAfter, stop };
}

/** RY3. A file that cannot be used changes nothing. */
function reread({ world, settings, say }: Site, http: PublicListener): void {
  if (settings.https === undefined) return;
  try {
    http.renew(readTls(world.disk, settings.https));
    say("uses the certificate for browsers as it is now");
  } catch (error) {
    say(`keeps its certificate for browsers: ${String(error)}`);
  }
}
