// What every sandbox has, whether an agent runs in it or our own git: bubblewrap's first words.
// BW1. No capability is left inside. Run by root, bubblewrap keeps them all unless told otherwise, and a process with
//      them could mount the disk.
// BW2. The kernel's settings in /proc are read-only. Without capabilities root still owns those files: by one of them,
//      core_pattern, a program outside is started. bubblewrap protects them only from processes that have capabilities.
// BW3. Everything inside ends with its first process.

/** What every program needs; missing ones are skipped. */
export const SYSTEM: readonly string[] = [
  ...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/etc", "/nix/store", "/run/current-system/sw"],
];

export const SEALED: readonly string[] = [
  ...["bwrap", "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts"], // BW3
  ...["--unshare-user-try", "--unshare-cgroup-try", "--cap-drop", "ALL"], // BW1
];

const KERNEL = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr"].map((name) => `/proc/${name}`);

/** Shows the system, with a /proc, /dev and /tmp of its own. */
export const SHOWN: readonly string[] = [
  ...SYSTEM.flatMap((path) => ["--ro-bind-try", path, path]),
  ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
  ...KERNEL.flatMap((path) => ["--ro-bind-try", path, path]), // BW2
];

/** Whether a path is part of the system that every sandbox shows. */
export function isSystem(path: string): boolean {
  return SYSTEM.some((top) => isWithin(path, top));
}

export function isWithin(path: string, top: string): boolean {
  return path === top || path.startsWith(top === "/" ? top : `${top}/`);
}

/** Exits with 0 if a sandbox can be made here. */
export const TRIAL: readonly [string, ...string[]] = [
  "bwrap",
  ...SEALED.slice(1),
  "--unshare-net",
  ...SHOWN,
  "--",
  "true",
];

/** The conventional exit code of wrappers, when it was not the program that failed. */
export const NOT_MADE = 125;
