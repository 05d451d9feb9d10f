// Has scripts (sweep-main.ts) or plans (main.ts) carried out by another process, one after the other: its code is
// loaded and compiled only once.
import { join } from "node:path";
import type { Plan } from "./plan.ts";
import type { Lived, Script } from "./script.ts";
import type { Told } from "./story.ts";

type Programs = {
  readonly "sweep-main.ts": { readonly asked: Script; readonly lived: Lived };
  readonly "main.ts": { readonly asked: Plan; readonly lived: Told };
};

export class Teller<P extends keyof Programs> {
  readonly #process;
  readonly #lines: AsyncGenerator<string, undefined>;

  constructor(program: P) {
    const argv = [process.execPath, join(import.meta.dir, program)];
    this.#process = Bun.spawn(argv, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
    this.#lines = linesIn(this.#process.stdout);
  }

  async live(asked: Programs[P]["asked"]): Promise<Programs[P]["lived"]> {
    this.#process.stdin.write(`${JSON.stringify(asked)}\n`);
    this.#process.stdin.flush();
    const { value } = await this.#lines.next();
    const { lived, failed, ...more } = JSON.parse(value ?? `{"failed":"the process is gone"}`);
    if (failed !== undefined) throw new Error(`${failed}\n${JSON.stringify(more)}`);
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
