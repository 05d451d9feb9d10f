// A program that prints as much as it is asked for, and a client that gets every byte of it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { HolderClient, HolderEvents } from "../src/wire/holder/client.ts";
import type { Home, Words } from "./home.ts";
import type { Contestant } from "./rounds.ts";
import { within } from "./waiting.ts";

const MB = 1_000_000;
const LIMIT_MS = 60_000;
export const READY = "@ready@";
const LINE = "x".repeat(79);
/**
 * Reads how many MB are wanted, writes them, and says that it has. The marks are put together, so that no echo can be
 * taken for one.
 */
export const PROGRAM = [
  "sh",
  "-c",
  `stty -echo; echo @rea''dy@; while read mb; do yes ${LINE} | head -c "$mb"000000; echo; echo @do''ne@; done`,
] as const;
export const DONE = "@done@";

/** Of a new terminal with this program: where its holder listens, and with which token. */
export async function holderOf(
  home: Home,
  program: Words,
): Promise<{ readonly id: string; readonly socket: string; readonly token: string }> {
  const before = new Set((await home.terminals()).map(({ id }) => id));
  await home.open(1, program);
  const id = (await home.terminals()).find((one) => !before.has(one.id))?.id ?? "";
  const { socket, token } = JSON.parse(readFileSync(join(home.path, "terminals", id, "holder.json"), "utf8"));
  return { id, socket, token };
}

/** Counts what a client gets, and looks for a text at its end, as the windows of the others do. */
export class Flood implements HolderEvents {
  readonly #name: string;
  readonly #decoder = new TextDecoder("latin1");
  #tail = "";
  #bytes = 0;
  #cuts = 0;
  #waited: { readonly text: string; readonly found: () => void } | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  /** By a client that reports to this. */
  async through(client: HolderClient): Promise<Contestant> {
    const ready = this.#shows(READY);
    const welcome = await client.connect();
    if (!welcome.ok) throw new Error(welcome.error.message);
    await ready;
    const run = async (mb: number) => {
      const done = this.#shows(DONE);
      void client.input(Buffer.from(`${mb}\n`));
      await done;
      this.#mustHave(mb * MB);
    };
    return { name: this.#name, run, close: () => client.close() };
  }

  #shows(text: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    [this.#tail, this.#bytes] = ["", 0];
    this.#waited = { text, found: resolve };
    return within(() => `${text} from the holder`, LIMIT_MS, promise);
  }

  output(_offset: number, bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    this.#tail = (this.#tail + this.#decoder.decode(bytes.subarray(-4096))).slice(-4096);
    if (this.#waited === undefined || !this.#tail.includes(this.#waited.text)) return;
    this.#waited.found();
    this.#waited = undefined;
  }

  resync(): void {
    this.#cuts += 1;
  }

  #mustHave(bytes: number): void {
    if (this.#bytes >= bytes) return;
    throw new Error(`the client got ${this.#bytes} of ${bytes} bytes: it was cut off ${this.#cuts} times`);
  }
}
