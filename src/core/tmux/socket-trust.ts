// Whether a socket is really that of a tmux server of ours. Anybody may put one at a path in /tmp, and a client of tmux
// sends its whole environment to whoever answers.
// TR1. The socket is ours, and no other user may connect to it, unless its group was let in by us.
// TR2. Nobody else can put another one in its place: every directory and every link on the way is ours or root's, and
//      a directory that others may write to is sticky. If there is no socket yet, this alone counts.

/** A part of what world/path-steps.ts tells. */
export type SocketStep = {
  readonly path: string;
  readonly kind: "directory" | "link" | "socket" | "other";
  readonly uid: number;
  readonly mode: number;
};

const ROOT = 0;
const STICKY = 0o1000;
const OTHERS_WRITE = 0o002;

/** Why it is not trusted; undefined if it is. */
export function whyForeign(steps: readonly SocketStep[], uid: number): string | undefined {
  for (const { path, kind, uid: owner, mode } of steps) {
    const isOpen = (mode & OTHERS_WRITE) !== 0;
    if (kind === "other") return `${path} is not a socket`;
    if (kind === "socket" && owner !== uid) return `${path} belongs to user ${owner}`; // TR1
    if (kind === "socket" && isOpen) return `every user may connect to ${path}`; // TR1
    if (owner !== uid && owner !== ROOT) return `${path} belongs to user ${owner}`; // TR2
    if (kind === "directory" && isOpen && (mode & STICKY) === 0) return `every user may write to ${path}`; // TR2
  }
  return undefined;
}
