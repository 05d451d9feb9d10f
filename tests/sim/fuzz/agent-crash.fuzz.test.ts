// Random trees of agents and bare LLMs, with messages, prompts, reminders and terminations, whose programs crash, hang
// and reach their usage limits, whose models fail, through random crashes of the daemon and of the machine, also in the
// middle of a recovery, and on a disk that is sometimes full: everything acknowledged is done exactly once.
// CF1. The expected outcome of a story is computed here from the requests, not by a second run: whether two messages
//      wake an agent once or twice depends on their timing, and does not change it.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { AgentSimulation, creation } from "../../agent/sim-drive.ts";
import { SimRandom } from "../random.ts";
import { randomSurvivor } from "../survive.ts";
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
  | { readonly kind: "daemon dies"; readonly after: number }
  | { readonly kind: "program dies" | "holder dies"; readonly after: number; readonly which: number }
  | { readonly kind: "machine goes down"; readonly after: number; readonly seed: number }
  | { readonly kind: "disk is full"; readonly room: number; readonly ms: number };

const USUAL: readonly Deed[] = ["note", "ask", "tell", "spawn", "remind", "inbox", "broadcast"];
const deeds = fc.array(fc.constantFrom<Deed>(...USUAL, ...USUAL, "crash", "hang", "limit"), { maxLength: 4 });
const after = fc.integer({ min: 0, max: 120 });
const who = fc.nat(5);
const STEPS: readonly fc.Arbitrary<Step>[] = [
  fc.record({ kind: fc.constant("create"), model: fc.boolean(), deeds }),
  fc.record({ kind: fc.constant("send"), who, deeds }),
  fc.record({ kind: fc.constant("send"), who, deeds }),
  fc.record({ kind: fc.constant("terminate"), who }),
  fc.record({ kind: fc.constant("daemon dies"), after }),
  fc.record({ kind: fc.constant("program dies"), after, which: who }),
  fc.record({ kind: fc.constant("holder dies"), after, which: who }),
  fc.record({ kind: fc.constant("machine goes down"), after, seed: fc.nat(1000) }),
  fc.record({ kind: fc.constant("disk is full"), room: fc.nat(8000), ms: fc.constantFrom(50, 2_000, 30_000) }),
];
/** What a model does instead of crashing, hanging and being used up. */
const FAILURES_OF_MODELS = ["429 2", "500", "cut", "stall"];

class Agents implements Fuzzed<Step> {
  readonly #simulation = new AgentSimulation();
  readonly #roots: { readonly id: string; readonly model: boolean }[] = [];
  /** CF1 */
  readonly #notes: string[] = [];
  readonly #names: string[] = [];
  #told = 0;

  async step(step: Step): Promise<void> {
    if (step.kind === "create") return this.#create(step.model, step.deeds);
    if (step.kind === "disk is full") return this.#simulation.fill(step.room, step.ms);
    const root = this.#roots[("who" in step ? step.who : 0) % Math.max(1, this.#roots.length)];
    if (root === undefined) return;
    const { id, model } = root;
    if (step.kind === "send") {
      const payload = this.#words(step.deeds, model, true);
      this.#told += 1;
      const message = `${this.#told}`.padStart(32, "0");
      return this.#simulation.wish({ kind: "send", id, message, payload, replyTo: undefined });
    }
    if (step.kind === "terminate") {
      this.#roots.splice(this.#roots.indexOf(root), 1); // Nobody writes to it from now on.
      return this.#simulation.wish({ kind: "terminate", id, reason: "enough" });
    }
    const at = this.#simulation.moments.length + step.after;
    if (step.kind === "program dies") return this.#simulation.crash({ at, program: step.which });
    if (step.kind === "holder dies") return this.#simulation.crash({ at, holder: step.which });
    const down = step.kind === "machine goes down" ? randomSurvivor(new SimRandom(step.seed)) : undefined;
    await this.#simulation.crash({ at, ...(down !== undefined && { machine: down }) });
  }

  #create(model: boolean, todo: readonly Deed[]): void {
    const id = `${this.#names.length}`.padStart(4, "0").padEnd(32, "0");
    this.#roots.push({ id, model });
    this.#names.push(id.slice(0, 4));
    this.#simulation.wish(creation(id, model ? "openai" : "scripted", this.#words(todo, model, true)));
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
    const { agents, notes } = await this.#simulation.finish();
    expect(notes).toEqual(this.#notes.toSorted());
    expect(agents.map(([name]) => name)).toEqual(this.#names.toSorted());
    const { machine } = this.#simulation;
    const kids = agents.filter(([name]) => String(name).startsWith("kid"));
    expect(kids.map(([, by]) => by)).toEqual(kids.map(() => "complete"));
    expect(machine.trouble).toBeUndefined();
  }
}

test("FI-4(b) random trees of agents through random crashes: nothing acknowledged is lost, nothing is done twice", async () => {
  const profile = PROFILE.name === "ci" ? { ...PROFILE, commands: 18 } : PROFILE; // CI has ten minutes for everything.
  const start = async () => new Agents();
  await fuzz<Step>({ name: "agent-crash", directory: FAILURES, steps: STEPS, start }, profile);
  expect(profile.runs).toBeGreaterThan(0);
}, 3_600_000);
