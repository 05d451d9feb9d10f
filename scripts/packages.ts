// What tests need beyond npm, as Debian packages: installed by the test command where CI is set and it may (root, apt). Elsewhere
// nothing is installed: tests that need a missing one are skipped, and say so.

/** A program that a test runs, and the package it comes in. */
const NEEDED: readonly { readonly program: string; readonly package: string }[] = [
  { program: "strace", package: "strace" },
  { program: "systemd-analyze", package: "systemd" },
  { program: "tmux", package: "tmux" },
];

function missing(): string[] {
  return NEEDED.filter(({ program }) => Bun.which(program) === null).map((needed) => needed.package);
}

function run(...command: readonly [string, ...string[]]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return Bun.spawnSync([...command], { env, stdio: ["ignore", "ignore", "inherit"] }).exitCode === 0;
}

/** The packages that are still missing afterwards. */
export function installPackages(): string[] {
  const wanted = missing();
  const may = process.env["CI"] !== undefined && process.getuid?.() === 0 && Bun.which("apt-get") !== null;
  if (wanted.length === 0 || !may) return wanted;
  console.log(`installing ${wanted.join(", ")}`);
  run("apt-get", "update");
  run("apt-get", "install", "-y", "--no-install-recommends", ...wanted);
  return missing();
}
