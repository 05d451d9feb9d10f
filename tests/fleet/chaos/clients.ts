// Who works in a home, wherever it is now: opens terminals, runs steps that must not happen twice, tells an agent what
// to do and answers its prompts, and remembers what was acknowledged.
import { AGENT } from "../../golden/flows.ts";
import type { SimRandom } from "../../sim/random.ts";
import type { Host } from "./hosts.ts";
import type { Said } from "./machines.ts";

export type Kind = "terminal" | "run" | "message" | "answer" | "any" | "ticker";
/** `key`: a terminal's name, a run's id, what a message says, or a prompt's id. */
export type Acknowledged = { readonly kind: Kind; readonly home: string; readonly key: string };

export type HomeRow = { readonly id: string; readonly owner: string; readonly take: string };
export type At = { readonly host: Host; readonly home: string };

const KINDS: readonly Kind[] = ["terminal", "run", "run", "message", "answer", "answer", "any", "ticker"];
const AGENT_NAME = "asker";

export class Client {
  readonly home: string;
  readonly acknowledged: Acknowledged[] = [];
  /** Whose end nobody was told, or that were refused. */
  failed = 0;
  lastFailure = "";
  readonly #random: SimRandom;
  readonly #find: (home: string) => Promise<At | undefined>;
  #count = 0;
  #isAgentThere = false;

  constructor(home: string, random: SimRandom, find: (home: string) => Promise<At | undefined>) {
    this.home = home;
    this.#random = random;
    this.#find = find;
  }

  /** Until `isOver`. */
  async work(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.once(this.#random.pick(KINDS));
      await Bun.sleep(20 + this.#random.int(200));
    }
  }

  /** Returns whether it was acknowledged; that nobody asks anything is no failure. */
  async once(kind: Kind): Promise<boolean> {
    const at = await this.#find(this.home);
    if (at === undefined) return false;
    this.#count += 1;
    const key = `${this.home}-${kind}${this.#count}`;
    if (kind === "terminal") return this.#told(kind, key, await this.#do(at, "new", key, "--detach", "--", "cat"));
    if (kind === "message") return this.#message(at, key);
    if (kind === "answer") return this.#answer(at);
    const where = kind === "any" ? "--any" : "--detach";
    const file = kind === "ticker" ? at.host.ticker : at.host.workflow;
    const said = await this.#do(at, "run", file, "--param", `key=${key}`, where, "--json");
    return this.#told(kind, said.code === 0 ? String(JSON.parse(said.out).id) : key, said);
  }

  #do({ host, home }: At, ...words: readonly string[]): Promise<Said> {
    const flags = words.indexOf("--");
    const at = flags < 0 ? words.length : flags;
    return host.do([...words.slice(0, at), "--home", home, ...words.slice(at)]);
  }

  async #message(at: At, key: string): Promise<boolean> {
    if (!this.#isAgentThere) {
      const script = ["--", "/bin/sh", "-c", AGENT];
      const made = await this.#do(at, "agent", "new", AGENT_NAME, "--provider", "scripted", "--no-sandbox", ...script);
      this.#isAgentThere = made.code === 0 || made.err.includes("There is already");
      if (!this.#isAgentThere) return this.#told("message", key, made);
    }
    return this.#told("message", key, await this.#do(at, "agent", "send", AGENT_NAME, `ASK about ${key}`));
  }

  async #answer(at: At): Promise<boolean> {
    const open = await this.#do(at, "prompts", "--json");
    if (open.code !== 0) return this.#told("answer", "", open);
    const [prompt] = JSON.parse(open.out);
    if (prompt === undefined) return true;
    return this.#told(
      "answer",
      prompt.id,
      await this.#do(at, "answer", prompt.id, this.#random.pick(["allow", "deny"])),
    );
  }

  #told(kind: Kind, key: string, { code, err }: Said): boolean {
    if (code === 0) this.acknowledged.push({ kind, home: this.home, key });
    else this.failed += 1;
    if (code !== 0) this.lastFailure = `${kind}: exit code ${code}: ${err}`;
    return code === 0;
  }
}
