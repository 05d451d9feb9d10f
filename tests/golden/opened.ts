// A golden home, unpacked where it never was before, and the product of this tree on it.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/files.ts";
import { BUN, COUNTING } from "../ours.ts";
import type { Left } from "./look.ts";
import { Product } from "./product.ts";
import { SHIFT } from "./then.ts";

const THEN = join(import.meta.dir, "then.ts");
/** Between two boots: more than any budget of restarts counts. */
const BOOT_MS = 3_600_000;
const FLAGS = ["--config=/dev/null", "--no-env-file", "--no-install"];

/** The words that start `holdfast` of this tree, on the clock of then.ts. */
export const HOLDFAST = [BUN, ...FLAGS, ...COUNTING, "--preload", THEN, join(ROOT, "src/cli/main.ts")];

/** Those that have a golden home. */
export const VERSIONS = ["v0.1"] as const;

/** What lies beside a golden home: what every version must say of it. */
export function expectedOf(version: string) {
  return JSON.parse(readFileSync(join(import.meta.dir, version, "expected.json"), "utf8"));
}

export class Opened {
  /** Short: the path of a socket is limited. */
  readonly root = mkdtempSync("/tmp/hfg-");
  #shiftMs: number;
  #boot = 2;

  constructor(version: string, left: Left) {
    this.#shiftMs = Date.now() - Date.parse(left.at);
    unpack(join(import.meta.dir, version, "home.tar.gz"), this.root);
    mkdirSync(join(this.root, "user"));
  }

  /** The product in another boot of the machine than the one before, an hour later. */
  boot(): Product {
    this.#boot += 1;
    this.#shiftMs -= BOOT_MS;
    const env = { HOLDFAST_BOOT_ID: `boot-${this.#boot}`, [SHIFT]: String(this.#shiftMs) };
    return new Product({ words: HOLDFAST, root: this.root, env });
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export function unpack(archive: string, into: string): void {
  const { exitCode, stderr } = Bun.spawnSync(["tar", "-xzf", archive, "-C", into]);
  if (exitCode !== 0) throw new Error(`${archive}: ${stderr.toString()}`);
}
