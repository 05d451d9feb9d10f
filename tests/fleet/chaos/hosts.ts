// A host of the fleet: a machine with the product's real programs on it, and who sits at it.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readOwner } from "../../../src/home/fleet-files.ts";
import { realDisk } from "../../../src/world/real/disk.ts";
import { realProcesses } from "../../../src/world/real/process.ts";
import { ours } from "../../ours.ts";
import { PASSWORD } from "./databases.ts";
import { GATEWAY, Machine, type Node, type Said } from "./machines.ts";
import type { Relay } from "./relay.ts";

export const LEASE_S = 3;
/** A command waits for a database that is away; a user does not wait for ever. */
const COMMAND_MS = 20_000;
const UP_MS = 60_000;
const LOG_CHARACTERS = 4_000;
const disk = realDisk();
const processes = realProcesses();

/** Each step takes a while, and is not to be carried out twice. */
const WORKFLOW = (effects: string) => `name: steps
parameters:
  key: { required: true }
steps:
${["one", "two", "three"].map((id) => `  - id: ${id}\n    shell: echo "\${key} ${id} $HOLDFAST_TERMINAL" >> ${effects}; sleep 0.3`).join("\n")}
`;

/** A step that takes long, and shows at every moment on which host it runs. */
const TICKER = (ticks: string) => `name: ticker
parameters:
  key: { required: true }
steps:
  - shell: |
      on=$(uname -n)
      for tick in $(seq 1 ${TICKS}); do echo "tick \${key} $on" >> ${ticks}; sleep 0.1; done
`;
const TICKS = 200;

export type HostOptions = {
  readonly node: Node;
  readonly place: string;
  readonly skewLibrary: string | undefined;
  /** To each of the databases. */
  readonly relays: readonly Relay[];
  readonly effects: string;
  readonly ticks: string;
  readonly key: string;
};

export class Host {
  readonly machine: Machine;
  readonly relays: readonly Relay[];
  readonly home: string;
  readonly homes: string;
  readonly #env: Record<string, string>;

  constructor({ node, place, skewLibrary, relays, effects, ticks, key }: HostOptions) {
    this.machine = new Machine(node, place, skewLibrary);
    this.relays = relays;
    this.home = join(this.machine.disk, "work");
    this.homes = join(this.machine.disk, "homes");
    const config = join(this.machine.disk, "config.toml");
    const ports = relays.map(({ port }) => `${GATEWAY}:${port}`).join(",");
    const url = `postgres://holdfast:${PASSWORD}@${ports}/postgres?sslmode=disable&connect_timeout=2`;
    const fleet = {
      ...{ url, key_file: key, host: this.name, homes: this.homes, lease_s: LEASE_S, take: ["*"], capacity: 2 },
      ...{ mirror: this.name === "h1" ? ["*"] : [] },
    };
    const lines = Object.entries(fleet).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
    const log = ["[log]", "segment_bytes = 2097152", "max_segments = 4", "ballast_bytes = 262144"];
    writeFileSync(config, ["[web]", "enabled = false", ...log, "[fleet]", ...lines, ""].join("\n"));
    writeFileSync(this.workflow, WORKFLOW(effects));
    writeFileSync(this.ticker, TICKER(ticks));
    mkdirSync(join(this.machine.disk, "tmp"));
    const { PATH = "/usr/bin:/bin", HOLDFAST_COUNTING } = process.env;
    const counting: Record<string, string> = HOLDFAST_COUNTING === undefined ? {} : { HOLDFAST_COUNTING };
    this.#env = {
      ...{ PATH, HOLDFAST_CONFIG: config, HOME: this.machine.disk, TMPDIR: join(this.machine.disk, "tmp") },
      ...{ HOLDFAST_HEARTBEAT_MS: "500", LANG: "C.UTF-8", ...counting },
    };
  }

  get name(): string {
    return this.machine.node.name;
  }

  get workflow(): string {
    return join(this.machine.disk, "steps.yml");
  }

  get ticker(): string {
    return join(this.machine.disk, "ticker.yml");
  }

  do(words: readonly string[], patienceMs = COMMAND_MS): Promise<Said> {
    return this.machine.do(ours("src/cli/main.ts", ...words), this.#env, patienceMs);
  }

  /** Its system starts Holdfast, as a service would. */
  async start(upS: number): Promise<Said> {
    await this.machine.boot(upS);
    return this.do(["up", "--home", this.home], UP_MS);
  }

  /** Those of its own and those that it has taken over. */
  directories(): string[] {
    try {
      const taken = readdirSync(this.homes).filter((name) => !name.startsWith("."));
      return [this.home, ...taken.map((name) => join(this.homes, name))];
    } catch {
      return [this.home]; // It has taken none.
    }
  }

  /** Where the home with this take is. */
  directoryOf(take: string): string | undefined {
    return this.directories().find((home) => readOwner({ disk, home })?.take?.id === take);
  }

  /** Pids of the programs that have this in their words. */
  running(what: string): number[] {
    const isOne = (pid: number) => processes.kin(pid)?.argv.some((word) => word.includes(what)) === true;
    return this.machine.pids().filter(isOne);
  }

  log(): string {
    const tail = (home: string) => {
      try {
        return `${home}:\n${readFileSync(join(home, "run/watchdog.log"), "utf8").slice(-LOG_CHARACTERS)}`;
      } catch {
        return `${home}: no log`;
      }
    };
    return this.directories().map(tail).join("\n");
  }
}
