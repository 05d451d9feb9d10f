// The web host: listens, publishes its address, and connects pages with the daemon and with terminals' holders. It
// keeps nothing; it may die at any moment without loss.
// W1. `run/web.json` names an address only once it answers.
// W2. An open page finds the next host: the port of the last one is used if it is free.
// W3. If a requested port is taken, the host waits for it: a restart would not free it.
// W4. Tabs are limited, in all and for each browser; those that have not said hello keep no one out.
// W5. If the page cannot be built from its sources, the next host tries: Bun remembers a directory that could not be
//     read once for as long as the process lives.
import { backoffMs } from "../base/backoff.ts";
import { isFault } from "../base/fault.ts";
import { type PlaceLimits, Places } from "../base/places.ts";
import { DAEMON_SOCKET, TOKEN, WEB_ADDRESS } from "../home/layout.ts";
import type { Config } from "../wire/files/config-schema.ts";
import { decodeLine, MAX_LINE } from "../wire/lines.ts";
import type { WireEvents } from "../wire/rpc/client.ts";
import type { Certificates } from "../world/certificates.ts";
import type { Children } from "../world/children.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import type { Answered, Http, HttpListener, HttpRequest, WebSocketConnection, WebSocketEvents } from "../world/http.ts";
import type { Machine } from "../world/machine.ts";
import type { PageFiles } from "../world/page-files.ts";
import type { Processes } from "../world/process.ts";
import type { Random } from "../world/random.ts";
import { pageFiles } from "../world/real/page-files.ts";
import type { Self } from "../world/self.ts";
import type { Sockets } from "../world/socket.ts";
import { answer } from "./answers.ts";
import { Browsers } from "./browsers.ts";
import { readText, replaceSmall } from "./files.ts";
import { ownMethods } from "./own-methods.ts";
import { PageSocket, type SocketPorts } from "./page-socket.ts";

/** W4. A person has some tabs on a few machines. Each needs a connection to the daemon, which has 512. */
const PLACES: PlaceLimits = { all: 128, silent: 32, guests: 128, guest: 32 };

export type HostWorld = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  readonly processes: Processes;
  readonly children: Children;
  readonly sockets: Sockets;
  readonly http: Http;
  readonly self: Self;
  readonly machine: Machine;
  readonly certificates: Certificates;
  /** Undefined: this host is in no fleet. */
  fleet(): Config["fleet"] | undefined;
};

export type HostOptions = {
  readonly home: string;
  /** 0: any free port. */
  readonly port: number;
  /** For the log that people read. */
  readonly say: (words: string) => void;
  /** W5 */
  readonly giveUp?: (why: string) => void;
  /** The page's; its own if absent. */
  readonly files?: () => Promise<PageFiles>;
};

export type WebHost = {
  readonly url: string;
  readonly browsers: Browsers;
  readonly tabs: Tabs;
  /** Puts the address back if it was removed. */
  keep(): void;
  close(): Promise<void>;
};

export async function startHost(world: HostWorld, options: HostOptions): Promise<WebHost> {
  const { disk, clock, random, processes, sockets } = world;
  const { home, say } = options;
  const dial = (events: WireEvents) => sockets.connect(`${home}/${DAEMON_SOCKET}`, events);
  const browsers = new Browsers({ ...{ disk, clock, home, dial }, token: () => readText(disk, `${home}/${TOKEN}`) });
  const failed = (error: unknown) => say(`an answer failed: ${String(error)}`);
  const socket = tabs({ ...world, home }, { browsers, dial, failed });
  const files = () =>
    (options.files ?? pageFiles)().catch((error: unknown) => {
      options.giveUp?.(`the page could not be built: ${String(error)}`); // W5
      throw error;
    });
  const ports = { browsers, files, random: random.bytes, socket };
  const listener = await listen(world, options, (request, port) => answer(request, { port, ...ports }));
  const url = `http://127.0.0.1:${listener.port}/`;
  const address = `${JSON.stringify({ v: 1, pid: processes.pid, url })}\n`;
  replaceSmall(disk, `${home}/${WEB_ADDRESS}`, address); // W1
  say(`serves this home's page on port ${listener.port}`);
  const keep = () => {
    if (disk.stat(`${home}/${WEB_ADDRESS}`) === undefined) replaceSmall(disk, `${home}/${WEB_ADDRESS}`, address);
  };
  return { url, browsers, tabs: socket, keep, close: () => listener.close() };
}

/** Takes tabs, from wherever they come; `browsers`: those that may come this way. */
export type Tabs = {
  /** A notice of our own, for every tab. */
  tell(topic: string): void;
  accept(socket: WebSocketConnection, browsers?: SocketPorts["browsers"]): WebSocketEvents;
};

/** W4 */
function tabs(
  world: HostWorld & { readonly home: string },
  ports: Pick<SocketPorts, "browsers" | "dial" | "failed">,
): Tabs {
  const places = new Places<PageSocket>(PLACES);
  const methods = ownMethods(world);
  const accept: Tabs["accept"] = (socket, browsers = ports.browsers) => {
    const tab = new PageSocket(socket, {
      ...{ world, ...ports, browsers },
      sit: (one, browser) => places.sit(one, browser),
      leave: (one) => places.leave(one),
      own: (method, params, link) => methods[method](params, link),
    });
    places.enter(tab);
    return tab;
  };
  const tell: Tabs["tell"] = (topic) => {
    for (const tab of places.seated) tab.notice({ topic, data: null });
  };
  return { accept, tell };
}

async function listen(
  world: HostWorld,
  { home, port, say }: HostOptions,
  respond: (request: HttpRequest, port: number) => Promise<Answered>,
): Promise<HttpListener> {
  const bind = (at: number): HttpListener => {
    const listener: HttpListener = world.http.listen(
      { port: at, maxMessage: MAX_LINE, failed: (error) => say(`an answer failed: ${String(error)}`) },
      (request) => respond(request, listener.port),
    );
    return listener;
  };
  return port === 0 ? bindFree(bind, lastPort(world.disk, home)) : bindWaiting(world, bind, port, say);
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
