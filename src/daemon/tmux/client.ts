// Runs tmux's own client, which is the only way we talk to its servers.
// C1. A command is a list of words; no shell reads them. tmux itself ends a command at a word that ends in `;`, so the
//     `;` of a literal word is escaped.
// C2. We never end a server, and never wait for one forever: a client that does not return is killed alone.
// C3. tmux's output is data only if it succeeded; a failure has a message, and says nothing about sessions.
// C4. A client sends its whole environment to the server. So it gets none of ours but what it needs to run, and no
//     client is started for a socket that may not be ours (core/tmux/socket-trust.ts).
import { isFault } from "../../base/fault.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { whyForeign } from "../../core/tmux/socket-trust.ts";
import type { Children } from "../../world/children.ts";
import type { Clock } from "../../world/clock.ts";
import type { PathSteps } from "../../world/path-steps.ts";

/** How a server is found: by the path of its socket, or by a name below the directory for sockets. */
export type TmuxSocket = { readonly path: string } | { readonly name: string; readonly directory: string | undefined };

export type TmuxCall = {
  readonly socket: TmuxSocket;
  readonly commands: readonly (readonly string[])[];
  /** The environment of a server that this call starts; by default what any program needs (C4). */
  readonly env?: Readonly<Record<string, string>>;
};

export type TmuxRun = (call: TmuxCall) => Promise<Result<string>>;

export type TmuxWorld = {
  readonly children: Children;
  readonly clock: Clock;
  readonly paths: PathSteps;
  environment(): Readonly<Record<string, string>>;
};

/** A server answers within milliseconds; one that is stopped by a debugger or a full disk is asked again later. */
const PATIENCE_MS = 10_000;
/** More than any answer we ask for; a server that sends more is not trusted. */
const MAX_BYTES = 64 << 20;
/** C4 */
const PASSED_ON = /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_[A-Z]+|TZ)$/;
const USUAL_PATH = "/usr/local/bin:/usr/bin:/bin";
/** The first two would make tmux believe that it runs inside another tmux; the others mark our terminals' processes. */
const NOT_PASSED_ON = ["TMUX", "TMUX_PANE", "HOLDFAST_TERMINAL", "HOLDFAST_HOME_ID"];

export function tmuxRunner(world: TmuxWorld): TmuxRun {
  return (call) => run(world, call);
}

/** The words that start the client. `-u`: names are passed unchanged, whatever our locale. */
export function wordsOf({ socket, commands }: TmuxCall): [string, ...string[]] {
  const where = "path" in socket ? ["-S", socket.path] : ["-L", socket.name];
  return ["tmux", "-u", ...where, ...commands.flatMap((words, at) => [...(at > 0 ? [";"] : []), ...words.map(meant)])];
}

/** C1 */
function meant(word: string): string {
  return word.endsWith(";") ? `${word.slice(0, -1)}\\;` : word;
}

export function environmentOf(world: TmuxWorld, { socket, env }: TmuxCall): Record<string, string> {
  const own = Object.fromEntries(Object.entries(world.environment()).filter(([name]) => PASSED_ON.test(name))); // C4
  const given: Record<string, string> = { PATH: own["PATH"] ?? USUAL_PATH, ...(env ?? own) };
  for (const name of NOT_PASSED_ON) delete given[name];
  if ("directory" in socket && socket.directory !== undefined) given["TMUX_TMPDIR"] = socket.directory;
  return given;
}

/** C4. Undefined if it may be asked. */
export function foreignSocket({ paths }: TmuxWorld, socket: TmuxSocket): Result<never> | undefined {
  // tmux itself looks after the directory in which it puts a name.
  const why = "path" in socket ? whyForeign(paths.steps(socket.path), paths.uid) : foreignName(socket.name);
  if (why === undefined) return undefined;
  const hint = "Holdfast asks only servers that nobody else can pose as: move its socket, or correct owner and rights.";
  return refused("tmux-foreign", `This tmux server is not trusted: ${why}.`, hint);
}

function foreignName(name: string): string | undefined {
  return name.includes("/") ? `${JSON.stringify(name)} is a path, not a name` : undefined;
}

async function run(world: TmuxWorld, call: TmuxCall): Promise<Result<string>> {
  const foreign = foreignSocket(world, call.socket);
  if (foreign !== undefined) return foreign;
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const said = { stdout: new Uint8Array(0), stderr: new Uint8Array(0) };
  try {
    const child = world.children.pipes(
      { argv: wordsOf(call), cwd: "/", env: environmentOf(world, call) },
      {
        output: (bytes, from) => {
          said[from] = Buffer.concat([said[from], bytes]);
          if (said[from].length > MAX_BYTES) child.signal("SIGKILL");
        },
        ended: (ending) => resolve(ending.kind === "exited" ? ending.code : undefined),
      },
    );
    child.closeInput();
    const cancel = world.clock.after(PATIENCE_MS, () => child.signal("SIGKILL")); // C2
    const code = await promise;
    cancel();
    return code === 0 ? ok(text(said.stdout)) : failed(text(said.stderr), code);
  } catch (error) {
    if (isFault(error, "ENOENT")) return NO_TMUX;
    throw error;
  }
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

const NO_TMUX = refused(
  "no-tmux",
  "tmux is not installed, or not on the daemon's PATH.",
  "Install it (apt install tmux, dnf install tmux, brew install tmux), then: holdfast down && holdfast up",
);

/** C3 */
function failed(words: string, code: number | undefined): Result<string> {
  const said = words.trim();
  if (/no server running|error connecting|server exited/i.test(said)) {
    return refused(
      "no-server",
      `tmux has no server there: ${said}.`,
      "Start one (tmux new -d -s work), or name another with -L NAME or -S PATH.",
    );
  }
  const message = code === undefined ? "tmux did not answer." : `tmux failed: ${said || `exit code ${code}`}.`;
  return refused("tmux-failed", message, "Try it by hand: tmux ls");
}
