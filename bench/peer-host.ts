// A peer's host (bench/peers/*/host.mjs): the program that runs a peer's steps, started under Node and spoken to in
// lines of JSON.
// H1. Every wait for an answer ends: a host that reports a failure, or dies, rejects it with its last message.
import { within } from "./waiting.ts";

export type HostWords = { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> };

/**
 * This many concurrent workflows with this many steps each: in-process without a command, otherwise that text for a
 * shell.
 */
export type Work = { readonly ids: readonly string[]; readonly steps: number; readonly command: string | null };

type Said = { readonly kind: "ready" | "done" } | { readonly kind: "failed"; readonly message: string };

const START_MS = 120_000;
const DONE_MS = 1_800_000;
/** After its standard input has ended. */
const END_MS = 20_000;

export class PeerHost {
  readonly #child: Bun.Subprocess<"pipe", "pipe", "pipe">;
  readonly #died = Promise.withResolvers<never>();
  #next = Promise.withResolvers<Said>();

  static async start(words: HostWords): Promise<PeerHost> {
    const host = new PeerHost(words);
    await within(() => "the host of a peer is ready", START_MS, host.#answer());
    return host;
  }

  private constructor({ argv, env }: HostWords) {
    this.#died.promise.catch(() => undefined); // Whoever waits sees it (H1).
    this.#child = Bun.spawn([...argv], { env: { ...env }, stdio: ["pipe", "pipe", "pipe"] });
    void this.#listen();
    void this.#watch();
  }

  /** To their end. */
  async run(work: Work): Promise<void> {
    this.#next = Promise.withResolvers(); // Work that was only started may have ended in the meantime.
    this.begin(work);
    await within(() => "the workflows of a peer have ended", DONE_MS, this.#answer());
  }

  /** Nobody waits for their end. */
  begin(work: Work, kind: "run" | "resume" = "run"): void {
    this.#child.stdin.write(`${JSON.stringify({ kind, ...work })}\n`);
    void this.#child.stdin.flush();
  }

  /** Gone when it resolves; killed when it returns. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.exited;
  }

  async end(): Promise<void> {
    void this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), END_MS);
    await this.#child.exited;
    clearTimeout(timer);
  }

  async #answer(): Promise<void> {
    const said = await Promise.race([this.#next.promise, this.#died.promise]);
    this.#next = Promise.withResolvers();
    if (said.kind === "failed") throw new Error(said.message); // H1
  }

  async #listen(): Promise<void> {
    let rest = "";
    for await (const part of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + part).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("{")) this.#next.resolve(JSON.parse(line));
    }
  }

  async #watch(): Promise<void> {
    const words = await this.#child.stderr.text();
    const code = await this.#child.exited;
    this.#died.reject(new Error(`the host of a peer ended with ${code}: ${words.slice(-2000)}`)); // H1
  }
}
