// Answers for browsers: the page's files at the host name of each home, and the WebSocket that leads to that home.
// BR1. The host name picks the home: <label>.<domain>. Any other name, and a home that is revoked, gets a bare 404: it
//      says nothing about who is enrolled.
// BR2. Only the page of the same host may open the WebSocket, and those of origins that the operator has named: pages
//      that were exported (`holdfast page export`), and whose code does not come from here.
// BR3. The client's address is the connection's; behind a reverse proxy, the last one that the proxy has added.
// BR4. Requests, and tabs, are limited: for each address, for each home, and in all.
import type { Records } from "../core/relay/records.ts";
import { TAB_CLOSED, TUNNEL_SOCKET_PATH } from "../wire/tunnel/browser.ts";
import type { Answered, HttpResponse, HttpUpgrade, PublicRequest } from "../world/http.ts";
import { NONCE_BYTES, page, plain, served } from "../world/page-answers.ts";
import type { Homes } from "./homes.ts";
import { AddressLimit } from "./pace.ts";
import type { RelayWorld } from "./ports.ts";
import { Tab } from "./tab.ts";

const MAX_TARGET = 2048;
const API = "/api/";
/** BR4. A page has some ten files, and people have some tabs; an office has one address. */
const REQUESTS = { count: 600, windowMs: 60_000 };
const MAX_TABS_OF_HOME = 128;
const MAX_TABS = 2_000;
const NOTHING = "There is nothing here.";

export type BrowsersOptions = {
  /** With its port, if browsers see one. */
  readonly domain: string;
  /** Whether a reverse proxy is before us (BR3). */
  readonly behindProxy: boolean;
  /** BR2 */
  readonly origins: readonly string[];
  readonly homes: Homes;
  records(): Records;
};

export class Browsers {
  readonly #world: Pick<RelayWorld, "random" | "files">;
  readonly #options: BrowsersOptions;
  readonly #requests: AddressLimit;
  #tabs = 0;

  constructor(world: Pick<RelayWorld, "clock" | "random" | "files">, options: BrowsersOptions) {
    this.#world = world;
    this.#options = options;
    this.#requests = new AddressLimit(world.clock, REQUESTS.count, REQUESTS.windowMs);
  }

  get tabs(): number {
    return this.#tabs;
  }

  async answer(request: PublicRequest): Promise<Answered> {
    if (!this.#requests.count(this.#addressOf(request))) return plain(429, "Too many requests. Wait a minute."); // BR4
    if (request.target.length > MAX_TARGET) return plain(414, "This address is too long.");
    const host = request.header("host") ?? "";
    const home = this.#homeAt(host);
    if (home === undefined) return plain(404, NOTHING); // BR1
    if (request.method !== "GET") return notGet();
    const path = new URL(request.target, "http://localhost").pathname;
    if (path === TUNNEL_SOCKET_PATH) return this.#socket(request, host, home);
    return path.startsWith(API) ? plain(404, NOTHING) : this.#file(request, path);
  }

  async #file(request: PublicRequest, path: string): Promise<HttpResponse> {
    const file = (await this.#world.files()).get(path);
    if (file === undefined) return plain(404, NOTHING);
    return path === "/" ? page(file, this.#world.random.bytes(NONCE_BYTES)) : served(request, file);
  }

  /** BR3 */
  #addressOf(request: PublicRequest): string {
    const added = this.#options.behindProxy ? request.header("x-forwarded-for")?.split(",").at(-1)?.trim() : undefined;
    return added === undefined || added === "" ? request.address : added;
  }

  /** BR1. The id of the home that this host name is for. */
  #homeAt(host: string): string | undefined {
    const [name = ""] = host.toLowerCase().split(":");
    const [domain = ""] = this.#options.domain.toLowerCase().split(":");
    if (!name.endsWith(`.${domain}`)) return undefined;
    const { byLabel, homes } = this.#options.records();
    const home = homes.get(byLabel.get(name.slice(0, -domain.length - 1)) ?? "");
    return home?.revokedAt === null ? home.id : undefined;
  }

  #socket(request: PublicRequest, host: string, home: string): Answered {
    return this.#isOurs(request.header("origin") ?? "", host)
      ? this.#upgrade(home)
      : plain(403, "Only the page may ask for this.");
  }

  /** BR2 */
  #isOurs(from: string, host: string): boolean {
    const { behindProxy, origins } = this.#options;
    if (origins.includes(from)) return true;
    const origin = URL.parse(from);
    const schemes = behindProxy ? ["https:", "http:"] : ["https:"];
    return origin?.host === host.toLowerCase() && schemes.includes(origin.protocol);
  }

  #upgrade(home: string): HttpUpgrade {
    const accept: HttpUpgrade["accept"] = (socket) => {
      const link = this.#options.homes.of(home);
      const isFull = this.#tabs >= MAX_TABS || (link?.tabs ?? 0) >= MAX_TABS_OF_HOME; // BR4
      if (link !== undefined && !isFull) {
        this.#tabs += 1;
        return new Tab(socket, link, () => {
          this.#tabs -= 1;
        });
      }
      if (link === undefined) socket.close(TAB_CLOSED.away, "This home is not connected to the relay.");
      else socket.close(TAB_CLOSED.full, "There are too many tabs.");
      return { message: () => undefined, closed: () => undefined };
    };
    return { accept };
  }
}

function notGet(): HttpResponse {
  const refusal = plain(405, "Only GET is answered here.");
  return { ...refusal, headers: { ...refusal.headers, allow: "GET" } };
}
