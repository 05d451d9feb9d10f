// SSH_AUTH_SOCK of a terminal's programs: a link of ours to the SSH agent of the person who attached last. The socket
// itself
// disappears with its login, and a program's environment cannot be changed from outside, but a link can.
// AL1. A terminal gets a link only if there was an agent when it was opened, and only terminals with a link are
//      touched.
// AL2. A link never points to a link of ours: opening or attaching from within a terminal passes on the agent behind
//      it.
// AL3. The agent is a convenience: if a link cannot be made, the command continues without it.

import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import { SSH_LINKS } from "../../home/layout.ts";
import { makeDirectories } from "../../log/file/file.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";

const VARIABLE = "SSH_AUTH_SOCK";
/** The path of a socket is limited (world/socket.ts, K1), and this link is used as one. */
const LONGEST = 107;

type Environment = Readonly<Record<string, string>>;

/** The environment for a new terminal, with a link in place of the socket (AL1). */
export function withAgentLink(world: DaemonCommandWorld, home: string, env: Environment): Environment {
  const agent = agentOf(world, home);
  const link = joinPath(home, `${SSH_LINKS}/${world.random.bytes(4).toHex()}`);
  if (agent === undefined || env[VARIABLE] === undefined || Buffer.byteLength(link) > LONGEST) return env;
  return point(world, { home, link, agent }) ? { ...env, [VARIABLE]: link } : { ...env, [VARIABLE]: agent };
}

/** Points the terminal's link to the agent of the person attaching; `env` is the terminal's environment. */
export function refreshAgent(world: DaemonCommandWorld, home: string, env: Environment): void {
  const [link, agent] = [linkIn(home, env), agentOf(world, home)];
  if (link === undefined || agent === undefined || world.links.read(link) === agent) return;
  point(world, { home, link, agent });
}

/** Removes the link when its terminal is gone. */
export function dropAgentLink({ links }: DaemonCommandWorld, home: string, env: Environment): void {
  const link = linkIn(home, env);
  if (link !== undefined) links.remove(link);
}

function linkIn(home: string, env: Environment): string | undefined {
  const path = env[VARIABLE];
  return path !== undefined && isOurs(home, path) ? path : undefined; // AL1
}

/** Our own agent, behind our own links (AL2). */
function agentOf({ console, links }: DaemonCommandWorld, home: string): string | undefined {
  const path = console.env(VARIABLE);
  return path !== undefined && isOurs(home, path) ? links.read(path) : path;
}

function isOurs(home: string, path: string): boolean {
  return path.startsWith(joinPath(home, `${SSH_LINKS}/`));
}

type Wanted = { readonly home: string; readonly link: string; readonly agent: string };

function point({ disk, links }: DaemonCommandWorld, { home, link, agent }: Wanted): boolean {
  try {
    makeDirectories(disk, joinPath(home, SSH_LINKS));
    links.point(link, agent);
    return true;
  } catch (error) {
    if (isFault(error)) return false; // AL3
    throw error;
  }
}
