// fleet.takeover.warm|cold: seconds from SIGKILL of a host with 25 terminals, 25 workflow runs in the middle of a step
// and 25 agents that wait for an answer, until all of it is there on another host: every terminal runs again, every
// step that ran is uncertain, every agent has a process and has asked again. The lease is 3 s, and the home has 100 MB
// of conversations that do not compress. Warm: the other host keeps a mirror of the home; cold: it has nothing of it.
// All programs of the host are stopped before the first is killed, as by a power cut; the clock starts before that.
// Not measured: hosts on different machines, whose network and disks would be two.
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EVENTS } from "../src/fleet/calls.ts";
import { FullHome, ROOM } from "../tests/standby/full-home.ts";
import { TwoHosts } from "../tests/standby/two-hosts.ts";
import { fleetUrl } from "./fleet-home.ts";
import { launcher } from "./home.ts";
import { Postgres } from "./postgres.ts";
import { costRow, type Row } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";
import { until } from "./waiting.ts";

const BARS_S = { warm: 10, cold: 18 } as const;
type Kind = keyof typeof BARS_S;

const HOME = "host-a-work";
const MB = 1_000_000;
const FILES = 25;
const SIZES = { full: { each: 25, bytes: 100 * MB }, quick: { each: 2, bytes: MB } };
const PATIENCE_MS = 120_000;
const PHASES = ["taken", "made", "started", "running"];

export async function fleetTakeover(names: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const missing = Postgres.missing(bench);
  if (missing !== undefined) return bench.say(`skipped, because ${missing}: ${names.join(", ")}`);
  for (const kind of ["warm", "cold"] as const) {
    const name = `fleet.takeover.${kind}`;
    if (names.includes(name))
      emit(costRow({ name, value: await takenOver(kind, bench), unit: "s", bar: BARS_S[kind] }));
  }
}

async function takenOver(kind: Kind, bench: Bench): Promise<number> {
  const place = makePlace(bench, `takeover-${kind}`);
  const postgres = await Postgres.start(bench, join(place, "postgres"));
  const ofB = { take: [HOME], ...(kind === "warm" && { mirror: [HOME] }) };
  const hosts = await TwoHosts.start(fleetUrl(postgres), ofB, { config: ROOM, words: launcher(bench), within: place });
  try {
    return await measured(hosts, kind, bench);
  } finally {
    await hosts.end();
    await postgres.end();
  }
}

async function measured(hosts: TwoHosts, kind: Kind, bench: Bench): Promise<number> {
  const { each, bytes } = bench.quick ? SIZES.quick : SIZES.full;
  const { a, b, place } = hosts;
  bench.say(`fleet.takeover.${kind}: ${each} terminals, runs and agents, and ${bytes / MB} MB`);
  const full = new FullHome(place, each);
  await full.fill(a);
  addConversations(a.home, bytes);
  await hosts.hasShipped(/^file\/\d+\/agents\/[^/]+\/claude\//, Math.ceil(bytes / (1 << 20)));
  await hosts.hasShipped(/^tape\/terminals\//, each);
  if (kind === "warm")
    await until("the mirror is warm", PATIENCE_MS, () => mirrored(b.homes) >= bytes / 2 || undefined);
  const [began, at] = [performance.now(), Date.now()];
  await a.die();
  await full.isBack(b, join(b.homes, HOME));
  const tookMs = performance.now() - began;
  bench.say(`  ${(tookMs / 1_000).toFixed(1)} s; ${await phases(hosts, at)}`);
  return tookMs / 1_000;
}

/** In the directories of agents, where those in a sandbox have theirs. */
function addConversations(home: string, bytes: number): void {
  const agents = readdirSync(join(home, "agents")).filter((name) => /^[0-9a-f]{32}$/.test(name));
  for (let file = 0; file < FILES; file += 1) {
    const directory = join(home, "agents", agents[file % agents.length] ?? "", "claude/projects/p");
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `${file}.jsonl`), randomBytes(bytes / FILES));
  }
}

/** Bytes of blobs in the mirrors of a host. */
function mirrored(homes: string): number {
  const directory = join(homes, ".mirror");
  try {
    const files = readdirSync(directory, { recursive: true, encoding: "utf8" });
    return files.reduce((sum, file) => sum + statSync(join(directory, file)).size, 0);
  } catch {
    return 0; // It is being made, or a file of it was just replaced.
  }
}

/** When each phase began, in seconds since the host died, as the fleet's events and the report have it. */
async function phases(hosts: TwoHosts, from: number): Promise<string> {
  const answer = await hosts.look.call(EVENTS, { after: 0 });
  const events = answer.kind === "done" ? answer.value : [];
  const after = PHASES.map((phase) => {
    const at = events.find(({ kind }) => kind === phase)?.at ?? Number.NaN;
    return `${phase} ${((at - from) / 1_000).toFixed(1)}`;
  });
  const live = /live after (\d+) ms/.exec(hosts.b.log().split(HOME).at(-1) ?? "")?.[1] ?? "?";
  return `${after.join(", ")}; its daemon was live after ${live} ms`;
}
