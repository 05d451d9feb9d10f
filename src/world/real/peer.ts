// Which process has connected to a unix socket: SO_PEERCRED, which the system records at `connect`.
// PC1. The record is only a pid. A process that is younger than its connection has got the pid later, so the client is
//      gone: it ended, and may have left the connection to a child.
// PC2. If the call is not possible here, nothing is known about any client.
// PC3. A terminal's holder runs without the JIT, which bun:ffi needs: it has the same program look, as a child that
//      gets the connection as its input and ends at once. The JIT would cost each holder 0.7 MB while it lives.
import type { Peer } from "../socket.ts";
import { startTimeOf } from "./identities.ts";
import { fromLibc } from "./libc.ts";
import { TICKS_A_SECOND, ticks } from "./process-list.ts";
import { OWN_EXECUTABLE } from "./runtime.ts";

/** The argument by which a program is such a child (PC3); the age of the connection follows. */
export const LOOK_AT_PEER = "--peer";

const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
/** struct ucred: pid, uid, gid. */
const CRED_INTS = 3;
/** Start times are cut to ticks, and the two clocks are not read at once. */
const SLACK_TICKS = 3;
/** It takes 50 ms, and longer on a busy machine; the holder waits for it. */
const LOOK_MS = 10_000;

type GetOption = (fd: number, level: number, name: number, value: Int32Array, length: Int32Array) => number;

let getOption: GetOption | undefined | null;

/** `ageMs`: how long ago it was accepted. */
export function peerOf(fd: number, ageMs: number): Peer | undefined {
  if (process.env["BUN_JSC_useJIT"] === "0") return lookedAt(fd, ageMs); // PC3
  if (getOption === undefined) getOption = load();
  const cred = new Int32Array(CRED_INTS);
  const length = new Int32Array([cred.byteLength]);
  if (getOption === null || getOption(fd, SOL_SOCKET, SO_PEERCRED, cred, length) !== 0) return undefined; // PC2
  const pid = cred[0] ?? 0;
  const startTime = startTimeOf(pid);
  const connectedAt = ticks() - Math.floor((ageMs / 1000) * TICKS_A_SECOND);
  return startTime === undefined || startTime > connectedAt + SLACK_TICKS ? "gone" : pid; // PC1
}

function load(): GetOption | null {
  try {
    const args = ["i32", "i32", "i32", "ptr", "ptr"] as const;
    return fromLibc({ getsockopt: { args, returns: "i32" } }).getsockopt;
  } catch (error) {
    if (error instanceof Error) return null; // PC2
    throw error;
  }
}

/** PC3. A child that does not answer, or cannot be started now, has not seen a living client. */
function lookedAt(fd: number, ageMs: number): Peer | undefined {
  const said = saidByChild(fd, ageMs);
  if (said === "unknown") return undefined;
  return /^\d+$/.test(said) ? Number(said) : "gone";
}

function saidByChild(fd: number, ageMs: number): string {
  const words = [OWN_EXECUTABLE, ...process.execArgv, process.argv[1] ?? Bun.main, LOOK_AT_PEER, String(ageMs)];
  const options = { cwd: "/", env: { DO_NOT_TRACK: "1" }, stdio: [fd, "pipe", "ignore"], timeout: LOOK_MS } as const;
  try {
    return Bun.spawnSync(words, { ...options, stdio: [...options.stdio] }).stdout.toString();
  } catch (error) {
    if (error instanceof Error) return ""; // At a limit on processes: the client is refused, and the holder lives.
    throw error;
  }
}

/** PC3: the child's side. */
export function tellPeer(ageMs: string | undefined): void {
  process.stdout.write(String(peerOf(0, Number(ageMs)) ?? "unknown"));
}
