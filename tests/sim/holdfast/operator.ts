// The operator of a simulated Holdfast: a client of the daemon's socket that remembers what was acknowledged.
// OP1. A request without an answer is repeated in the next life if it has an id; otherwise it is left alone.
// OP2. A live daemon refuses nothing that is asked here, and shows all that was promised and all that runs: at once, or
//      within ten seconds if a call of it failed.
// OP3. Programs that ran on when the daemon died are the same ones afterwards.
// OP4. Prompts are allowed, each under one id however often it has to be said.
// OP5. A prompt keeps its id for as long as its process lives, and is not open again once its answer was acknowledged.
// OP6. A holder that is killed takes its process along: its prompt may be listed until the daemon has noticed, and is
//      refused as stale afterwards.
import { isFault } from "../../../src/base/fault.ts";
import { newId } from "../../../src/base/ids.ts";
import { holderSocket, readSpec, terminalFiles } from "../../../src/home/held/holder-files.ts";
import { HolderClient } from "../../../src/wire/holder/client.ts";
import type { HolderDial } from "../../../src/wire/holder/framed-connection.ts";
import { HOME } from "../machine.ts";
import { SimRandom } from "../random.ts";
import { Client, PATIENCE_MS, POLL_MS } from "./client.ts";
import { AGENT, type HoldfastMachine } from "./machine.ts";
import { type Found, type KnownAgent, Memory } from "./memory.ts";
import { noteFor, textOf, unheard, wrongWithModels } from "./model-user.ts";
import type { TmuxPerson } from "./tmux/person.ts";

const MAX_STEPS = 5;
/** What an agent adds to the words of a request that was allowed. */
const ALLOWED = " allow";
/** How many wishes about tmux there are beside each other one, and how many are about bare LLMs, if there are any. */
const MAX_ABOUT_TMUX = 3;
const ABOUT_MODELS = 0.5;

/** What else there is in a story. */
export type Extras = { readonly tmux?: TmuxPerson | undefined; readonly hasModel?: boolean };

export class Operator {
  readonly memory = new Memory();
  /** OP3: the pids of programs that ran when the daemon died. */
  readonly before = new Map<string, number>();
  readonly #machine: HoldfastMachine;
  readonly #random: SimRandom;
  /** OP4 */
  readonly #answers = new Map<string, string>();
  /** OP5: the ids of prompts by what they ask, and whether an answer was acknowledged. */
  #prompts = new Map<string, { readonly id: string; answered: boolean }>();
  readonly #tmux: TmuxPerson | undefined;
  readonly #hasModel: boolean;
  /** OP6, in this life. */
  #mayBeStale = false;
  #count = 0;
  #client: Client;

  constructor(machine: HoldfastMachine, seed: number, { tmux, hasModel = false }: Extras = {}) {
    this.#machine = machine;
    this.#tmux = tmux;
    this.#hasModel = hasModel;
    this.#random = new SimRandom(seed);
    this.#client = new Client(machine);
  }

  /** One life of the daemon: waits until it is live, looks for what was promised, and asks for more. */
  async day(wishes: number): Promise<void> {
    this.#client = new Client(this.#machine);
    this.#mayBeStale = false;
    await this.#client.live();
    await this.#look();
    await this.#repeat();
    for (let wish = 0; wish < wishes; wish += 1) await this.#wish();
    if (this.#machine.harm.isDone) await this.#look();
  }

  /** The day is over for this client, whatever it was doing. */
  leave(): void {
    this.#client.me.life.end();
  }

  /** The machine went down: programs and their questions are gone. */
  lost(): void {
    this.before.clear();
    this.forgetPrompts();
  }

  /** Those who asked are gone. An answer that is just being given is not remembered either. */
  forgetPrompts(): void {
    this.#prompts = new Map();
    this.#mayBeStale = true;
  }

  /** ME2 of memory.ts: waits until everything has come to its end. */
  async finish(): Promise<void> {
    const until = this.#machine.awake + PATIENCE_MS;
    for (;;) {
      const found = await this.#find();
      must(this.#tmux?.cares.wrong(found.tmux) ?? []);
      const open = this.#unfinished(found);
      if (open.length === 0) break;
      if (this.#machine.awake > until) throw new Error(`it does not end: ${open.join("; ")}`);
      await this.#consent(found);
      await this.#answer();
      await this.#client.sleep(POLL_MS);
    }
    must([...this.#wrong(await this.#find()), ...this.memory.doneTwice(this.#machine.witness)]);
  }

  #unfinished(found: Found): string[] {
    const { witness, model } = this.#machine;
    return [
      ...this.memory.unfinished(found, witness),
      ...unheard(model.asked, this.memory.agents),
      ...(this.#tmux?.cares.unfinished(found.tmux) ?? []),
    ];
  }

  async #find(): Promise<Found> {
    const terminals = await this.#client.ask("terminal.list", {});
    return {
      terminals,
      runs: await this.#client.ask("workflow.list", {}),
      agents: await this.#client.ask("agent.list", {}),
      tmux: this.#tmux === undefined ? [] : await this.#client.ask("tmux.list", {}),
    };
  }

  /** OP2 */
  async #look(): Promise<void> {
    let until = Number.POSITIVE_INFINITY;
    for (;;) {
      const wrong = this.#wrong(await this.#find());
      if (wrong.length === 0) break;
      until = Math.min(until, this.#client.healedBy);
      if (this.#machine.awake >= until) throw new Error(wrong.join("; "));
      await this.#client.sleep(POLL_MS);
    }
    this.before.clear();
  }

  #wrong(found: Found): string[] {
    const { harm, witness, model } = this.#machine;
    const running = harm.isDone ? [...witness.running].map(([id, { who }]) => [id, who.pid] as const) : [];
    return [
      ...this.memory.wrong(found),
      ...wrongWithModels(model.asked, this.memory.agents),
      ...(this.#tmux?.cares.wrong(found.tmux) ?? []),
      ...[...this.before, ...running].flatMap(([id, pid]) => this.#changed(id, pid, found)),
    ];
  }

  /** OP3 */
  #changed(id: string, pid: number, { terminals }: Found): string[] {
    const now = this.#machine.witness.running.get(id)?.who.pid;
    const state = terminals.find((terminal) => terminal.id === id)?.state;
    if (now === undefined || state === undefined) return [];
    const same = now === pid && state.kind === "running" && state.pid === pid;
    return same ? [] : [`${id} ran as ${pid}, and is ${JSON.stringify(state)} (${now})`];
  }

  /** OP1 */
  async #repeat(): Promise<void> {
    for (const [id, answer] of this.memory.runs) if (answer === "asked") await this.#run(id);
    for (const [id, { created, texts }] of this.memory.agents) {
      if (created === "asked") await this.#agent(id);
      for (const [message, { sent }] of texts) if (sent === "asked") await this.#send(id, message);
    }
  }

  /** A person agrees to repeat what may have been done. */
  async #consent({ runs }: Found): Promise<void> {
    for (const { id, needs, state } of runs) {
      for (const { attempt } of needs) {
        this.memory.consents.add(attempt);
        await this.#client.call("workflow.resolve", { id, attempt, verdict: "rerun" });
      }
      if (state === "interrupted") await this.#client.call("workflow.resume", { id, force: false });
    }
  }

  async #wish(): Promise<void> {
    const { terminals, agents } = this.memory;
    if (this.#tmux !== undefined) await this.#aboutTmux(this.#tmux);
    if (this.#hasModel && this.#random.chance(ABOUT_MODELS)) {
      await this.#aboutModels();
      return;
    }
    const [terminal] = this.#some(terminals);
    const [agent] = this.#some(agents);
    const dice = this.#random.int(10);
    if (dice < 2 || terminal === undefined) await this.#terminal();
    else if (dice < 4) await this.#type(terminal);
    else if (dice < 5) await this.#change(terminal);
    else if (dice < 7) await this.#run(newId(this.#random.bytes(16)));
    else if (dice < 8 || agent === undefined) await this.#agent(newId(this.#random.bytes(16)));
    else await this.#send(agent, newId(this.#random.bytes(16)));
    if (this.#random.chance(0.5)) await this.#answer();
    await this.#client.sleep(this.#random.int(4) * POLL_MS);
  }

  async #aboutTmux(person: TmuxPerson): Promise<void> {
    for (let wish = this.#random.int(MAX_ABOUT_TMUX + 1); wish > 0; wish -= 1) {
      await person.wish(this.#client);
      await this.#client.sleep(this.#random.int(3) * POLL_MS);
    }
  }

  async #aboutModels(): Promise<void> {
    const models = new Map([...this.memory.agents].filter(([, { provider }]) => provider === "model"));
    const [model] = this.#some(models);
    if (model === undefined || this.#random.chance(0.2)) await this.#agent(newId(this.#random.bytes(16)), "model");
    else await this.#send(model, newId(this.#random.bytes(16)));
    await this.#client.sleep(this.#random.int(4) * POLL_MS);
  }

  #some<T>(from: ReadonlyMap<string, T>): string[] {
    return from.size === 0 ? [] : [this.#random.pick([...from.keys()])];
  }

  #next(letter: string): string {
    this.#count += 1;
    return `${letter}${this.#count}`;
  }

  async #terminal(): Promise<void> {
    const name = this.#next("t");
    this.memory.names.add(name);
    const recipe = { argv: ["/bin/sh"], cwd: "/u", env: {}, cols: 80, rows: 24 };
    const { id } = await this.#client.ask("terminal.new", { name, lane: "main", ...recipe });
    this.memory.terminals.set(id, { names: new Set([name]), argv: "/bin/sh", ending: "no", removal: "no" });
  }

  async #change(id: string): Promise<void> {
    const known = this.memory.terminals.get(id);
    if (known === undefined || known.removal !== "no") return;
    const kind = this.#random.pick(["rename", "signal", "remove"] as const);
    if (kind === "rename") {
      const name = this.#next("t");
      this.memory.names.add(name);
      known.names.add(name);
      await this.#client.ask("terminal.rename", { id, name });
      known.names = new Set([name]);
    } else if (kind === "signal") {
      if (known.ending === "no") known.ending = "asked";
      await this.#client.call("terminal.signal", { id, signal: "SIGTERM" });
    } else {
      known.removal = "asked";
      const removed = await this.#client.call("terminal.remove", { id });
      known.removal = removed.ok ? "acknowledged" : "no"; // One that runs is not removed.
    }
  }

  /** Straight to the holder; a terminal that does not run takes nothing. */
  async #type(id: string): Promise<void> {
    const { sockets, disk } = this.#machine.doors(this.#client.me);
    const token = readSpec(terminalFiles(disk, HOME, id))?.token ?? "";
    const line = this.#next("line");
    const writer = `operator-${line}`;
    const dial: HolderDial = (events) => sockets.connect(holderSocket(HOME, id), events);
    const lost = () => holder.close(); // Otherwise the line waits for another connection.
    const holder: HolderClient = new HolderClient(dial, { token, writer }, { lost });
    try {
      if (!(await holder.connect()).ok) return;
      if ((await holder.input(Buffer.from(`${line}\n`))).ok) this.memory.lines.add(line);
      holder.close();
    } catch (error) {
      if (!isFault(error)) throw error;
    }
  }

  async #run(id: string): Promise<void> {
    const path = `/u/flow-${1 + (Number.parseInt(id.slice(0, 2), 16) % MAX_STEPS)}.yml`;
    this.memory.runs.set(id, "asked");
    await this.#client.ask("workflow.run", { id, path, cwd: "/u", texts: {}, values: {}, env: {} });
    this.memory.runs.set(id, "acknowledged");
  }

  async #agent(id: string, provider: KnownAgent["provider"] = "scripted"): Promise<void> {
    const known = this.memory.agents.get(id) ?? { provider, created: "asked" as const, texts: new Map() };
    this.memory.agents.set(id, known);
    const nothing = { parent: null, model: null, systemPrompt: "", env: {}, flags: [], permissionMode: null };
    await this.#client.ask("agent.new", {
      ...{ ...nothing, id, name: `a-${id.slice(0, 6)}`, cwd: "/u", settings: {} },
      ...{ instructions: `>> note ${id}`, provider: known.provider },
      command: known.provider === "model" ? [] : [AGENT],
    });
    this.memory.agents.set(id, { ...known, created: "acknowledged" });
  }

  async #send(id: string, message: string): Promise<void> {
    const known = this.memory.agents.get(id);
    if (known?.created !== "acknowledged") return;
    const isBare = known.provider === "model";
    const note = known.texts.get(message)?.note ?? this.#note(isBare);
    known.texts.set(message, { note, sent: "asked" });
    await this.#client.ask("agent.send", { id, message, text: isBare ? textOf(note) : `>> ${orderOf(note)}` });
    known.texts.set(message, { note, sent: "acknowledged" });
  }

  #note(isBare: boolean): string {
    if (isBare) return noteFor(this.#next("m"), this.#random);
    return this.#next("m") + (this.#random.chance(0.5) ? ALLOWED : "");
  }

  /** OP4 */
  async #answer(): Promise<void> {
    const prompts = this.#prompts;
    for (const { id, input } of await this.#client.ask("prompt.list", {})) {
      const words = JSON.stringify(input);
      const known = prompts.get(words) ?? { id, answered: false };
      if (known.id !== id || known.answered) throw new Error(`${words} is asked again: ${known.id} ${id}`); // OP5
      prompts.set(words, known);
      const answer = this.#answers.get(id) ?? newId(this.#random.bytes(16));
      this.#answers.set(id, answer);
      const params = { prompt: id, answer, decision: "allow" } as const;
      const first = this.#mayBeStale ? await this.#client.call("prompt.answer", params) : undefined;
      if (first?.ok === false && first.error.code === "stale") {
        prompts.delete(words); // OP6
        continue;
      }
      await this.#client.ask("prompt.answer", params);
      known.answered = true;
    }
  }
}

function must(wrong: readonly string[]): void {
  if (wrong.length > 0) throw new Error(wrong.join("; "));
}

/** What makes an agent note this: its own decision, or a permission. */
function orderOf(note: string): string {
  return note.endsWith(ALLOWED) ? `ask Bash ${note.slice(0, -ALLOWED.length)}` : `note ${note}`;
}

/** The workflows of the operator, by their paths. */
export function flows(): Map<string, string> {
  const step = (at: number) => `  - id: s${at}\n    shell: work ${at}\n    capture: x${at}\n`;
  const files = Array.from({ length: MAX_STEPS }, (_, last) => {
    const steps = Array.from({ length: last + 1 }, (_step, at) => step(at)).join("");
    return [`/u/flow-${last + 1}.yml`, `name: flow-${last + 1}\nsteps:\n${steps}`] as const;
  });
  return new Map(files);
}
