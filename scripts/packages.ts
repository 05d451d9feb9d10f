// What tests need beyond our own packages: Debian packages, and real agents from npm in a package of their own
// (tests/agent/real).
// Installed by the test command where CI is set and it may (for Debian: root, apt). Elsewhere nothing is installed:
// tests that need a missing one are skipped, and say so. `npm run test:agents` installs all real agents anywhere.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./files.ts";
import { postgresPrograms } from "./postgres-server.ts";

/** A program that a test runs, and the package it comes in. */
const NEEDED: readonly { readonly program: string; readonly package: string }[] = [
  { program: "bwrap", package: "bubblewrap" },
  { program: "chromium", package: "chromium" },
  { program: "groff", package: "groff-base" },
  { program: "ip", package: "iproute2" },
  { program: "nft", package: "nftables" },
  { program: "strace", package: "strace" },
  { program: "systemd-analyze", package: "systemd" },
  { program: "tmux", package: "tmux" },
  { program: "vi", package: "vim-tiny" },
];

/** Chromium without windows, which takes half the processor time (tests/page/browser.ts). Not every system has it. */
const FASTER = "chromium-headless-shell";

/** Its programs are not on the PATH. */
const POSTGRES = "postgresql";
/** Without it, Debian's package makes a cluster and starts it. Tests have one of their own. */
const NO_CLUSTER = { directory: "/etc/postgresql-common/createcluster.d", text: "create_main_cluster = false\n" };

function missing(): string[] {
  const programs = NEEDED.filter(({ program }) => Bun.which(program) === null).map((needed) => needed.package);
  return postgresPrograms() === undefined ? [...programs, POSTGRES] : programs;
}

function run(...command: readonly [string, ...string[]]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return Bun.spawnSync([...command], { env, stdio: ["ignore", "ignore", "inherit"] }).exitCode === 0;
}

const AGENTS = "tests/agent/real";
/** Too large for the gate: `npm run test:agents` installs and runs them. */
const MORE_AGENTS = `${AGENTS}/more`;

/** Real agents, in the versions of their lockfiles; their own scripts are not run. */
function installAgents(): string[] {
  const all = process.env["HOLDFAST_AGENTS"] === "all";
  const wanted = all ? [AGENTS, MORE_AGENTS] : [AGENTS];
  return wanted.flatMap((directory) => installAgentsIn(directory, all || process.env["CI"] !== undefined));
}

function installAgentsIn(directory: string, may: boolean): string[] {
  const isThere = () => existsSync(join(ROOT, directory, "node_modules/.package-lock.json"));
  const npm = Bun.which("npm");
  if (!isThere() && npm !== null && may) {
    console.log(`installing real agents (npm ci in ${directory})`);
    const argv = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    Bun.spawnSync(argv, { cwd: join(ROOT, directory), stdio: ["ignore", "ignore", "inherit"] });
  }
  return isThere() ? [] : [`real agents (npm ci --ignore-scripts in ${directory})`];
}

/** What is still missing afterwards. */
export function installPackages(): string[] {
  allowSandboxes();
  return [...installDebian(), ...installAgents()];
}

/** Ubuntu forbids users the namespaces that sandboxes are made of; there the escapes of users could not be tried. */
function allowSandboxes(): void {
  const setting = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
  if (process.env["CI"] !== undefined && process.getuid?.() === 0 && existsSync(setting)) writeFileSync(setting, "0");
}

function installDebian(): string[] {
  const wanted = missing();
  const may = process.env["CI"] !== undefined && process.getuid?.() === 0 && Bun.which("apt-get") !== null;
  if (!may || (wanted.length === 0 && Bun.which(FASTER) !== null)) return wanted;
  console.log(`installing ${[...wanted, FASTER].join(", ")}`);
  run("apt-get", "update");
  const install = ["apt-get", "install", "-y", "--no-install-recommends"] as const;
  if (wanted.includes(POSTGRES)) {
    mkdirSync(NO_CLUSTER.directory, { recursive: true });
    writeFileSync(join(NO_CLUSTER.directory, "holdfast.conf"), NO_CLUSTER.text);
  }
  if (wanted.length > 0) run(...install, ...wanted);
  run(...install, FASTER);
  return missing();
}
