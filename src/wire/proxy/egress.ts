// Which hosts a sandbox may reach: words like `github.com`, `*.example.org`, `10.0.0.5:5432` or `[::1]:8080`.
// EG1. A word without a port means 443. `*.` stands for any subdomain, and not for the domain itself.
// EG2. An address that is not public, or is this machine's own, is reached only if it is listed itself: a name that
//      leads to it does not count, whoever is in charge of that name.
import { addressBytes, isPublic } from "../../base/address.ts";
import { ok, type Result, refused } from "../../base/result.ts";

export type Host = { readonly host: string; readonly port: number };

const HTTPS = 443;
const MAX_PORT = 65_535;
/** As long as a name may be. */
const NAME = /^(?=.{1,253}$)(?:\*\.)?[a-z\d_](?:[a-z\d_-]*[a-z\d_])?(?:\.[a-z\d_](?:[a-z\d_-]*[a-z\d_])?)*\.?$/;
const WITH_PORT = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/;

/** Reads `host`, `host:port`, `[address]:port`; undefined if it is none of these. */
export function hostIn(text: string, port = HTTPS): Host | undefined {
  if (addressBytes(text) !== undefined) return { host: text.toLowerCase(), port };
  const [, v6, name, digits] = WITH_PORT.exec(text.toLowerCase()) ?? [];
  const host = v6 ?? name?.replace(/\.$/, "") ?? "";
  const given = digits === undefined ? port : Number(digits);
  const isHost = v6 === undefined ? NAME.test(host) : addressBytes(v6) !== undefined;
  return isHost && given > 0 && given <= MAX_PORT ? { host, port: given } : undefined;
}

/** `github.com,10.0.0.5:5432`, and any number of such lists. */
export function egressOf(lists: readonly string[]): Result<readonly string[]> {
  const words = lists.flatMap((list) => list.split(",")).map((word) => word.trim());
  const wrong = words.find((word) => hostIn(word) === undefined);
  if (wrong === undefined) return ok([...new Set(words)]);
  return refused(
    "bad-host",
    `"${wrong}" is not a host.`,
    "Write github.com, *.example.org, 10.0.0.5:5432 or [::1]:80.",
  );
}

/** EG1 */
export function isListed(egress: readonly string[], { host, port }: Host): boolean {
  return egress.some((word) => {
    const listed = hostIn(word);
    if (listed?.port !== port) return false;
    return listed.host.startsWith("*.") ? host.endsWith(listed.host.slice(1)) : listed.host === host;
  });
}

/** EG2. `own`: the addresses of this machine. */
export function mayReach(egress: readonly string[], to: Host, own: readonly string[]): boolean {
  return (isPublic(to.host) && !own.includes(to.host)) || isListed(egress, to);
}
