// Makes a Debian package of the single binary (scripts/binary.ts):
//   npm run deb -- [--target linux-x64|linux-arm64]
// It is written to dist/holdfast_VERSION_ARCHITECTURE.deb.
// DE1. The same binary gives the same package: all times in it are SOURCE_DATE_EPOCH, or that of the last commit.
// DE2. It has no scripts: nothing is started or stopped when it is installed, and homes stay when it is removed.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import about from "../package.json" with { type: "json" };
import { PACKAGED_BINARY, PACKAGED_UNIT, packagedUnit } from "../src/cli/service/packaged.ts";
import { SHELL_SCRIPTS } from "../src/cli/system/completions.ts";
import { PLATFORM } from "../src/world/real/runtime.ts";
import { ar, type Packed, tar } from "./archive.ts";
import { buildBinary, isTarget } from "./binary.ts";
import type { Target } from "./binary-runtime.ts";
import { ROOT, readText } from "./files.ts";
import { licenses } from "./licenses.ts";

const ARCHITECTURES: Readonly<Record<Target, string>> = { "linux-x64": "amd64", "linux-arm64": "arm64" };
/** Those of Debian's own tools. */
const { DEBFULLNAME = "Holdfast maintainers", DEBEMAIL = "maintainers@holdfast.invalid" } = process.env;
const MAINTAINER = `${DEBFULLNAME} <${DEBEMAIL}>`;
const DOC = "usr/share/doc/holdfast";

export type DebOptions = { readonly binary: Uint8Array; readonly target: Target; readonly timeS: number };

export function debOf({ binary, target, timeS }: DebOptions): Uint8Array {
  const files = filesOf(binary, timeS);
  const sums = files.map(({ path, bytes }) => `${createHash("md5").update(bytes).digest("hex")}  ${path}\n`);
  const control: readonly Packed[] = [
    { path: "control", mode: 0o644, bytes: controlOf(files, ARCHITECTURES[target]) },
    { path: "md5sums", mode: 0o644, bytes: sums.join("") },
  ];
  const parts = [
    ["debian-binary", Buffer.from("2.0\n")],
    ["control.tar.gz", packed(tar(control, timeS))],
    ["data.tar.gz", packed(tar(files, timeS), 6)],
  ] as const;
  return ar(parts, timeS);
}

/** The tightest, as Debian asks of documents; a whole package takes half the time with less. */
function packed(bytes: Uint8Array | string, level: 6 | 9 = 9): Uint8Array {
  return Bun.gzipSync(Buffer.from(bytes), { library: "libdeflate", level });
}

/** Of lintian's checks: what Bun is like, and that `strip` breaks a binary of it. */
const OVERRIDES = ["unstripped-binary-or-object", "embedded-library", "hardening-no-pie", "hardening-no-relro"];

/** Sorted by path, as archives list them. */
function filesOf(binary: Uint8Array, timeS: number): readonly Packed[] {
  const plain = (path: string, bytes: Uint8Array | string): Packed => ({ path, mode: 0o644, bytes });
  return [
    { path: PACKAGED_BINARY.slice(1), mode: 0o755, bytes: binary },
    plain(PACKAGED_UNIT.slice(1), packagedUnit()),
    plain("usr/share/bash-completion/completions/holdfast", SHELL_SCRIPTS.bash),
    plain(`${DOC}/NEWS.gz`, packed(readText("CHANGELOG.md"))),
    plain(`${DOC}/changelog.gz`, packed(changelog(timeS))),
    plain(`${DOC}/copyright`, copyright()),
    plain("usr/share/fish/vendor_completions.d/holdfast.fish", SHELL_SCRIPTS.fish),
    plain("usr/share/lintian/overrides/holdfast", OVERRIDES.map((name) => `holdfast: ${name} *\n`).join("")),
    plain("usr/share/man/man1/holdfast.1.gz", packed(readText("docs/holdfast.1"))),
    plain("usr/share/zsh/vendor-completions/_holdfast", autoloaded(SHELL_SCRIPTS.zsh)),
  ];
}

/** zsh runs the whole file at the first Tab, as the function. */
function autoloaded(script: string): string {
  return `#compdef holdfast\n${script.replace("compdef _holdfast holdfast", '_holdfast "$@"')}`;
}

function controlOf(files: readonly Packed[], architecture: string): string {
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  return [
    `Package: ${about.name}`,
    `Version: ${about.version}`,
    `Architecture: ${architecture}`,
    `Maintainer: ${MAINTAINER}`,
    `Installed-Size: ${Math.ceil(bytes / 1024)}`,
    "Depends: libc6 (>= 2.17)",
    "Suggests: bubblewrap, git, tmux",
    "Section: utils",
    "Priority: optional",
    `Description: ${about.description.replace(/^A /, "")}`,
    " Terminals outlive the daemon, and start again where they were after a reboot.",
    " Agents keep their messages and permission prompts; workflows go on at the",
    " right step. What was acknowledged is on disk.",
    "",
  ].join("\n");
}

function changelog(timeS: number): string {
  const date = new Date(timeS * 1000).toUTCString().replace("GMT", "+0000");
  const entry = "  * What changed is in NEWS.gz beside this file.";
  return `${about.name} (${about.version}) unstable; urgency=medium\n\n${entry}\n\n -- ${MAINTAINER}  ${date}\n`;
}

/** Debian has one copy of it for all. */
const WHOLE_APACHE = /^ *Apache License\s+Version 2\.0, January 2004[\s\S]*?END OF TERMS AND CONDITIONS$/gm;
const COMMON_APACHE = "/usr/share/common-licenses/Apache-2.0";

function copyright(): string {
  const holdfast = `Holdfast is licensed under the Apache License 2.0:\n${COMMON_APACHE}`;
  const bun = readText("node_modules/bun-types/docs/project/license.mdx").replace(/^---\n.*?\n---\n/s, "");
  const packages = licenses().replaceAll(WHOLE_APACHE, COMMON_APACHE);
  return [holdfast, `It contains Bun ${about.dependencies.bun}:\n${bun}`, packages].join("\n\n");
}

/** DE1 */
function timeOf(): number {
  const given = process.env["SOURCE_DATE_EPOCH"];
  const { stdout } = Bun.spawnSync(["git", "log", "-1", "--format=%ct"], { cwd: ROOT, stderr: "ignore" });
  return Number(given ?? stdout.toString().trim());
}

/** Returns the path of the package. An existing name is a whole package. */
async function buildDeb(target: Target): Promise<string> {
  const dist = join(ROOT, "dist");
  mkdirSync(dist, { recursive: true });
  const scratch = mkdtempSync(join(dist, ".deb-"));
  try {
    const binary = join(scratch, "holdfast");
    await buildBinary({ target, out: binary });
    const made = join(scratch, "deb");
    writeFileSync(made, debOf({ binary: readFileSync(binary), target, timeS: timeOf() }));
    const out = join(dist, `${about.name}_${about.version}_${ARCHITECTURES[target]}.deb`);
    renameSync(made, out);
    return out;
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

if (import.meta.main) {
  const { target } = parseArgs({ options: { target: { type: "string", default: PLATFORM } } }).values;
  if (!isTarget(target)) throw new Error(`--target is one of ${Object.keys(ARCHITECTURES).join(", ")}`);
  console.log(await buildDeb(target));
}
