// People at terminals: each types numbered lines, one after the other has been echoed, into a program that keeps what
// it reads.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Product } from "../golden/product.ts";
import { until } from "../until.ts";

export class Typist {
  readonly #window: Bun.Subprocess;
  readonly #file: string;
  #seen = "";
  #typed = 0;
  #stopped = false;
  readonly #work: Promise<void>;

  /** The terminal exists. */
  constructor(place: Product, words: readonly string[], name: string) {
    this.#file = linesOf(place, name);
    const data = (_: unknown, bytes: Uint8Array) => {
      this.#seen = (this.#seen + Buffer.from(bytes).toString()).slice(-4_000);
    };
    this.#window = Bun.spawn([...words, "attach", name], {
      env: { ...place.env, TERM: "xterm-256color" },
      terminal: { cols: 80, rows: 24, data },
    });
    this.#work = this.#type();
  }

  async #type(): Promise<void> {
    while (!this.#stopped) {
      this.#typed += 1;
      this.#window.terminal?.write(`line ${this.#typed}\r`);
      const echo = `got line ${this.#typed}.`;
      await until(
        `its program has read line ${this.#typed}`,
        () => this.#seen.includes(echo),
        () => this.#seen,
      );
    }
  }

  /** How many lines were typed. Throws if one is missing, doubled or in the wrong place. */
  async stop(): Promise<number> {
    this.#stopped = true;
    await this.#work;
    this.#window.kill("SIGKILL");
    await this.#window.exited;
    const wanted = Array.from({ length: this.#typed }, (_, at) => `line ${at + 1}\n`).join("");
    const found = existsSync(this.#file) ? readFileSync(this.#file, "utf8") : "";
    if (found !== wanted) throw new Error(`${this.#file}: ${found.length} bytes of ${wanted.length}`);
    return this.#typed;
  }
}

function linesOf(place: Product, name: string): string {
  return join(place.root, `${name}.lines`);
}

/** A terminal for a typist. */
export async function openTerminal(place: Product, name: string): Promise<void> {
  const program = `while read -r line; do echo "$line" >>"${linesOf(place, name)}"; echo "got $line."; done`;
  await place.ok(["new", name, "-d", "--", "sh", "-c", program]);
}
