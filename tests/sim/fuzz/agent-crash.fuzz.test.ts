// Random trees of agents and bare LLMs, with messages, prompts, reminders and terminations, whose programs crash, hang
// and reach their usage limits, whose models fail, through random crashes of the daemon and of the machine, also in the
// middle of a recovery, and on a disk that is sometimes full: everything acknowledged is done exactly once.
// CF1. The expected outcome of a story is computed here from the requests, not by a second run: whether two messages
//      wake an agent once or twice depends on their timing, and does not change it.
import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { type Blow, idOf, type Script } from "../holdfast/script.ts";
import { Teller } from "../holdfast/teller.ts";
import { FAILURES } from "./failures.ts";
import { type Fuzzed, fuzz } from "./fuzzer.ts";
import { PROFILE } from "./profile.ts";

/** The actions of an agent. `spawn`: a child that does the same, below it. */
type Deed = "note" | "ask" | "tell" | "spawn" | "remind" | "inbox" | "broadcast" | Trouble;
type Trouble = "crash" | "hang" | "limit";
type Step =
  | { readonly kind: "create"; readonly model: boolean; readonly deeds: readonly Deed[] }
  | { readonly kind: "send"; readonly who: number; readonly deeds: readonly Deed[] }
  | { readonly kind: "terminate"; readonly who: number }
  | Blow;

const USUAL: readonly Deed[] = ["note", "ask", "tell", "spawn", "remind", "inbox", "broadcast"];
const deeds = fc.array(fc.constantFrom<Deed>(...USUAL, ...USUAL, "crash", "hang", "limit"), { maxLength: 4 });
const after = fc.integer({ min: 0, max: 120 });
const who = fc.nat(5);
const STEPS: readonly fc.Arbitrary<Step>[] = [
  fc.record({ kind: fc.constant("create"), model: fc.boolean(), deeds }),
  fc.record({ kind: fc.constant("send"), who, deeds }),
  fc.record({ kind: fc.constant("send"), who, deeds }),
  fc.record({ kind: fc.constant("terminate"), who }),
  fc.record({ kind: fc.constant("daemon"), after }),
  fc.record({ kind: fc.constant("program"), after, which: who }),
  fc.record({ kind: fc.constant("holder"), after, which: who }),
  fc.record({ kind: fc.constant("power"), after, keep: fc.nat(1000) }),
  fc.record({
    ...{ kind: fc.constant("full"), after: fc.constant(0) },
    ...{ room: fc.nat(8000), ms: fc.constantFrom(50, 2_000, 30_000) },
  }),
];
/** What a model does instead of crashing, hanging and being used up. */
const FAILURES_OF_MODELS = ["429 2", "500", "cut", "stall"];

const teller = new Teller("sweep-main.ts");
afterAll(() => teller.close());

class Agents implements Fuzzed<Step> {
  readonly #script: Script[number][] = [];
  readonly #roots: { readonly id: string; readonly model: boolean }[] = [];
  /** CF1 */
  readonly #notes: string[] = [];
  readonly #names: string[] = [];
  #told = 0;

  async step(step: Step): Promise<void> {
    if (step.kind === "create") return this.#create(step.model, step.deeds);
    const root = this.#roots[("who" in step ? step.who : 0) % Math.max(1, this.#roots.length)];
    if (root === undefined) return;
    const { id, model } = root;
    if (step.kind === "send") {
      const text = this.#words(step.deeds, model, true);
      this.#told += 1;
      this.#script.push({ kind: "message", id, message: idOf(this.#told), text });
    } else if (step.kind === "terminate") {
      this.#roots.splice(this.#roots.indexOf(root), 1); // Nobody writes to it from now on.
      this.#script.push({ kind: "termination", id });
    } else this.#script.push(step);
  }

  #create(model: boolean, todo: readonly Deed[]): void {
    const id = idOf(this.#names.length);
    this.#roots.push({ id, model });
    this.#names.push(id.slice(0, 4));
    const instructions = this.#words(todo, model, true);
    this.#script.push({ kind: "agent", id, provider: model ? "model" : "actor", instructions });
  }

  /** Each line is unique, and adds its expected result (CF1). */
  #words(todo: readonly Deed[], model: boolean, isRoot: boolean): string {
    this.#told += 1;
    return [`Task ${this.#told}:`, ...todo.map((deed) => this.#line(deed, todo, model, isRoot))].join("\n");
  }

  #line(deed: Deed, todo: readonly Deed[], model: boolean, isRoot: boolean): string {
    this.#told += 1;
    const number = this.#told;
    const call = (tool: string, args: object) => `>> call ${tool} ${JSON.stringify({ ...args, number })}`;
    if (deed === "crash" || deed === "hang" || deed === "limit") return this.#troubleOf(deed, number, model);
    if (deed === "inbox") return call("list_children", {});
    if (deed === "remind" && isRoot)
      return call("remind_me", { in_seconds: number % 3, text: this.#noteOf(number, model) });
    if (deed === "broadcast" && !isRoot) return call("broadcast", { text: `Hello ${number}.` });
    if (deed === "tell" && !isRoot) return call("send_message", { to: "parent", text: this.#noteOf(number, model) });
    if (deed === "spawn" && isRoot) {
      const name = `kid${number}`;
      this.#names.push(name);
      const below = todo.filter((one) => one !== "spawn");
      const end = call("complete", { result: `Result ${number}.` });
      const instructions = [this.#words(below, model, false), end].join("\n");
      return call("spawn_agent", { name, instructions });
    }
    if (deed === "ask" && !model) {
      this.#notes.push(`${number} allow`);
      return `>> ask Bash ${number}`;
    }
    return this.#noteOf(number, model) || "Nothing.";
  }

  #troubleOf(deed: Trouble, number: number, model: boolean): string {
    if (model) return `>> fail ${FAILURES_OF_MODELS[number % FAILURES_OF_MODELS.length]} ${number}`;
    if (deed === "hang") return `>> hang ${number % 2 === 0 ? "hard" : "softly"} ${number}`;
    return deed === "limit" ? `>> limit ${number}` : `>> crash ${number}`;
  }

  #noteOf(number: number, model: boolean): string {
    if (model) return "Nothing."; // It has no hands.
    this.#notes.push(`n${number}`);
    return `>> note n${number}`;
  }

  async finish(): Promise<void> {
    if (this.#names.length === 0) return;
    const { agents, notes } = await teller.live(this.#script);
    const ends = agents?.ends ?? [];
    expect(notes).toEqual(this.#notes.toSorted());
    expect(ends.map(({ name }) => name)).toEqual(this.#names.toSorted());
    const kids = ends.filter(({ name }) => name.startsWith("kid"));
    expect(kids.map(({ by }) => by)).toEqual(kids.map(() => "complete"));
  }
}

test("FI-4(b) random trees of agents through random crashes: nothing acknowledged is lost, nothing is done twice", async () => {
  // CI has ten minutes for everything, and a run here is some hundred times the work of one of the log's.
  const profile = PROFILE.name === "ci" ? { ...PROFILE, runs: PROFILE.runs >> 2, commands: 18 } : PROFILE;
  const start = async () => new Agents();
  await fuzz<Step>({ name: "agent-crash", directory: FAILURES, steps: STEPS, start }, profile);
  expect(profile.runs).toBeGreaterThan(0);
}, 3_600_000);
