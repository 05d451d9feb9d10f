// What is asked of a home, what it has acknowledged, and whether that is true.
// WI1. Only an acknowledgement promises anything. What was acknowledged is kept until it has come true: a terminal is
//      there and its program has ended with its code, an agent has done what a message says, a run is done, a line that
//      was typed has arrived.
// WI2. `wait` returns: with the code of the program, or with a failure that says what to do.
import { existsSync, writeFileSync } from "node:fs";
import { type AgentHome, freshId } from "../../agent/agent-home.ts";
import { type Answer, command } from "./command.ts";

const PATH = "/usr/local/bin:/usr/bin:/bin";
const CODE = 3;
/** How many things are asked for at a time. */
export const WISHES = 5;
/** Where the programs of the terminals that are typed into write what they have read. */
export const TYPED = "typed";

const FLOW = [
  "name: one",
  "parameters: { word: { type: string } }",
  "steps:",
  "  - id: s1",
  "    on_uncertain: rerun",
  '    shell: echo "${word}" >> done',
].join("\n");

type Promised = { readonly what: string; isTrue(): Promise<boolean> };

export class Wishes {
  readonly #home: AgentHome;
  /** WI1 */
  readonly #promised = new Set<Promised>();
  /** Terminals whose removal was asked for: it may have happened without an answer. */
  readonly #removed = new Set<string>();
  #turn = 0;
  /** The agent that gets the messages. */
  agent = "";
  /** Whether a holder may be killed: nobody knows then how its program ended, and the terminal is started again. */
  mayBeLost = false;

  constructor(home: AgentHome) {
    this.#home = home;
  }

  /** A number that was not given before. */
  next(): number {
    this.#turn += 1;
    return this.#turn;
  }

  /** Asks for one of each; returns how many were acknowledged. A refusal, or no answer, promises nothing (WI1). */
  async ask(bystander: string): Promise<number> {
    const turn = this.next();
    const wishes = [this.#newTerminal(turn), this.#message(turn), this.#run(turn), this.#rename(turn, bystander)];
    const asked = (await Promise.all(wishes)).filter(Boolean).length;
    return asked === WISHES - 1 && (await this.type(bystander)) ? WISHES : asked;
  }

  /** `send` has typed a line into a terminal. */
  async type(id: string): Promise<boolean> {
    const line = `l${this.next()}`;
    if ((await command(this.#home.path, "send", "--enter", id, line)).code !== 0) return false;
    return this.promise(`${line} was typed into ${id}`, async () => this.mayBeLost || this.#count(TYPED, line) > 0);
  }

  async #newTerminal(turn: number): Promise<boolean> {
    const home = this.#home;
    const made = await home.ask("terminal.new", home.wish(`t${turn}`, ["sh", "-c", `exit ${CODE}`]));
    if (made?.ok !== true) return false;
    const { id } = made.value;
    let waited: Answer | undefined;
    void command(home.path, "wait", id).then((answer) => {
      waited = answer;
    });
    this.promise(`\`wait\` for t${turn} has returned`, async () => this.#isRight(waited));
    // It is removed only when `wait` has seen it; but one that was started again does not end by itself.
    const isOver = async () => (waited !== undefined || this.mayBeLost) && this.#isOver(id);
    return this.promise(`terminal t${turn} has ended with ${CODE}`, isOver);
  }

  /** WI2 */
  #isRight(waited: Answer | undefined): boolean {
    if (waited === undefined) return false;
    if (waited.code === CODE || this.mayBeLost) return true;
    if (waited.code !== 0 && waited.err.includes("→") && !waited.err.includes("There is no terminal")) return true;
    throw new Error(`wait: ${JSON.stringify(waited)}`);
  }

  /** It is removed then. One that was started again is a shell, which a signal ends. */
  async #isOver(id: string): Promise<boolean> {
    const listed = await this.#home.ask("terminal.list", { id, brief: true });
    const found = listed?.ok === true ? listed.value.find((one) => one.id === id) : undefined;
    const isAgain = this.mayBeLost && (found?.generation ?? 1) > 1;
    if (isAgain) await this.#home.ask("terminal.signal", { id, signal: "SIGKILL" });
    if (listed?.ok === true && found === undefined) return this.#removed.has(id);
    if (found?.state.kind !== "ended" || (!isAgain && found.state.code !== CODE)) return false;
    this.#removed.add(id);
    return (await this.#home.ask("terminal.remove", { id }))?.ok === true;
  }

  async #message(turn: number): Promise<boolean> {
    const home = this.#home;
    const id = this.agent;
    const text = `>> append ${home.file("heard")} m${turn}`;
    const before = this.#count("heard", "resumed");
    const sent = await home.ask("agent.send", { id, message: freshId(), text, replyTo: null });
    if (sent?.ok !== true) return false;
    // An agent that was interrupted in its turn is resumed with another text.
    const isHeard = () => this.#count("heard", `m${turn}`) > 0 || this.#count("heard", "resumed") > before;
    return this.promise(`the agent has heard m${turn}`, async () => isHeard());
  }

  async #run(turn: number): Promise<boolean> {
    const home = this.#home;
    const path = home.file("flow.yml");
    if (!existsSync(path)) writeFileSync(path, FLOW);
    const id = freshId();
    const wish = { id, path, cwd: home.path, texts: { word: `r${turn}` }, values: {}, env: { PATH } };
    if ((await home.ask("workflow.run", wish))?.ok !== true) return false;
    return this.promise(`run ${turn} is done`, async () => {
      const shown = await home.ask("workflow.show", { id, from: 0 });
      return shown?.ok === true && shown.value.state === "done" && this.#count("done", `r${turn}`) > 0;
    });
  }

  async #rename(turn: number, id: string): Promise<boolean> {
    const home = this.#home;
    const renamed = await home.ask("terminal.rename", { id, name: `n${turn}` });
    return (
      renamed?.ok === true &&
      this.promise(`the bystander is named n${turn}, or later`, async () => {
        const listed = await home.ask("terminal.list", { id, brief: true });
        const name = listed?.ok === true ? listed.value.find((one) => one.id === id)?.name : undefined;
        return name !== undefined && Number(name.slice(1)) >= turn;
      })
    );
  }

  promise(what: string, isTrue: () => Promise<boolean>): true {
    this.#promised.add({ what, isTrue });
    return true;
  }

  #count(file: string, word: string): number {
    return this.#home
      .text(file)
      .split("\n")
      .filter((line) => line === word).length;
  }

  /** What was promised and is not true yet. */
  async open(): Promise<string[]> {
    for (const one of this.#promised) if (await one.isTrue()) this.#promised.delete(one);
    return [...this.#promised].map(({ what }) => what);
  }
}
