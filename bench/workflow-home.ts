// Workflow runs on a benchmark's own daemon. Times are those of the run's log: the daemon is not asked while it works.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../src/base/ids.ts";
import type { Home } from "./home.ts";
import { until } from "./waiting.ts";

const PATIENCE_MS = 300_000;
const LOOK_MS = 20;

/** An event of a run as it is in its log. */
export type Logged = { readonly event: string; readonly ts: number; readonly data: Readonly<Record<string, unknown>> };

export class WorkflowHome {
  readonly home: Home;

  constructor(home: Home) {
    this.home = home;
  }

  /** Starts a run of this text; its id. */
  async begin(text: string): Promise<string> {
    const path = join(this.home.path, "flow.yml");
    writeFileSync(path, text);
    const client = await until("the daemon", PATIENCE_MS, () => this.home.dial());
    const id = newId(crypto.getRandomValues(new Uint8Array(16)));
    const { env } = this.home;
    const made = await client.call("workflow.run", { id, path, cwd: this.home.path, texts: {}, values: {}, env });
    client.close();
    if (!made.ok) throw new Error(made.error.message);
    return id;
  }

  /** Everything that happened in a run, once this has. */
  async log(id: string, last = "workflow.ended"): Promise<Logged[]> {
    const text = await until(`${last} in the log of ${id}`, PATIENCE_MS, async () => {
      await Bun.sleep(LOOK_MS);
      const found = this.#text(id);
      return found.includes(`"${last}"`) ? found : undefined;
    });
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const { event, ts, data } = JSON.parse(line);
        return { event, ts: Date.parse(ts), data };
      });
  }

  /** A whole run. */
  async run(text: string): Promise<Logged[]> {
    const log = await this.log(await this.begin(text));
    const end = log.at(-1);
    if (end?.data["state"] !== "done") throw new Error(`the run ended as ${JSON.stringify(end?.data)}`);
    return log;
  }

  /** Waits for its end without reading its log, which may be long. */
  async ended(id: string): Promise<void> {
    await until(`the end of ${id}`, PATIENCE_MS, async () => {
      await Bun.sleep(LOOK_MS);
      const client = await this.home.dial();
      const runs = await client?.call("workflow.list", {});
      client?.close();
      return runs?.ok === true && runs.value.some((run) => run.id === id && run.state === "done") ? true : undefined;
    });
  }

  /** The directory of a run; undefined if it has none yet. */
  placeOf(id: string): string | undefined {
    const state = join(this.home.path, "state");
    const repos = existsSync(state) ? readdirSync(state) : [];
    return repos.map((repo) => join(state, repo, "sessions", id)).find((one) => existsSync(one));
  }

  #text(id: string): string {
    const path = join(this.placeOf(id) ?? "", "events.jsonl");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }
}

/** When each event of this name was written. */
export function timesOf(log: readonly Logged[], name: string): number[] {
  return log.flatMap(({ event, ts }) => (event === name ? ts : []));
}
