// What a device may ask for on the page (DV5 of core/devices.ts), for all who decide on it: the daemon refuses its own
// methods by the same rows (core/principal.ts), the web host its own, and the page offers nothing else.
import { own } from "../../base/own.ts";
import { type DeviceRights, deviceMay } from "../../core/devices.ts";
import { RIGHTS, type Right } from "../../core/principal.ts";
import type { PageMethods, WebMethods } from "./messages.ts";

/** The methods of the web host. */
const WEB_RIGHTS = {
  "web.state": "look",
  "web.screen": "look",
  "web.new": "act",
  "web.new-agent": "act",
  "web.evidence": "look",
  /** What is wrong with a file shows some of it: only those may ask who may run it anyway. */
  "web.workflow": "act",
  "web.run": "act",
  "web.checkpoints": "look",
  "web.health": "look",
  "web.usage": "look",
  "web.doctor": "look",
  "web.tunnel": "look",
  "web.turn-tunnel": "act",
  "web.fleet": "look",
  /** Of another home: a device with fewer rights has them here, and nowhere else. */
  "web.fleet-home": "act",
  "web.reports": "look",
  "web.bundle": "look",
} as const satisfies Readonly<Record<keyof WebMethods, Right>>;

export function pageMay(rights: DeviceRights, method: keyof PageMethods): boolean {
  return deviceMay(rights, method, own({ ...RIGHTS, ...WEB_RIGHTS }, method));
}

export function isWebMethod(method: string): method is keyof WebMethods {
  return Object.hasOwn(WEB_RIGHTS, method);
}
