// The page's connection to its host, and everything that was fetched over it.
// SE1. After each connection, and each time the daemon is back, everything is fetched again: what happened in between
//      sent no notices to us.
// SE2. While the daemon is down, what was fetched last stays visible, and nothing can be changed.
// SE3. Neither while another host of the fleet has this home, nor while it is not known whose it is. Only its status
//      tells when that is over.
import { computed, effect, signal } from "@preact/signals";
import { type LinkState, PageClient, type PageClientPorts } from "../../wire/page/client.ts";
import {
  type DaemonState,
  type PageMethods,
  type SafeModeView,
  SOCKET_PATH,
  type WebTunnelView,
} from "../../wire/page/messages.ts";
import type { ListedAgent, ListedPrompt, OwnedRule } from "../../wire/rpc/agent.ts";
import { allRows } from "../../wire/rpc/page.ts";
import type { BriefTerminal, ListedDevice, Notice, StatusResult } from "../../wire/rpc/rpc.ts";
import { type ListName, listsFor } from "../../wire/rpc/topics.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { after, chance, connect, every, now, readToken } from "../browser.ts";
import { Feed } from "./feed.ts";
import { compareVersions } from "./page-version.ts";
import { welcomed } from "./rights.ts";

export const link = signal<LinkState>({ kind: "connecting", failures: 0, code: 0 });
export const daemon = signal<DaemonState>({ up: false, why: "" });
export const safeMode = signal<SafeModeView>({ active: false });
/** The time, for ages; it moves in steps that nobody notices. */
export const clock = signal(now());
const isUp = computed(() => link.value.kind === "up" && daemon.value.up);
export const canAct = computed(() => isUp.value && !isElsewhere()); // SE2, SE3

const CLOCK_MS = 2_000;
/** Clients and last outputs of terminals change without a notice. */
const LOOK_MS = 15_000;
/** More runs and agents than a person looks through; the command line lists all. */
const RECENT = 200;

/** How the page reaches its home: from this machine, or through a relay (device.ts). */
export type Way = Pick<PageClientPorts, "connect" | "token">;
let way: Way = { connect: (events) => connect(SOCKET_PATH, events), token: readToken };

const client = new PageClient(
  { connect: (events) => way.connect(events), token: () => way.token(), after, chance },
  { link: onLink, daemon: onDaemon, notice: onNotice },
);

export const call = <M extends keyof PageMethods>(method: M, params: PageMethods[M]["params"]) =>
  client.call(method, params);
export const openStream: PageClient["open"] = (terminal, events) => client.open(terminal, events);

export const feeds = {
  status: new Feed<StatusResult>(() => client.call("status", {}), after),
  terminals: new Feed<readonly BriefTerminal[]>(() => allRows(client, "terminal.list", {}), after),
  agents: new Feed<readonly ListedAgent[]>(() => allRows(client, "agent.list", { newest: true, limit: RECENT }), after),
  prompts: new Feed<readonly ListedPrompt[]>(() => allRows(client, "prompt.list", {}), after),
  runs: new Feed<readonly ListedRun[]>(() => allRows(client, "workflow.list", { newest: true, limit: RECENT }), after),
  rules: new Feed<readonly OwnedRule[]>(() => allRows(client, "rule.list", {}), after),
  devices: new Feed<readonly ListedDevice[]>(() => client.call("device.list", {}), after),
  tunnel: new Feed<WebTunnelView>(() => client.call("web.tunnel", {}), after),
  reports: new Feed<PageMethods["web.reports"]["result"]>(() => client.call("web.reports", {}), after),
} satisfies Readonly<Record<ListName, unknown>>;

/** The status of a daemon that is gone: it says nothing of the next one. */
const lastOfGone = signal<StatusResult | undefined>(undefined);
export const isStale = computed(() => {
  const status = feeds.status.value.value;
  return status !== undefined && status === lastOfGone.value;
});

function roleInFleet(): "owner" | "follower" | "waiting" | undefined {
  return feeds.status.value.value?.fleet?.role;
}

/** SE3 */
function isElsewhere(): boolean {
  return (roleInFleet() ?? "owner") !== "owner";
}

function onLink(state: LinkState): void {
  link.value = state;
  if (state.kind !== "up") {
    onDaemonState({ up: false, why: "" });
    return;
  }
  welcomed(state);
  compareVersions(state.version);
  feeds.tunnel.refresh();
  void lookAtState();
}

function onDaemonState(state: DaemonState): void {
  daemon.value = state;
  if (!state.up) lastOfGone.value = feeds.status.value.value;
}

function onDaemon(state: DaemonState): void {
  onDaemonState(state);
  void lookAtState();
  if (state.up)
    refreshAll(); // SE1
  else feeds.reports.refresh();
}

const ears = new Set<(notice: Notice) => void>();

/** Calls `ear` with each notice; returns the function that ends this. */
export function listen(ear: (notice: Notice) => void): () => void {
  ears.add(ear);
  return () => void ears.delete(ear);
}

function onNotice(notice: Notice): void {
  const { topic } = notice;
  for (const ear of ears) ear(notice);
  for (const name of listsFor(topic)) feeds[name].refresh();
  if (topic.startsWith("safe-mode.") || topic.startsWith("recovery.")) void lookAtState();
}

/** From the disk, by the host: it is known while the daemon is down, too. */
async function lookAtState(): Promise<void> {
  const state = await client.call("web.state", {});
  if (state.ok) safeMode.value = state.value.safeMode;
}

function refreshAll(): void {
  for (const feed of Object.values(feeds)) feed.refresh();
}

/** Connects, and keeps connected. */
export function start(by: Way = way): void {
  way = by;
  client.start();
  every(CLOCK_MS, () => {
    clock.value = now();
    if (isUp.value && roleInFleet() === "waiting") feeds.status.refresh(); // SE3
  });
  every(LOOK_MS, () => {
    if (isUp.value && !document.hidden) for (const name of ["status", "terminals"] as const) feeds[name].refresh();
  });
}

/** Tries at once, instead of after the pause. */
export function reconnect(): void {
  client.start();
}

/** Calls `fn` each time that the host has answered; returns the function that ends this. */
export function whenUp(fn: () => void): () => void {
  return effect(() => {
    if (link.value.kind === "up") fn();
  });
}

/** After a change of ours: the notice of it may be late. */
export function refresh(...names: readonly ListName[]): void {
  for (const name of names) feeds[name].refresh();
}
