// Sends a notification over HTTPS to where a browser or the operator said, and trusts neither.
// PO1. The address that was judged is the one that is used (NW1 of world/network.ts): a name that leads to this machine
//      or its neighbours is refused, also if it did not a moment ago. Exceptions are in `[push] allow`.
// PO2. No redirect is followed. Of the response only the head is read, up to a size, and never the body; a connection
//      is used once. Everything together has one time limit, whatever the other side does.
// PO3. What was not sent for sure is "refused"; once a byte of it has left, it may have arrived: "lost".
import { isFault } from "../../base/fault.ts";
import { hostIn, isListed, mayReach } from "../../wire/proxy/egress.ts";
import { type ResponseHead, responseIn } from "../../wire/push/response.ts";
import type { Clock } from "../../world/clock.ts";
import type { Network } from "../../world/network.ts";
import type { Connection } from "../../world/socket.ts";

/** Push services answer within a second. */
const MAX_MS = 15_000;
const MAX_HEAD = 16 << 10;
const HTTPS = 443;
const HTTP = 80;

export type PostPorts = { readonly network: Network; readonly clock: Clock; readonly allow: readonly string[] };

export type Outgoing = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

export type Posted =
  | ({ readonly kind: "answered" } & ResponseHead)
  /** PO3 */
  | { readonly kind: "refused" | "lost"; readonly why: string };

type Place = { readonly url: URL; readonly host: string; readonly port: number; readonly isListed: boolean };

/** Why nothing is ever sent there; undefined if it may be. A name that has no address now may get one. */
export async function whyNever(ports: PostPorts, url: string): Promise<string | undefined> {
  const place = placeOf(ports, url);
  if (typeof place === "string") return place;
  const found = await resolved(ports, place);
  return found.length > 0 && permitted(ports, place, found).length === 0 ? notPublic(place, found) : undefined;
}

/** `stopped`: resolves if it is not wanted any more. */
export async function post(ports: PostPorts, out: Outgoing, stopped: Promise<void>): Promise<Posted> {
  const place = placeOf(ports, out.url);
  if (typeof place === "string") return { kind: "refused", why: place };
  const tooLate = Promise.withResolvers<void>();
  const cancel = ports.clock.after(MAX_MS, tooLate.resolve);
  try {
    return await new Exchange(ports, place, out).run(Promise.race([stopped, tooLate.promise]));
  } finally {
    cancel();
  }
}

/** One request on one connection. */
class Exchange {
  readonly #ports: PostPorts;
  readonly #place: Place;
  readonly #out: Outgoing;
  readonly #done = Promise.withResolvers<Posted>();
  #connection: Connection | undefined;
  #isOver = false;
  #text = "";

  constructor(ports: PostPorts, place: Place, out: Outgoing) {
    this.#ports = ports;
    this.#place = place;
    this.#out = out;
  }

  async run(given: Promise<void>): Promise<Posted> {
    void given.then(() => this.#end({ kind: this.#unanswered, why: "there was no reply in time" }));
    void this.#begin().catch((error: unknown) => {
      if (isFault(error)) this.#end({ kind: "refused", why: error.message });
      else this.#done.reject(error);
    });
    return this.#done.promise;
  }

  /** PO3 */
  get #unanswered(): "refused" | "lost" {
    return this.#connection === undefined ? "refused" : "lost";
  }

  async #begin(): Promise<void> {
    const { network } = this.#ports;
    const { url, host, port } = this.#place;
    const found = await resolved(this.#ports, this.#place);
    if (found.length === 0) return this.#end({ kind: "refused", why: `${host} has no address` });
    const [address] = permitted(this.#ports, this.#place, found);
    if (address === undefined) return this.#end({ kind: "refused", why: notPublic(this.#place, found) });
    const tls = url.protocol === "https:" ? host : undefined;
    const connection = await network.connect(
      { address, port, tls },
      {
        bytes: (bytes) => this.#bytes(bytes),
        closed: () => this.#end({ kind: this.#unanswered, why: "the connection was closed without a reply" }),
      },
    );
    if (this.#isOver) return connection.destroy(); // PO2
    this.#connection = connection;
    connection.send(headOf(this.#place, this.#out));
    connection.send(this.#out.body);
  }

  #bytes(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#text += Buffer.from(bytes).toString("latin1");
    const head = responseIn(this.#text);
    if (head !== undefined && head !== "wrong") this.#end({ kind: "answered", ...head });
    else if (head === "wrong" || this.#text.length > MAX_HEAD)
      this.#end({ kind: "lost", why: "it does not speak HTTP" });
  }

  #end(posted: Posted): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#connection?.destroy();
    this.#done.resolve(posted);
  }
}

function placeOf({ allow }: PostPorts, text: string): Place | string {
  const url = URL.parse(text);
  if (url === null) return "its address is none";
  const isSecure = url.protocol === "https:";
  const found = hostIn(url.host, isSecure ? HTTPS : HTTP);
  if (found === undefined || (!isSecure && url.protocol !== "http:")) return "its address is none";
  const listed = isListed(allow, found);
  if (!isSecure && !listed) return `http:// is used only for what [push] allow lists (${found.host}:${found.port})`;
  return { url, ...found, isListed: listed };
}

/** PO1 */
function permitted({ network, allow }: PostPorts, place: Place, found: readonly string[]): string[] {
  const own = network.own();
  return found.filter((host) => place.isListed || mayReach(allow, { host, port: place.port }, own));
}

async function resolved({ network }: PostPorts, { host }: Place): Promise<readonly string[]> {
  try {
    return await network.resolve(host);
  } catch (error) {
    if (isFault(error)) return [];
    throw error;
  }
}

function notPublic({ host, port }: Place, [address]: readonly string[]): string {
  return `${host} leads to ${address}, which is not a public address: list ${host}:${port} in [push] allow if it is yours`;
}

function headOf({ url, host, port }: Place, { headers, body }: Outgoing): Uint8Array {
  const name = host.includes(":") ? `[${host}]` : host;
  const usual = url.protocol === "https:" ? HTTPS : HTTP;
  const all = { Host: port === usual ? name : `${name}:${port}`, ...headers };
  const lines = Object.entries(all).map(([key, value]) => `${key}: ${value}\r\n`);
  const length = `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  return Buffer.from(`POST ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join("")}${length}`);
}
