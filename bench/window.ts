// A user's window: a program in a pseudo-terminal, its output, and its input.
import { within } from "./waiting.ts";

const LIMIT_MS = 60_000;

type Waited = { readonly text: string; readonly found: () => void };

export class Window {
  readonly #child: Bun.Subprocess;
  readonly #decoder = new TextDecoder("latin1");
  /** The end of the output, long enough for every text that is waited for. */
  #tail = "";
  #bytes = 0;
  #waited: Waited | undefined;

  constructor(argv: readonly string[], env: Readonly<Record<string, string>>) {
    this.#child = Bun.spawn([...argv], {
      env: { ...env },
      cwd: "/",
      terminal: { cols: 80, rows: 24, data: (_, bytes) => this.#drawn(bytes) },
    });
  }

  get bytes(): number {
    return this.#bytes;
  }

  type(text: string): void {
    this.#child.terminal?.write(text);
  }

  /** Resolves when the text is drawn, from now on; a text that was drawn before does not count. */
  shows(text: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#tail = "";
    this.#waited = { text, found: resolve };
    return within(
      () => `${JSON.stringify(text)} in a window, which ends with ${JSON.stringify(this.#tail.slice(-500))}`,
      LIMIT_MS,
      promise,
    );
  }

  /** Its exit code. */
  ended(): Promise<number> {
    return within(() => "the end of a window", LIMIT_MS, this.#child.exited);
  }

  async close(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended();
  }

  #drawn(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#waited === undefined) return;
    // Only the end of a flood is looked at: decoding all of it would be measured as well.
    const { text, found } = this.#waited;
    this.#tail = (this.#tail + this.#decoder.decode(bytes.subarray(-4 * KEPT))).slice(-4 * KEPT);
    if (!this.#tail.includes(text)) return;
    this.#waited = undefined;
    found();
  }
}

const KEPT = 1024;
