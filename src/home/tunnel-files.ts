// The files of a home's tunnel: who it is at its relay, whether it is wanted, and what it does now.
// TF1. Key and certificate are in one file, which is replaced whole: they never belong to different ones. Nothing else
//      contains the key; it is made here and never sent.
// TF2. A file that is missing or does not have its form is no enrolment: nothing is dialled. It is never removed, and
//      replaced only by a new enrolment, or by a renewal of the same.
// TF3. Enrolled means wanted, until the operator turns it off; in safe mode it is off, whatever the operator wants.
import { joinPath } from "../base/path.ts";
import type { TunnelState } from "../core/tunnel/machine.ts";
import { readJson, writeJson } from "../log/file/json-file.ts";
import { fitting } from "../wire/check.ts";
import { count, type Infer, literal, nullable, object, text, textOf, whole } from "../wire/shape.ts";
import type { Disk } from "../world/disk.ts";
import { TUNNEL_DEVICE_KEY, TUNNEL_IDENTITY, TUNNEL_STATUS, TUNNEL_WANTED } from "./layout.ts";

const pem = textOf({ pattern: /^-----BEGIN / });
const key32 = textOf({ pattern: /^[0-9a-f]{64}$/ });

const IDENTITY = object({
  relay: object({ host: textOf({ least: 1 }), port: whole(1, 65_535) }),
  /** How the relay calls this home. */
  id: textOf({ least: 1 }),
  authority: pem,
  certificate: pem,
  key: pem,
  enrolledAt: text,
});
export type Enrolment = Infer<typeof IDENTITY>;

const WANTED = object({ wanted: literal("on", "off") });

/** 32 bytes each, in hex. */
const DEVICE_KEY = object({ publicKey: key32, privateKey: key32 });
export type DeviceKey = Infer<typeof DEVICE_KEY>;

const STATUS = object({
  pid: count,
  state: text,
  since: text,
  failures: count,
  dialAt: nullable(text),
  why: text,
  /** Where browsers find this home; empty unless it is connected. */
  url: text,
});
export type TunnelStatus = Infer<typeof STATUS> & { readonly state: TunnelState | (string & {}) };

export function readEnrolment(disk: Disk, home: string): Enrolment | undefined {
  return fitting(IDENTITY, readJson(disk, joinPath(home, TUNNEL_IDENTITY))); // TF2
}

/** Resolves when it is durable (TF1). */
export function writeEnrolment(disk: Disk, home: string, enrolment: Enrolment): Promise<void> {
  return writeJson(disk, joinPath(home, TUNNEL_IDENTITY), { v: 1, ...enrolment });
}

/** TF3 */
export function isTunnelWanted(disk: Disk, home: string): boolean {
  return fitting(WANTED, readJson(disk, joinPath(home, TUNNEL_WANTED)))?.wanted !== "off";
}

export function writeTunnelWanted(disk: Disk, home: string, wanted: "on" | "off"): Promise<void> {
  return writeJson(disk, joinPath(home, TUNNEL_WANTED), { v: 1, wanted });
}

export function readDeviceKey(disk: Disk, home: string): DeviceKey | undefined {
  return fitting(DEVICE_KEY, readJson(disk, joinPath(home, TUNNEL_DEVICE_KEY)));
}

export function writeDeviceKey(disk: Disk, home: string, key: DeviceKey): Promise<void> {
  return writeJson(disk, joinPath(home, TUNNEL_DEVICE_KEY), { v: 1, ...key });
}

/** As the web host wrote it last; whether that still runs is the caller's to find out. */
export function readTunnelStatus(disk: Disk, home: string): TunnelStatus | undefined {
  return fitting(STATUS, readJson(disk, joinPath(home, TUNNEL_STATUS)));
}
