// The proxies of agents in sandboxes (src/proxy): one for each process, through which it reaches what it may.
// PR1. A proxy is started before its process and outlives us; whether it is there is seen at its socket. If it died,
//      the next round starts another, and connections from inside wait for it.
// PR2. Its settings contain the key, and the password of the user's own proxy, and go to its standard input alone.
//      That proxy is the one of our environment, otherwise the one of the shell that created the agent.
// PR3. It has the environment of nobody: only what Bun needs to find the system's certificates and names.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import type { Agent } from "../../core/agent/agent.ts";
import { serviceAccess, withoutHidden } from "../../core/agent/provider-access.ts";
import type { ProxyPlaces } from "../../core/agent/sandbox-access.ts";
import { makeHeldDirectory } from "../../home/held/holder-files.ts";
import { RUN } from "../../home/layout.ts";
import { removeTree } from "../../log/file/file.ts";
import { encodeLine } from "../../wire/lines.ts";
import { PROXY_PORT, type ProxyOrder } from "../../wire/proxy/order.ts";
import { upstreamOf } from "../../wire/proxy/upstream.ts";
import type { Self } from "../../world/self.ts";
import type { DaemonWorld } from "../ports.ts";
import { claudeState, withClaudeState } from "./claude-state.ts";
import { type ProcessPlace, processDirectory } from "./process-files.ts";

type Env = Readonly<Record<string, string>>;

/** What a process gets, and what its proxy does for it; null if it has none. */
export type LaunchAccess = { readonly variables: Env; readonly order: ProxyOrder | null };

const PROXY = "src/proxy/main.ts";
const INSIDE = "src/proxy/inside-main.ts";
/** The names of directories of proxies. */
const NET = /^a([0-9a-f]{12})-(\d+)\.net$/;
const SOCKET = "s"; // The path of a socket must be short.
const URL = `http://127.0.0.1:${PROXY_PORT}`;
/** Programs look for either spelling. Its own loopback is not behind the proxy. */
const NAMES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
const PROXIED: Env = {
  ...Object.fromEntries(NAMES.map((name) => [name, URL])),
  ...{ NO_PROXY: "localhost,127.0.0.1,::1", no_proxy: "localhost,127.0.0.1,::1" },
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", // Its statistics would only be refused, again and again.
};
/** PR3 */
const PASSED_ON = [
  ...["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "RES_OPTIONS", "DO_NOT_TRACK"],
  ...["HOLDFAST_BOOT_ID", "HOLDFAST_DRILL"], // As holders do (wire/holder/start.ts).
];

/** A directory with nothing but the socket, so that a sandbox can have it: the next proxy's is in the same place. */
function proxyDirectory(home: string, { id, generation }: ProcessPlace): string {
  return joinPath(home, `${RUN}/a${id.slice(0, 12)}-${generation}.net`);
}

export function isProxied({ plan }: Agent): boolean {
  const sandbox = plan.workspace?.sandbox ?? null;
  return sandbox !== null && sandbox.egress !== undefined && !sandbox.network;
}

export function proxyPlaces(self: Self, home: string, agent: Agent): ProxyPlaces | null {
  if (!isProxied(agent)) return null;
  const at = joinPath(home, "net");
  return { from: proxyDirectory(home, agent), at, socket: joinPath(at, SOCKET), command: self.lasting(INSIDE) };
}

/** `allowed`: the variables of ours that it may have. */
export function launchAccess(
  { disk, home }: Pick<DaemonWorld, "disk" | "home">,
  agent: Agent,
  allowed: Env,
): LaunchAccess {
  const { recipe, environment, workspace } = agent.plan;
  const env = withClaudeState(disk, agent, claudeState(home, agent), allowed);
  if (!isProxied(agent)) return { variables: withoutHidden(recipe, env), order: null };
  const { hosts, service, variables } = serviceAccess(recipe, { ...environment, ...env }, URL);
  const order = {
    socket: joinPath(proxyDirectory(home, agent), SOCKET),
    egress: [...hosts, ...(workspace?.sandbox?.egress ?? [])],
    service,
  };
  return { variables: { ...withoutHidden(recipe, env), ...PROXIED, ...variables }, order };
}

/** PR1 */
export async function ensureProxy(world: DaemonWorld, agent: Agent, allowed: Env): Promise<void> {
  const { order } = launchAccess(world, agent, allowed);
  if (order === null || (await answers(world, order.socket))) return;
  await makeHeldDirectory(world.disk, world.home, proxyDirectory(world.home, agent));
  const argv = world.self.command(PROXY, processDirectory(world.home, agent));
  const environment = world.self.environment();
  const ours = Object.entries(environment).filter(([name]) => PASSED_ON.includes(name));
  const proxy = world.children.told({ argv, cwd: "/", env: Object.fromEntries(ours) }, { ended: () => undefined });
  proxy.tell(encodeLine({ ...order, upstream: upstreamOf(environment, agent.plan.environment) })); // PR2
  proxy.release();
}

/** Of its earlier processes. If that fails, the next start tries again. */
export function removeOldProxies({ disk, home }: DaemonWorld, { id, generation }: ProcessPlace): void {
  const run = joinPath(home, RUN);
  const old = disk.list(run).filter((name) => {
    const [, of, number] = NET.exec(name) ?? [];
    return of === id.slice(0, 12) && Number(number) < generation;
  });
  try {
    for (const name of old) removeTree(disk, joinPath(run, name));
  } catch (error) {
    if (!isFault(error)) throw error;
  }
}

async function answers({ sockets }: DaemonWorld, path: string): Promise<boolean> {
  try {
    const connection = await sockets.connect(path, { bytes: () => undefined, closed: () => undefined });
    connection.destroy();
    return true;
  } catch (error) {
    if (isFault(error)) return false;
    throw error;
  }
}
