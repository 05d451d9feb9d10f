// tmux as a second opinion: an independent emulator, asked for the content of its cells.
// T1. It has its own server, without a configuration, and is killed at the end.
// T2. Bytes have been parsed once the pane has the title that follows them.
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ScreenCells } from "../../src/core/terminal/screen.ts";
import { describe } from "../../src/vt/describe.ts";
import { Emulator } from "../../src/vt/emulator.ts";

const CONFIGURATION = "set -g status off\nset -g default-terminal tmux-256color\nset -s exit-empty off\n";
const FACTS = [
  ...[
    "cursor_x",
    "cursor_y",
    "cursor_flag",
    "alternate_on",
    "insert_flag",
    "keypad_cursor_flag",
    "keypad_flag",
    "wrap_flag",
  ],
  ...["origin_flag", "mouse_standard_flag", "mouse_button_flag", "mouse_all_flag", "mouse_sgr_flag"],
  ...["scroll_region_upper", "scroll_region_lower"],
] as const;

export type Opinion = { readonly facts: Readonly<Record<string, number>>; readonly cells: ScreenCells };

export class Tmux {
  readonly #directory = mkdtempSync(join(tmpdir(), "hftm-"));
  readonly #size: { readonly cols: number; readonly rows: number };
  readonly #fifo: number;
  #shown = 0;

  constructor(size: { readonly cols: number; readonly rows: number }) {
    this.#size = size;
    const fifo = join(this.#directory, "in");
    writeFileSync(join(this.#directory, "conf"), CONFIGURATION);
    Bun.spawnSync(["mkfifo", fifo]);
    const { cols, rows } = size;
    const command = `stty raw -echo; exec cat '${fifo}'`;
    this.#run("new-session", "-d", "-s", "x", "-x", String(cols), "-y", String(rows), command);
    this.#fifo = openSync(fifo, "w");
  }

  /** What it makes of everything so far. */
  async shows(bytes: Uint8Array): Promise<Opinion> {
    this.#shown += 1;
    const mark = `station ${this.#shown}`;
    const all = Buffer.concat([bytes, Buffer.from(`\u001b]2;${mark}\u001b\\`)]);
    for (let done = 0; done < all.length; ) done += writeSync(this.#fifo, all, done);
    const start = performance.now();
    while (this.#run("display-message", "-p", "-t", "x", "#{pane_title}").trim() !== mark) {
      if (performance.now() - start > 20_000) throw new Error(`tmux did not get to ${mark}`);
      await Bun.sleep(2); // T2
    }
    const values = this.#run("display-message", "-p", "-t", "x", FACTS.map((fact) => `#{${fact}}`).join(","))
      .trim()
      .split(",");
    const facts = Object.fromEntries(FACTS.map((fact, at) => [fact, Number(values[at])]));
    return { facts, cells: this.#cells() };
  }

  close(): void {
    closeSync(this.#fifo);
    this.#run("kill-server");
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #cells(): ScreenCells {
    const rows = this.#run("capture-pane", "-e", "-p", "-N", "-t", "x").replace(/\n$/, "").split("\n");
    const emulator = new Emulator(this.#size, 0);
    emulator.feed(Buffer.from(rows.join("\r\n")));
    const cells = describe(emulator);
    emulator.dispose();
    return cells;
  }

  /** T1 */
  #run(...words: readonly string[]): string {
    const [socket, conf] = [join(this.#directory, "s"), join(this.#directory, "conf")];
    const env = { PATH: "/usr/bin:/bin", LANG: "C.UTF-8", HOME: this.#directory };
    const done = Bun.spawnSync(["tmux", "-u", "-S", socket, "-f", conf, ...words], { env });
    if (done.exitCode !== 0) throw new Error(`tmux ${words[0]}: ${done.stderr}`);
    return done.stdout.toString();
  }
}
