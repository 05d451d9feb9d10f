// Replaces files of hostile sessions, and small files of the home, by hostile ones.
// HF1. An event file and a checkpoint keep right sums half of the time: a sum keeps accidents out, not programs.
import type { Json } from "../../../../src/base/json.ts";
import { encodeEnvelope, readEnvelope } from "../../../../src/log/checkpoint/envelope.ts";
import { sealed } from "../../../poison.ts";
import type { SimDisk } from "../../disk.ts";
import { HOME } from "../../machine.ts";
import type { Attacker } from "./attacks.ts";

/** Small files that no session owns. Those that say how to start (safe mode) are an operator's. */
const SMALL = [
  ...["recovery/recovery-state.json", "recovery/crash-history.json", "recovery/clock.json", "recovery/last-boot.json"],
  ...["recovery/clean-shutdown.json", "run/seen.json", "run/watchdog.json", "run/mcp.json"],
];

/** Returns how many were replaced. */
export function harm(disk: SimDisk, attacker: Attacker, sessions: readonly string[], count: number): number {
  const theirs = filesBelow(disk, HOME).filter((path) => sessions.some((id) => path.includes(`/${id}/`)));
  const all = [...theirs, ...SMALL.map((name) => `${HOME}/${name}`)];
  for (let left = count; left > 0; left -= 1) {
    const path = attacker.oneOf(all);
    disk.plant(path, hostile(attacker, path, disk.peek(path) ?? Buffer.from("{}")));
  }
  return count;
}

function filesBelow(disk: SimDisk, directory: string): string[] {
  return disk.list(directory).flatMap((name) => {
    const path = `${directory}/${name}`;
    return disk.stat(path)?.kind === "directory" ? filesBelow(disk, path) : [path];
  });
}

function hostile(attacker: Attacker, path: string, bytes: Uint8Array): Uint8Array {
  if (attacker.oneOf([true, false])) return attacker.bytes(bytes);
  if (path.endsWith("/events.jsonl")) return lastReplaced(attacker, Buffer.from(bytes).toString());
  return resealed(attacker, bytes) ?? attacker.line(objectIn(bytes));
}

/** HF1 */
function lastReplaced(attacker: Attacker, text: string): Uint8Array {
  const lines = text.split("\n").slice(0, -1);
  const { event, data } = JSON.parse(lines.at(-1) ?? "{}");
  return Buffer.from(sealed(text, attacker.oneOf([String(event), "agent.held"]), attacker.text(data ?? {})));
}

/** HF1. Undefined if it is not a checkpoint. */
function resealed(attacker: Attacker, bytes: Uint8Array): Uint8Array | undefined {
  const kind = /^\{"kind":"([a-z0-9.-]+)","version":(\d+),"fold":(\d+)/.exec(Buffer.from(bytes).toString());
  if (kind === null) return undefined;
  const facts = { kind: kind[1] ?? "", version: Number(kind[2]), fold: Number(kind[3]) };
  const reading = readEnvelope(Uint8Array.from(bytes), facts);
  if (reading.kind !== "whole") return undefined;
  return encodeEnvelope(
    { ...facts, seq: reading.head.seq, time: reading.head.time },
    attacker.text(Object(reading.body)),
  ).bytes;
}

function objectIn(bytes: Uint8Array): { readonly [name: string]: Json } {
  try {
    return { v: 1, ...JSON.parse(Buffer.from(bytes).toString()) };
  } catch {
    return { v: 1 };
  }
}
