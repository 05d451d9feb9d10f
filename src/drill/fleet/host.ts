// A host of the demonstrated fleet: its own home, its own configuration, its own directory for homes that it takes
// over, and its own boot, so that nothing of it counts as alive on another host.
// HO1. It begins with the commands that people use: `fleet init` and `fleet join`.
import { baseName, joinPath } from "../../base/path.ts";
import { startWatchdog } from "../../home/start-watchdog.ts";
import { readWanted, writeWanted } from "../../home/wanted.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { makeDirectories } from "../../log/file/file.ts";
import type { StatusResult } from "../../wire/rpc/rpc.ts";
import type { Clock } from "../../world/clock.ts";
import { StatusEye } from "../ask.ts";
import { type Killed, killAtOnce, Machine } from "../machine/boots.ts";
import { type DrillProcess, processesOf } from "../processes.ts";
import { type Site, siteAt } from "../site.ts";
import { seen } from "./look.ts";
import { type Ended, type PostgresWorld, runToEnd } from "./private-postgres.ts";

export const LEASE_S = 3;
const BETWEEN_STARTS_MS = 1_000;
const START_MS = 120_000;

export class Host {
  readonly name: string;
  readonly directory: string;
  readonly #world: PostgresWorld;
  readonly #machine: Machine;

  /** `place`: the directory of the demonstration. */
  constructor(world: PostgresWorld, place: string, name: string) {
    this.name = name;
    this.directory = joinPath(place, name);
    this.#world = world;
    // With a password, no file of passwords is read that the user's variables name. Nobody asks for it.
    const more = { HOLDFAST_CONFIG: this.config, HOME: this.directory, PGPASSWORD: "none" };
    this.#machine = new Machine(siteAt(world, this.home, more), name);
  }

  get home(): string {
    return joinPath(this.directory, "home");
  }

  get config(): string {
    return joinPath(this.directory, "config.toml");
  }

  get key(): string {
    return joinPath(this.directory, "fleet.key");
  }

  /** The name of its home in the fleet. */
  get homeName(): string {
    return `${this.name}-${baseName(this.home)}`;
  }

  /** Of its own home, or of one that it has taken over. */
  site(home = this.home): Site {
    return { ...this.#machine.site, home };
  }

  /** Where a home is that it takes over. */
  taken(name: string): string {
    return joinPath(this.#homes, name);
  }

  get #homes(): string {
    return joinPath(this.directory, "homes");
  }

  async configure(): Promise<void> {
    makeDirectories(this.#world.disk, this.directory);
    const fleet = {
      ...{ host: this.name, key_file: this.key, lease_s: LEASE_S },
      ...{ homes: this.#homes, take: ["*"] },
    };
    const lines = Object.entries(fleet).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
    const text = ["[web]", "enabled = false", "", "[fleet]", ...lines, ""].join("\n");
    await writeAtomic(this.#world.disk, this.config, Buffer.from(text));
  }

  /** For a shell, so that the commands in it are those of this host. */
  async writeEnvironment(): Promise<void> {
    const all = this.site().world.self.environment();
    const names = ["HOLDFAST_HOME", "HOLDFAST_CONFIG", "HOLDFAST_BOOT_ID"];
    const lines = names.map((name) => `export ${name}='${(all[name] ?? "").replaceAll("'", "'\\''")}'`);
    await writeAtomic(this.#world.disk, joinPath(this.directory, "environment"), Buffer.from(`${lines.join("\n")}\n`));
  }

  /** A command of ours on this host. */
  command(...words: readonly string[]): Promise<Ended> {
    const { self } = this.site().world;
    return runToEnd(this.#world.children, self.command("src/cli/main.ts", ...words), self.environment());
  }

  /** Starts it. Undefined if its daemon does not come so far. */
  async start(isReady: (status: StatusResult) => boolean): Promise<StatusResult | undefined> {
    const { clock } = this.#world;
    const eye = new StatusEye(this.site());
    let started = Number.NEGATIVE_INFINITY;
    const status = await seen(clock, START_MS, async () => {
      const now = await eye.look();
      if (now === undefined && clock.elapsed() - started > BETWEEN_STARTS_MS) {
        started = clock.elapsed();
        await startWatchdog(this.site().world, this.home);
      }
      return now !== undefined && isReady(now) ? now : undefined;
    });
    eye.close();
    return status;
  }

  /** As when it loses its power. Undefined if something does not end. The next start is in another boot. */
  async die(): Promise<Killed | undefined> {
    const killed = await this.#kill(this.#world.clock);
    this.#machine.nextBoot();
    return killed;
  }

  /** Ends everything of it. Undefined if something does not end. `clock`: ours may have been stopped. */
  async end(clock: Clock): Promise<Killed | undefined> {
    const { disk } = this.#world;
    for (const home of this.#directories())
      if (readWanted(disk, home) !== "down") await writeWanted(disk, home, "down"); // They heal each other.
    return this.#kill(clock);
  }

  #kill(clock: Clock): Promise<Killed | undefined> {
    return killAtOnce({ clock, processes: this.site().world.processes }, () => this.#processes());
  }

  #processes(): DrillProcess[] {
    const found = this.#directories().flatMap((home) => processesOf(this.site(home)));
    return [...new Map(found.map((one) => [one.who.pid, one])).values()];
  }

  #directories(): string[] {
    const { disk } = this.#world;
    const homes = [this.home, ...disk.list(this.#homes).map((name) => joinPath(this.#homes, name))];
    return homes.filter((home) => disk.stat(home)?.kind === "directory");
  }
}
