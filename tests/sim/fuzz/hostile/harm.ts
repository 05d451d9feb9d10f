// Replaces files of hostile sessions, and small files of the home, by hostile ones.
// HF1. An event file and a checkpoint keep right sums half of the time: a sum keeps accidents out, not programs.
import { encodeEnvelope, readEnvelope } from "../../../../src/log/checkpoint/envelope.ts";
import { sealed } from "../../../poison.ts";
import type { Attacker } from "./attacks.ts";
import type { Message } from "./seeds.ts";

/** The files of a home, by their paths in it. */
export type HomeFiles = {
  all(): readonly string[];
  read(path: string): Uint8Array | undefined;
  write(path: string, bytes: Uint8Array): void;
};

/** Small files that no session owns. Those that say how to start (safe mode) are an operator's. */
const SMALL = [
  ...["recovery/recovery-state.json", "recovery/crash-history.json", "recovery/clock.json", "recovery/last-boot.json"],
  ...["recovery/clean-shutdown.json", "run/seen.json", "run/watchdog.json", "run/mcp.json"],
];

/** Returns how many were replaced. */
export function harm(files: HomeFiles, attacker: Attacker, sessions: readonly string[], count: number): number {
  const theirs = files.all().filter((path) => sessions.some((id) => path.includes(`/${id}`)));
  const chosen = new Set(Array.from({ length: count }, () => attacker.oneOf([...theirs, ...SMALL])));
  for (const path of chosen) files.write(path, hostile(attacker, path, files.read(path) ?? Buffer.from("{}")));
  return chosen.size;
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

const CHECKPOINT = /^\{"kind":"([a-z0-9.-]+)","version":(\d+),"fold":(\d+)/;

/** HF1. Undefined if it is not a checkpoint. */
function resealed(attacker: Attacker, bytes: Uint8Array): Uint8Array | undefined {
  const head = CHECKPOINT.exec(Buffer.from(bytes).toString());
  const facts = { kind: head?.[1] ?? "", version: Number(head?.[2]), fold: Number(head?.[3]) };
  const reading = readEnvelope(Uint8Array.from(bytes), facts);
  if (reading.kind !== "whole") return undefined;
  const { seq, time } = reading.head;
  return encodeEnvelope({ ...facts, seq, time }, attacker.text(Object(reading.body))).bytes;
}

function objectIn(bytes: Uint8Array): Message {
  try {
    return { v: 1, ...JSON.parse(Buffer.from(bytes).toString()) };
  } catch {
    return { v: 1 };
  }
}
