// Workflow runs on real daemons: shared by the tests of their lives.
import { readdirSync, writeFileSync } from "node:fs";
import { newId } from "../../src/base/ids.ts";
import type { ShownRun } from "../../src/wire/rpc/workflow.ts";
import type { DaemonHome } from "../daemon/home.ts";
import { until } from "../until.ts";

const PATH = "/usr/local/bin:/usr/bin:/bin";

export class Runs {
  readonly home: DaemonHome;

  constructor(home: DaemonHome) {
    this.home = home;
  }

  /** Starts a run of this text; returns its id once it is durable. */
  async begin(text: string, texts: Readonly<Record<string, string>> = {}, id = newId(randomBytes())): Promise<string> {
    const path = this.home.file("flow.yml");
    writeFileSync(path, text);
    const env = { PATH, MY_TOKEN: "hush" };
    await this.home.must("workflow.run", { id, path, cwd: this.home.path, texts, values: {}, env });
    return id;
  }

  show(id: string): Promise<ShownRun> {
    return this.home.must("workflow.show", { id, from: 0 });
  }

  is(id: string, ...states: readonly string[]): Promise<ShownRun> {
    return until(
      `${id} is ${states.join(" or ")}`,
      async () => {
        const answer = await this.home.ask("workflow.show", { id, from: 0 });
        return answer?.ok === true && states.includes(answer.value.state) ? answer.value : undefined;
      },
      () => this.home.ask("workflow.show", { id, from: 0 }),
    );
  }

  /** Its log, once it has the last event. */
  async log(id: string): Promise<string> {
    const path = `state/${(await this.show(id)).repo}/sessions/${id}/events.jsonl`;
    await until(
      `${id} has its end in its log`,
      () => this.home.text(path).includes('"workflow.ended"'),
      () => this.home.text(path),
    );
    return this.home.text(path);
  }

  /** The exit of an attempt, if there is one. */
  exit(id: string, attempt: number): string {
    return this.#file(id, attempt, "exit.json");
  }

  /** The process that holds an attempt: it may have held others before. */
  holder(id: string, attempt: number): number {
    return JSON.parse(this.claim(id, attempt)).pid;
  }

  /** Empty if it is not claimed yet. */
  claim(id: string, attempt: number): string {
    return this.#file(id, attempt, "claim.json");
  }

  #file(id: string, attempt: number, name: string): string {
    const [repo] = readdirSync(this.home.file("state"));
    return this.home.text(`state/${repo}/sessions/${id}/attempts/${attempt}/${name}`);
  }

  /** The lines that steps have appended. */
  lines(name = "effects"): string[] {
    return this.home.text(name).split("\n").filter(Boolean);
  }
}

function randomBytes(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(16));
}

/** This many steps, each of which appends one line when it begins its work, with a short pause before and after. */
export function counting(steps: number, seconds: number): string {
  const one = (at: number) =>
    `  - id: s${at}\n    shell: sleep ${seconds}; echo s${at} >> effects; sleep ${seconds}; echo said ${at}\n    capture: out${at}\n`;
  return `name: counting\nsteps:\n${Array.from({ length: steps }, (_, at) => one(at + 1)).join("")}`;
}
