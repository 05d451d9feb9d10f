// The web host: listens, publishes its address, and answers. It is an
// ordinary client of the daemon; it may die at any moment without loss.
// W1. `run/web.json` names an address only once it answers.
// W2. An open page finds the next host: the port of the last one is used if it is free, and the token stays.
// W3. If a requested port is taken, the host waits for it: a restart would not free it.
import { backoffMs } from "../base/backoff.ts";
import { isFault } from "../base/fault.ts";
import { readSafeMode } from "../home/safe-mode.ts";
import { decodeLine } from "../wire/lines.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import { crc32, hex8 } from "../world/hash.ts";
import type { Http, HttpListener } from "../world/http.ts";
import type { Processes } from "../world/process.ts";
import type { Random } from "../world/random.ts";
import type { Sockets } from "../world/socket.ts";
import { answer } from "./answers.ts";
import { DaemonLink } from "./daemon-link.ts";
import { accessToken, readText, replaceSmall } from "./files.ts";
import type { Access } from "./guard.ts";
import { type StatusView, safeModeView } from "./status-view.ts";

export type HostWorld = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  readonly processes: Processes;
  readonly sockets: Sockets;
  readonly http: Http;
};

export type HostOptions = {
  readonly home: string;
  /** 0: any free port. */
  readonly port: number;
  /** For the log that people read. */
  readonly say: (words: string) => void;
};

export type WebHost = {
  readonly url: string;
  /** Puts the address and its token back if they were removed. */
  keep(): void;
  close(): Promise<void>;
};

export async function startHost(world: HostWorld, options: HostOptions): Promise<WebHost> {
  const { disk, clock, processes, sockets } = world;
  const { home, say } = options;
  const link = new DaemonLink({
    dial: (events) => sockets.connect(`${home}/run/daemon.sock`, events),
    token: () => readText(disk, `${home}/run/token`),
    clock,
  });
  const look = async (): Promise<StatusView> => {
    const daemon = await link.look();
    return {
      at: new Date(clock.now()).toISOString(),
      daemon,
      safeMode: safeModeView(readSafeMode(disk, home), daemon),
    };
  };
  const { listener, url } = await listen(world, options, look);
  const address = `${JSON.stringify({ v: 1, pid: processes.pid, url })}\n`;
  replaceSmall(disk, `${home}/run/web.json`, address); // W1
  say(`serves this home's page on port ${listener.port}`);
  const close = async () => {
    link.close();
    await listener.close();
  };
  const keep = () => {
    if (disk.stat(`${home}/run/web.json`) === undefined) replaceSmall(disk, `${home}/run/web.json`, address);
    const token = new URL(url).searchParams.get("t") ?? "";
    if (disk.stat(`${home}/run/web-token`) === undefined) replaceSmall(disk, `${home}/run/web-token`, `${token}\n`);
  };
  return { url, keep, close };
}

type Listening = { readonly listener: HttpListener; readonly url: string };

async function listen(
  world: HostWorld,
  { home, port, say }: HostOptions,
  look: () => Promise<StatusView>,
): Promise<Listening> {
  const token = accessToken(world.disk, world.random, `${home}/run/web-token`);
  // Cookies are shared between ports: two homes on one machine must not overwrite each other's.
  const access = { token, cookie: `holdfast-${hex8(crc32(home))}` };
  const bind = (at: number): HttpListener => {
    const listener: HttpListener = world.http.listen(
      { port: at, failed: (error) => say(`an answer failed: ${String(error)}`) },
      (request) => answer(request, { ...access, port: listener.port } satisfies Access, look),
    );
    return listener;
  };
  const listener = port === 0 ? bindFree(bind, lastPort(world.disk, home)) : await bindWaiting(world, bind, port, say);
  return { listener, url: `http://127.0.0.1:${listener.port}/?t=${token}` };
}

/** W2. */
function bindFree(bind: (port: number) => HttpListener, last: number): HttpListener {
  try {
    return bind(last);
  } catch (error) {
    if (!isFault(error)) throw error;
    return bind(0);
  }
}

function lastPort(disk: Disk, home: string): number {
  const url = decodeLine(readText(disk, `${home}/run/web.json`) ?? "")?.["url"];
  return typeof url === "string" && URL.canParse(url) ? Number(new URL(url).port) : 0;
}

/** W3. */
async function bindWaiting(
  { clock, random }: HostWorld,
  bind: (port: number) => HttpListener,
  port: number,
  say: (words: string) => void,
): Promise<HttpListener> {
  for (let failures = 1; ; failures += 1) {
    try {
      return bind(port);
    } catch (error) {
      if (!isFault(error)) throw error;
      const wait = backoffMs(failures, random.fraction());
      say(`cannot listen on port ${port} (${error.code}); retrying in ${wait} ms; [web] port configures it`);
      await new Promise<void>((done) => clock.after(wait, done));
    }
  }
}
