// The proxy behind which this machine is, as the usual variables name it (`HTTPS_PROXY`, `NO_PROXY` …).
// UP1. Lower case counts before upper case, and the variable of the scheme before `ALL_PROXY`; an empty one is none.
// UP2. `NO_PROXY` lists what is reached directly: `*`, hosts with everything below them, addresses and their ranges,
//      each with or without a port. Loopback always is.
// UP3. A proxy that cannot be used is not bypassed: the user wants everything to go through it.
// UP4. Its user and password go to the proxy, in one header, and are in no message.
// UP5. Of several environments the first one that names a proxy counts, with its own `NO_PROXY`.
import { addressBytes, isWithin } from "../../base/address.ts";
import { type Infer, nullable, object, text } from "../shape.ts";
import { type Host, hostIn } from "./egress.ts";

export const upstream = object({
  /** The address of the proxy for tunnels and TLS, with its password if it has one. */
  secure: nullable(text),
  /** That for plain HTTP. */
  plain: nullable(text),
  /** UP2 */
  direct: text,
});

export type Upstream = Infer<typeof upstream>;

/** UP4. `authorization` is undefined if it wants none. */
export type Via = { readonly proxy: Host; readonly authorization: string | undefined };
export type Hop = Via | "direct" | "unusable";

type Env = Readonly<Record<string, string>>;

const HTTP = 80;
const LOOPBACKS = ["127.0.0.0/8", "::1/128"];

/** UP5 */
export function upstreamOf(first: Env, ...others: readonly Env[]): Upstream {
  const found = [first, ...others].map(upstreamIn);
  return found.find(({ secure, plain }) => secure !== null || plain !== null) ?? upstreamIn(first);
}

/** UP1 */
function upstreamIn(env: Env): Upstream {
  const value = (...names: readonly string[]) =>
    names.flatMap((name) => [env[name], env[name.toUpperCase()]]).find((text) => text !== undefined && text !== "") ??
    null;
  return {
    secure: value("https_proxy", "all_proxy"),
    plain: value("http_proxy", "all_proxy"),
    direct: value("no_proxy") ?? "",
  };
}

/** `isSecure`: whether it is a tunnel or TLS. */
export function hopTo(upstream: Upstream | undefined, to: Host, isSecure: boolean): Hop {
  const address = isSecure ? upstream?.secure : upstream?.plain;
  if (upstream === undefined || address == null || isDirect(upstream.direct, to)) return "direct";
  return viaOf(address) ?? "unusable"; // UP3
}

function viaOf(address: string): Via | undefined {
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(address) ? address : `http://${address}`);
  const proxy = url?.protocol === "http:" ? hostIn(url.host, HTTP) : undefined;
  if (url === null || proxy === undefined) return undefined;
  const { username, password } = url;
  const pair = Buffer.from(`${decoded(username)}:${decoded(password)}`, "latin1").toString("base64");
  return { proxy, authorization: username + password === "" ? undefined : `Basic ${pair}` };
}

/** As bytes, in latin1; the parser of addresses has escaped everything that is not ASCII. A lone `%` stays. */
function decoded(text: string): string {
  return text.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** UP2 */
function isDirect(list: string, to: Host): boolean {
  const bytes = addressBytes(to.host);
  const isIn = (range: string) => bytes !== undefined && isWithin(bytes, range);
  if (to.host === "localhost" || LOOPBACKS.some(isIn)) return true;
  return list.split(/[\s,]+/).some((word) => word === "*" || (/\/\d+$/.test(word) ? isIn(word) : covers(word, to)));
}

function covers(word: string, { host, port }: Host): boolean {
  const listed = hostIn(word.replace(/^\*?\./, ""), port);
  return listed?.port === port && (listed.host === host || host.endsWith(`.${listed.host}`));
}

/** What is sent to the proxy to open a tunnel. `target` is `host:port`. */
export function tunnelHead(target: string, { authorization }: Via): string {
  const identity = authorization === undefined ? "" : `proxy-authorization: ${authorization}\r\n`; // UP4
  return `CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${identity}\r\n`;
}

/** The status in the head of the proxy's answer; undefined if it is none. */
export function statusOf(head: string): number | undefined {
  const [, digits] = /^HTTP\/1\.[01] (\d{3})(?: |\r|$)/.exec(head) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
