// The Bun that runs inside our single binary, for this machine or another one.
// RU1. It is the pinned version: that of package-lock.json, with the digest from there.
// RU2. It does not know the variables by which anyone could make it another program: BUN_BE_BUN turns each binary made
//      with it into Bun itself, BUN_OPTIONS preloads a file into it, and both before any of our code runs. Their names
//      are changed in the file to ones that no shell can set. A name that is not in it just once stops the build.
import { createHash } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUN_VARIABLES } from "../src/base/bun.ts";
import { PLATFORM } from "../src/world/real/runtime.ts";

/** As npm calls the package with its Bun, and as Bun calls the target. */
export const TARGETS = {
  "linux-x64": { package: "@oven/bun-linux-x64", bun: "bun-linux-x64" },
  "linux-arm64": { package: "@oven/bun-linux-aarch64", bun: "bun-linux-arm64" },
} as const;
export type Target = keyof typeof TARGETS;

/** It would write a file wherever this one says. */
const UNKNOWN = [...BUN_VARIABLES, "BUN_BYTECODE_ORDER_OUT"];
/** With this in its place no shell can set it. */
const IMPOSSIBLE = "=";

/** Writes it to a file in `directory`, and returns its path. */
export function runtimeFor(target: Target, root: string, directory: string): string {
  const path = join(directory, "runtime");
  const own = join(root, "node_modules/bun/bin/bun.exe");
  const bytes = readFileSync(target === PLATFORM ? own : packed(target, root, directory));
  for (const name of UNKNOWN) forget(bytes, name);
  writeFileSync(path, bytes);
  chmodSync(path, 0o755);
  return path;
}

/** RU2. The end stays, because other strings may share it. */
function forget(bytes: Buffer, name: string): void {
  const text = Buffer.from(`\0${name}\0`);
  const at = bytes.indexOf(text);
  if (at < 0 || bytes.indexOf(text, at + 1) >= 0) throw new Error(`${name} is not just once in this Bun`);
  bytes.write(IMPOSSIBLE, at + 1);
}

/** RU1 */
function packed(target: Target, root: string, directory: string): string {
  const name = TARGETS[target].package;
  const locked = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages[`node_modules/${name}`];
  run(["npm", "pack", `${name}@${locked.version}`, "--silent"], directory);
  const [archive = ""] = new Bun.Glob("*.tgz").scanSync(directory);
  const [algorithm = "", digest] = String(locked.integrity).split(/-(.*)/);
  const found = createHash(algorithm)
    .update(readFileSync(join(directory, archive)))
    .digest("base64");
  if (found !== digest) throw new Error(`${archive} does not have the digest of package-lock.json`);
  run(["tar", "-xzf", archive], directory);
  return join(directory, "package/bin/bun");
}

function run(words: readonly string[], cwd: string): void {
  const { exitCode, stderr } = Bun.spawnSync([...words], { cwd, stdout: "ignore", stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`${words.join(" ")}: ${stderr}`);
}
