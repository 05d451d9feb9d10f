// The demonstration itself: a private PostgreSQL, three hosts, and work in the home of the first one; then that host
// dies, another takes its home over, and what came back is looked at.
// DE1. Nothing of it is outside of its own directory, and no program of it uses the user's home or configuration.
// DE2. What is said about the takeover is what was seen: in the database, by the daemon there, and in the files that
//      steps and agent have written.
import { joinPath } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { ReportItem } from "../../core/recovery.ts";
import type { FleetEvent } from "../../fleet/calls.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { readWhole } from "../../log/file/file.ts";
import type { Clock } from "../../world/clock.ts";
import { ask, StatusEye } from "../ask.ts";
import type { Findings } from "../findings.ts";
import type { Killed } from "../machine/boots.ts";
import { Contents, type ContentsFound } from "./contents.ts";
import { Host } from "./host.ts";
import { FleetLook, seen } from "./look.ts";
import { type PostgresWorld, PrivatePostgres } from "./private-postgres.ts";

const NAMES = ["ann", "bob", "cid"] as const;
/** The role that the hosts use: it may read and change rows of the tables, and nothing else. */
const ROLE = "holdfast_host";
/** Two leases, and the start of the programs; on a busy machine everything takes longer. */
const TAKEN_MS = 180_000;
const READY = "LIVE";

export type DemoProgress = { phase(words: string): Promise<void>; tell(words: string): Promise<void> };

export type Takeover = {
  readonly by: string;
  /** Since the first SIGKILL: until it was taken, and until its daemon there was live. */
  readonly takenMs: number;
  readonly liveMs: number;
  readonly home: string;
  readonly items: readonly ReportItem[];
};

export class FleetDemo {
  readonly directory: string;
  readonly hosts: readonly [Host, Host, Host];
  readonly findings: Findings;
  killed: Killed | undefined;
  takeover: Takeover | undefined;
  found: ContentsFound | undefined;
  /** Whether the killed host's daemon came back as a follower. */
  follows = false;
  readonly #world: PostgresWorld;
  readonly #progress: DemoProgress;
  readonly #postgres: PrivatePostgres;
  readonly #look: FleetLook;

  constructor(world: PostgresWorld, directory: string, findings: Findings, progress: DemoProgress) {
    this.#world = world;
    this.directory = directory;
    this.findings = findings;
    this.#progress = progress;
    const [ann, bob, cid] = NAMES;
    this.hosts = [new Host(world, directory, ann), new Host(world, directory, bob), new Host(world, directory, cid)];
    this.#postgres = new PrivatePostgres(world, joinPath(directory, "pg"));
    this.#look = new FleetLook(world, this.#postgres.url);
  }

  /** `bin`: the directory of PostgreSQL's programs. */
  async run(bin: string): Promise<Result<undefined>> {
    const begun = await this.#begin(bin);
    if (!begun.ok) return begun;
    const [first] = this.hosts;
    const contents = new Contents(first.site(), joinPath(this.directory, "outside"), this.findings);
    await this.#progress.phase(`opening terminals, a workflow and an agent on ${first.name}`);
    await contents.begin();
    await this.#shipped(contents);
    await this.#where();
    await this.#kill();
    const taken = await this.#takenOver();
    if (taken !== undefined) await this.#check(contents, taken);
    await this.#comeBack();
    await this.#where();
    this.#look.close();
    return ok(undefined);
  }

  async #begin(bin: string): Promise<Result<undefined>> {
    await this.#progress.phase(`starting a private PostgreSQL in ${this.directory}, with the programs in ${bin}`);
    const started = await this.#postgres.start(bin, ROLE);
    if (!started.ok) return started;
    await this.#progress.phase(`three hosts, ${NAMES.join(", ")}: holdfast fleet init, holdfast fleet join`);
    for (const host of this.hosts) {
      const joined = await this.#join(host);
      if (!joined.ok) return joined;
    }
    const up = await Promise.all(this.hosts.map((host) => host.start(({ recovery }) => recovery.stage === READY)));
    const missing = this.hosts.find((_, at) => up[at] === undefined);
    return missing === undefined ? this.#described() : notUp(missing);
  }

  /** The first one begins the fleet, and the others get its key. */
  async #join(host: Host): Promise<Result<undefined>> {
    const { disk } = this.#world;
    const [first] = this.hosts;
    await host.configure();
    const key = host === first ? undefined : readWhole(disk, first.key);
    if (key !== undefined) await writeAtomic(disk, host.key, key);
    const words = host === first ? ["init", this.#postgres.url, "--role", ROLE] : ["join", this.#postgres.urlOf(ROLE)];
    const { ending, said } = await host.command("fleet", ...words);
    if (ending.kind === "exited" && ending.code === 0) return ok(undefined);
    return refused("demo", `${host.name} is not in the fleet: ${said.trim()}`, `Its files are in ${host.directory}.`);
  }

  /** A home has its name in the fleet from when its standby program runs. */
  async #described(): Promise<Result<undefined>> {
    const names = this.hosts.map(({ homeName }) => homeName);
    const there = await seen(this.#world.clock, TAKEN_MS, async () => {
      const homes = await this.#look.homes();
      return names.every((name) => homes.some((home) => home.name === name)) ? true : undefined;
    });
    return there ? ok(undefined) : notUp(this.hosts[0]);
  }

  /** What is shipped besides the log is a second or two behind it. */
  async #shipped(contents: Contents): Promise<void> {
    await this.#progress.phase("waiting until the database has the files of that home, too");
    const [first] = this.hosts;
    const there = await seen(this.#world.clock, TAKEN_MS, async () => {
      const home = await this.#look.home(first.homeName);
      return home !== undefined && contents.isIn(await this.#look.files(home.id)) ? true : undefined;
    });
    if (there === undefined) this.findings.violate("the files of the home did not get into the database");
  }

  /** DE2 */
  async #where(): Promise<void> {
    for (const { name, owner, leaseMs } of await this.#look.homes())
      await this.#progress.tell(`  ${name} is on ${owner}, whose lease ${leaseMs > 0 ? "lasts" : "has ended"}`);
  }

  async #kill(): Promise<void> {
    const [first] = this.hosts;
    await this.#look.events(); // What was before is not shown.
    await this.#progress.phase(`killing every process of ${first.name} at once (SIGKILL)`);
    this.#killedAt = this.#world.clock.elapsed();
    this.killed = await first.die();
    if (this.killed === undefined) return this.findings.violate(`not every process of ${first.name} could be killed`);
    const { ours, holders, programs } = this.killed;
    await this.#progress.tell(`  ${ours} of Holdfast, ${holders} holders and ${programs} programs are gone`);
  }

  #killedAt = 0;

  get #sinceMs(): number {
    return Math.round(this.#world.clock.elapsed() - this.#killedAt);
  }

  /** Shows events as they come, until the daemon of another host is live with the home. */
  async #takenOver(): Promise<Takeover | undefined> {
    const [first, ...others] = this.hosts;
    const { clock } = this.#world;
    const taken = await this.#while(async () => {
      const row = await this.#look.home(first.homeName);
      return others.find(({ name }) => name === row?.owner);
    });
    if (taken === undefined) {
      this.findings.violate("nobody took the home over");
      return undefined;
    }
    const takenMs = this.#sinceMs;
    await this.#progress.phase(`${taken.name} has taken it, ${seconds(takenMs)} after the kill`);
    const home = taken.taken(first.homeName);
    const there = taken.site(home);
    const eye = new StatusEye(there);
    const live = await this.#while(async () => ((await eye.look())?.recovery.stage === READY ? true : undefined));
    eye.close();
    const liveMs = this.#sinceMs;
    if (live === undefined) this.findings.violate(`the home is not live on ${taken.name}`);
    await this.#progress.phase(`everything is live again on ${taken.name}, ${seconds(liveMs)} after the kill`);
    const items = await seen(clock, TAKEN_MS, async () => {
      const report = await ask(there, "recovery.report", { name: null });
      return report.kind === "done" && report.value?.from === first.name ? report.value.items : undefined;
    });
    if (items === undefined) this.findings.violate("there is no report of the takeover");
    this.takeover = { by: taken.name, takenMs, liveMs, home, items: items ?? [] };
    for (const item of this.takeover.items) await this.#progress.tell(`  ${itemText(item)}`);
    return this.takeover;
  }

  async #while<T>(look: () => Promise<T | undefined>): Promise<T | undefined> {
    return seen(this.#world.clock, TAKEN_MS, async () => {
      for (const event of await this.#look.events()) await this.#progress.tell(`  ${this.#eventText(event)}`);
      return look();
    });
  }

  #eventText({ host, kind, words }: FleetEvent): string {
    return `${seconds(this.#sinceMs)}: ${host}: ${kind}: ${words}`;
  }

  async #check(contents: Contents, { by, home }: Takeover): Promise<void> {
    const host = this.hosts.find(({ name }) => name === by);
    if (host === undefined) return;
    await this.#progress.phase("looking at what came back, and answering what it asks");
    const screenOf = async (name: string) => (await host.command("history", name, "--home", home)).out;
    this.found = await contents.check(host.site(home), screenOf);
    const { steps, agent } = this.found.effects;
    await this.#progress.tell(`  what the steps have done, in order: ${steps.join(", ")}`);
    await this.#progress.tell(`  what the agent has done, in order: ${agent.join(", ")}`);
  }

  async #comeBack(): Promise<void> {
    const [first] = this.hosts;
    await this.#progress.phase(`${first.name} is switched on again`);
    const status = await first.start(({ fleet }) => fleet?.role === "follower" || fleet?.role === "owner");
    this.follows = status?.fleet?.role === "follower";
    if (!this.follows) return this.findings.violate(`${first.name} does not follow the host that has its home now`);
    await this.#progress.tell(`  its daemon follows: the home is on ${status?.fleet?.owner}`);
  }

  /** Ends everything of it; the directory stays. `clock`: ours may have been stopped. Returns whether all has ended. */
  async end(clock: Clock): Promise<boolean> {
    this.#look.close();
    const ended: boolean[] = [];
    for (const host of this.hosts) ended.push((await host.end(clock)) !== undefined);
    return (await this.#postgres.stop(clock)) && !ended.includes(false);
  }
}

function notUp({ name, directory }: Host) {
  return refused("demo", `Holdfast did not start on ${name}.`, `Its log: ${directory}/home/run/watchdog.log`);
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

export function itemText({ what, name, fate, reason }: ReportItem): string {
  return `${what} ${name}: ${fate}${reason === "" ? "" : ` (${reason})`}`;
}
