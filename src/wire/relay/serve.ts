// How the command line tells the relay what to do: its settings, as one JSON argument.
import { addressBytes, isWithin } from "../../base/address.ts";
import { fitting } from "../check.ts";
import { decodeLine } from "../lines.ts";
import { closed, fullPath, type Infer, list, optional, textOf, whole } from "../shape.ts";

/** A host and a port, such as `0.0.0.0:7443` or `[::]:7443`. */
export type ListenAddress = { readonly host: string; readonly port: number };

const address = textOf({
  is: (text) => listenAddress(text) !== undefined,
  expected: "an address such as 0.0.0.0:7443",
});
const span = whole(100);
const hostName = textOf({ pattern: /^[a-z0-9.:-]{1,253}$/i });

const origin = textOf({
  is: (text) => URL.parse(text)?.origin === text && /^https?:/.test(text),
  expected: "an origin such as https://page.example.org",
});

const SETTINGS = closed({
  home: fullPath,
  /** Homes are at <label>.<domain>; a port may follow. */
  domain: textOf({ pattern: /^[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?(?::\d{1,5})?$/i }),
  /** Names and addresses by which homes reach the relay. */
  hosts: list(hostName),
  listen: address,
  /** Where browsers are served: with a certificate from these files, or plainly on loopback. */
  https: optional(closed({ at: address, certificate: fullPath, key: fullPath })),
  http: optional(address),
  /** Of exported pages, whose tabs are let in. */
  origins: optional(list(origin)),
  lifeMs: span,
  graceMs: span,
  heartbeatMs: span,
});
export type RelaySettings = Infer<typeof SETTINGS>;

export function encodeSettings(settings: RelaySettings): string {
  return JSON.stringify(settings);
}

/** Returns undefined if the text does not hold settings. */
export function decodeSettings(text: string): RelaySettings | undefined {
  return fitting(SETTINGS, decodeLine(text));
}

export function listenAddress(text: string): ListenAddress | undefined {
  const [, v6, v4, digits] = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+)):(\d{1,5})$/i.exec(text) ?? [];
  const [host, port] = [v6 ?? v4 ?? "", Number(digits)];
  return addressBytes(host) === undefined || port > 65_535 ? undefined : { host, port };
}

/** The number of a host without a name; what a reverse proxy on this machine uses. */
export function isLoopback({ host }: ListenAddress): boolean {
  const bytes = addressBytes(host) ?? [];
  return isWithin(bytes, "127.0.0.0/8") || isWithin(bytes, "::1/128");
}
