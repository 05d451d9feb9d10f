// Agents in a machine drill: before the crash, a root waits for a person's answer and has an unread message.
// MA1. Afterwards each agent exists once.
// MA2. The process that asked died with the machine: its prompt must be asked again and cannot be answered; the resumed
//      agent asks for something else, and that prompt can, once.
// MA3. The acknowledged message is delivered once.
import { newId } from "../../base/ids.ts";
import { joinPath } from "../../base/path.ts";
import type { ListedPrompt } from "../../wire/rpc/agent.ts";
import { answerOnce, beginRoot, listAgents, nameIn, openPrompts, readLines, sendTo, stateText } from "../agents.ts";
import { ask } from "../ask.ts";
import type { Findings } from "../findings.ts";
import { until } from "../going.ts";
import type { Site } from "../site.ts";
import { compareLines } from "../workflows.ts";

const SOON_MS = 30_000;
const CHILD = "one";
/** The prompt for a resumed agent: it asks once more. */
const SETTINGS = { recovery_prompt: "@ask.resumed@" };
const RESUMED = "resumed allow";

export class MachineAgents {
  readonly #site: Site;
  readonly #findings: Findings;
  readonly #root: string;
  readonly #expected = [`born-${CHILD}`];
  #asked: ListedPrompt | undefined;
  #round = 0;
  #answered = 0;

  constructor(site: Site, findings: Findings) {
    this.#site = site;
    this.#findings = findings;
    this.#root = newId(site.world.random.bytes(16));
  }

  get sums(): { readonly agents: number; readonly messages: number; readonly prompts: number } {
    return { agents: 2, messages: 2 * this.#round, prompts: this.#answered };
  }

  /** The root waits for an answer, and has an unread message. */
  async begin(): Promise<void> {
    this.#round += 1;
    if (this.#round === 1) await this.#create();
    const sent = await sendTo(this.#site, this.#root, `@ask.q${this.#round}@`);
    this.#asked = await this.#opened();
    if (!sent || this.#asked === undefined) return this.#findings.violate("an agent did not ask what it should");
    const line = `m${this.#round}`;
    if (await sendTo(this.#site, this.#root, `@note.${line}@`)) this.#expected.push(line);
    else this.#findings.violate("no daemon accepted a message, although it was live");
  }

  async #create(): Promise<void> {
    const root = { id: this.#root, instructions: `@spawn.${CHILD}@`, lines: this.#path, settings: SETTINGS };
    await beginRoot(this.#site, root);
    const there = await until(this.#site.world.clock, SOON_MS, () => this.#lines().length > 0 || undefined);
    if (there === undefined) this.#findings.violate("the child of an agent did not start");
  }

  #opened(): Promise<ListedPrompt | undefined> {
    return until(this.#site.world.clock, SOON_MS, async () => (await openPrompts(this.#site))[0]);
  }

  get #path(): string {
    return joinPath(this.#site.home, "agent-lines");
  }

  #lines(): string[] {
    return readLines(this.#site, this.#path);
  }

  /** After the machine crash. */
  async check(): Promise<void> {
    await this.#checkPrompt();
    const agents = await until(this.#site.world.clock, SOON_MS, async () => {
      for (const { id } of await openPrompts(this.#site)) await this.#answer(id);
      const all = (await listAgents(this.#site)) ?? [];
      const rest = all.every(({ inbox, state }) => inbox === 0 && (state === "idle" || state === "suspended"));
      return rest && this.#lines().includes(`m${this.#round}`) ? all : undefined;
    });
    const found = agents ?? (await listAgents(this.#site)) ?? [];
    if (agents === undefined) this.#findings.violate(`agents do not become idle: ${found.map(stateText).join(", ")}`);
    compareLines("the tree of agents", found.map(nameIn(found)), ["root", `root/${CHILD}`], this.#findings); // MA1
    const lines = this.#lines();
    const resumed = lines.filter((line) => line === RESUMED).length;
    if (resumed < this.#round) this.#findings.lose(1, "an agent was not told to continue");
    compareLines(
      "agents",
      lines.filter((line) => line !== RESUMED),
      this.#expected,
      this.#findings,
    ); // MA3
  }

  /** MA2 */
  async #checkPrompt(): Promise<void> {
    const before = this.#asked?.id ?? "";
    const again = await this.#opened();
    if (again === undefined) return this.#findings.lose(1, "a prompt was not asked again");
    if (again.id === before) this.#findings.violate(`prompt ${before} is open, but the process that asked is gone`);
    const late = await ask(this.#site, "prompt.answer", {
      ...{
        prompt: before,
        answer: newId(this.#site.world.random.bytes(16)),
        decision: "allow",
        message: "",
        always: false,
      },
    });
    if (late.kind !== "refused" || late.refusal.code !== "stale")
      this.#findings.violate(`prompt ${before} can be answered, but the process that asked is gone: ${late.kind}`);
    await this.#answer(again.id);
  }

  async #answer(prompt: string): Promise<void> {
    if (await answerOnce(this.#site, prompt, this.#findings)) this.#answered += 1;
  }
}
