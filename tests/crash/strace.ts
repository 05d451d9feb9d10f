// strace: whether it works here.

/** It may be missing, and if it is not, ptrace may be forbidden. */
export function tryStrace(): { readonly ok: boolean; readonly why: string } {
  const strace = Bun.which("strace");
  if (strace === null) return { ok: false, why: "strace is not installed" };
  const tried = Bun.spawnSync([strace, "-f", "-o", "/dev/null", "true"]);
  return { ok: tried.exitCode === 0, why: `strace does not work here: ${tried.stderr.toString().trim()}` };
}
