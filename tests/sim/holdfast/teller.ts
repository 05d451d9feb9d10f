// Has scripts carried out by another process (sweep-main.ts), one after the other.
import { join } from "node:path";
import type { Lived, Script } from "./script.ts";

export class Teller {
  readonly #process = Bun.spawn([process.execPath, join(import.meta.dir, "sweep-main.ts")], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  readonly #lines = linesIn(this.#process.stdout);

  async live(script: Script): Promise<Lived> {
    this.#process.stdin.write(`${JSON.stringify(script)}\n`);
    this.#process.stdin.flush();
    const { value } = await this.#lines.next();
    const { lived, failed } = JSON.parse(value ?? `{"failed":"the process is gone"}`);
    if (failed !== undefined) throw new Error(failed);
    return lived;
  }

  async close(): Promise<void> {
    this.#process.stdin.end();
    await this.#process.exited;
  }
}

async function* linesIn(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  return undefined;
}
