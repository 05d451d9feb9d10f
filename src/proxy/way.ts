// Where a request from a sandbox leads, if anywhere.
// PS1. Nothing is sent to a host before it was found in the list, and nothing to an address before it was judged
//      (wire/proxy/egress.ts). The address that was judged is the one that is used.
// PS2. The operator's own service is where the operator said it is, be that on this machine.
// PS5. If this machine is behind a proxy (wire/proxy/upstream.ts), everything goes through it, by name. A name that
//      leads to a near address is refused all the same; one that has no address here is left to that proxy.
import { isFault } from "../base/fault.ts";
import { type Host, hostIn, isListed, mayReach } from "../wire/proxy/egress.ts";
import { bodyLength, type Onward, onwardHead, type RequestHead, type Route } from "../wire/proxy/head.ts";
import type { ProxyOrder } from "../wire/proxy/order.ts";
import { hopTo, type Via } from "../wire/proxy/upstream.ts";
import type { Network } from "../world/network.ts";

export type WayPorts = { readonly network: Network; readonly order: ProxyOrder };

export type Way = {
  readonly to: Host;
  readonly tls: boolean;
  /** Of the host, or of the proxy before it. */
  readonly addresses: readonly string[];
  readonly via: Via | undefined;
  /** What the other side gets before anything of the body; empty for a tunnel. */
  readonly first: string;
  /** How many bytes may be passed on behind that. */
  readonly length: number;
};
export type Refusal = { readonly status: string; readonly words: string };

/** The head of a request, before it is known which way it goes. */
type Request = { readonly head: RequestHead; readonly onward: Onward; readonly length: number };
type Target = { readonly to: Host; readonly tls: boolean; readonly request: Request | undefined };

const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

export async function wayOf(ports: WayPorts, head: RequestHead, route: Route): Promise<Way | Refusal> {
  if (route.kind === "tunnel") return judged(ports, { to: route.to, tls: false, request: undefined });
  const length = bodyLength(head);
  if (length === undefined) return NO_LENGTH;
  if (route.kind === "service") return toService(ports, { head, length }, route.path);
  const onward = { path: route.path, host: hostText(route.to, PORTS["http:"]), identity: {} };
  return judged(ports, { to: route.to, tls: false, request: { head, onward, length } });
}

/** PS1 */
async function judged(ports: WayPorts, target: Target): Promise<Way | Refusal> {
  const { network, order } = ports;
  const { to } = target;
  if (!isListed(order.egress, to)) return notListed(to);
  const found = await resolved(network, to);
  const own = network.own();
  const addresses = found.filter((host) => mayReach(order.egress, { host, port: to.port }, own));
  if (addresses.length === 0 && found.length > 0) return notPublic(to, found);
  return onTheWay(ports, target, addresses);
}

/** PS2 */
async function toService(
  ports: WayPorts,
  { head, length }: Omit<Request, "onward">,
  path: string,
): Promise<Way | Refusal> {
  const { network, order } = ports;
  const url = order.service === null ? null : URL.parse(order.service.url);
  const to = url && hostIn(url.host, PORTS[url.protocol] ?? 0);
  if (order.service === null || url === null || !to) return NO_SERVICE;
  const onward = { path: url.pathname.replace(/\/$/, "") + path, host: url.host, identity: order.service.identity };
  const target = { to, tls: url.protocol === "https:", request: { head, onward, length } };
  return onTheWay(ports, target, await resolved(network, to));
}

/** PS5. `addresses`: those of the host that may be used. */
async function onTheWay(
  { network, order }: WayPorts,
  { to, tls, request }: Target,
  addresses: readonly string[],
): Promise<Way | Refusal> {
  const isTunnel = tls || request === undefined;
  const hop = hopTo(order.upstream, to, isTunnel);
  if (hop === "unusable") return unusable(to);
  const via = hop === "direct" ? undefined : hop;
  const next = via === undefined ? addresses : await resolved(network, via.proxy);
  if (next.length === 0) return unreachable(via?.proxy ?? to);
  const length = request?.length ?? Number.POSITIVE_INFINITY;
  return { to, tls, via, addresses: next, first: request === undefined ? "" : firstOf(request, isTunnel, via), length };
}

/** A proxy is given the whole address of a plain request. */
function firstOf({ head, onward }: Request, isTunnel: boolean, via: Via | undefined): string {
  if (isTunnel || via === undefined) return onwardHead(head, onward);
  const { authorization } = via;
  return onwardHead(head, { ...onward, path: `http://${onward.host}${onward.path}`, authorization });
}

async function resolved(network: Network, { host }: Host): Promise<readonly string[]> {
  try {
    return await network.resolve(host);
  } catch (error) {
    if (isFault(error)) return [];
    throw error;
  }
}

/** Without the port if it is the `usual` one. */
export function hostText({ host, port }: Host, usual?: number): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return port === usual ? name : `${name}:${port}`;
}

export const BAD_REQUEST = { status: "400 Bad Request", words: "This is not a request that a proxy understands." };
const NO_LENGTH = { status: "411 Length Required", words: "The request must say how long its body is." };
const NO_SERVICE = { status: "404 Not Found", words: "There is no service behind this port; it is a proxy." };
const BAD_GATEWAY = "502 Bad Gateway";

function notListed(to: Host): Refusal {
  const word = hostText(to, PORTS["https:"]);
  return {
    status: "403 Forbidden",
    words: `This sandbox may not reach ${word}: create its agent with --egress ${word}.`,
  };
}

function notPublic(to: Host, found: readonly string[]): Refusal {
  const words = `${to.host} leads to ${found[0]}, which is reached only if that address itself is listed (--egress).`;
  return { status: "403 Forbidden", words };
}

export function unreachable({ host, port }: Host): Refusal {
  return { status: BAD_GATEWAY, words: `${host}:${port} cannot be reached.` };
}

function unusable(to: Host): Refusal {
  const why = "The user's proxy (HTTPS_PROXY) is not an http:// address";
  const words = `${why}, so ${to.host} is reached only if NO_PROXY lists it.`;
  return { status: BAD_GATEWAY, words };
}

export function refusedBy({ proxy }: Via, to: Host, status: number): Refusal {
  const why = status === 407 ? ": it wants another user or password in HTTPS_PROXY" : "";
  const did = `answered ${status} instead of connecting to ${hostText(to)}`;
  return { status: BAD_GATEWAY, words: `The user's proxy ${hostText(proxy)} ${did}${why}.` };
}
