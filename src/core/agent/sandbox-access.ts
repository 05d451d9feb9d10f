// What a sandbox has beside the paths it shows: its provider's configuration directory, and its way to the network.
// SA1. The configuration directory is in memory, except for conversations: a mount point in a directory that the agent
//      can change would follow its symbolic links out of the sandbox.
// SA2. Unless it has the whole network it has a loopback of its own, and neither that of this machine nor its abstract
//      sockets. What it reaches, it reaches through a unix socket, which its first program offers on that loopback.
// SA3. That program starts in a directory where nothing can make it do something else, and enters the agent's.

export type SandboxAccess = {
  /** Of Claude Code, if it has a configuration directory of its own. */
  readonly state: ProviderState | null;
  /** If its network is a proxy (SA2). */
  readonly proxy: ProxyPlaces | null;
};

/** Its own directory, and the user's, of which it sees SETTINGS (SA1). */
export type ProviderState = { readonly directory: string; readonly settings: string | null };

/** The directory of the proxy's socket, outside and inside, and the program that is first in the sandbox. */
export type ProxyPlaces = {
  readonly from: string;
  readonly at: string;
  readonly socket: string;
  readonly command: readonly string[];
};

type Start = { readonly argv: readonly string[]; readonly cwd: string };

/** What Claude Code reads of the user's configuration directory: nothing that it writes, and no login. */
const SETTINGS = ["settings.json", "CLAUDE.md", "agents", "commands", "hooks", "output-styles", "skills"];
/** Its conversations. */
export const KEPT = "projects";

/** Words for bubblewrap, after those that show paths. */
export function accessWords({ state, proxy }: SandboxAccess, cwd: string): readonly string[] {
  return [
    ...(state === null ? [] : stateWords(state)),
    ...(proxy === null ? ["--chdir", cwd] : ["--ro-bind", proxy.from, proxy.at, "--chdir", "/"]), // SA3
  ];
}

/** SA1 */
function stateWords({ directory, settings }: ProviderState): string[] {
  const seen = settings === null ? [] : SETTINGS.map((name) => [`${settings}/${name}`, `${directory}/${name}`]);
  const kept = `${directory}/${KEPT}`;
  return ["--bind", kept, kept, ...seen.flatMap((paths) => ["--ro-bind-try", ...paths])];
}

/** SA2 */
export function throughProxy({ argv, cwd }: Start, proxy: ProxyPlaces | null): Start {
  return { argv: proxy === null ? argv : [...proxy.command, proxy.socket, cwd, ...argv], cwd };
}
