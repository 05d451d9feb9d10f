// Agents in a drill: a tree of agents works all the time, and a person writes to it and answers its prompts, during the
// kills.
// DA1. Every acknowledged message reaches its agent and is handled once: it leaves a line. Messages that were not
//      acknowledged are sent again under the same id. If a process was killed in the middle, the next one learns of it
//      and checks before it repeats anything.
// DA2. No agent is lost or doubled. An agent that is held after a crash is released.
// DA3. Every prompt is answered once: the same answer is acknowledged again, any other is refused, and the agent gets
//      the first. A prompt of a killed process must be asked again, and at the end no prompt can be answered any more.
import { newId } from "../base/ids.ts";
import { joinPath } from "../base/path.ts";
import type { AgentSettings } from "../core/agent/events.ts";
import { readWhole } from "../log/file/file.ts";
import type { ListedAgent, ListedPrompt } from "../wire/rpc/agent.ts";
import { pause } from "../world/wait.ts";
import { AGAIN, AGENT_WORDS, LINES_VARIABLE } from "./agent-program.ts";
import { ask } from "./ask.ts";
import type { Dice } from "./dice.ts";
import type { Findings } from "./findings.ts";
import { type Going, until } from "./going.ts";
import { DRILL_VARIABLE, type Site } from "./site.ts";
import { compareLines } from "./workflows.ts";

const CHILDREN = ["one", "two"];
/** Two of each kind: the minimum number of messages, however busy the machine is. */
const MIN_MESSAGES = 6;
/** About the duration of a turn. */
const BETWEEN_MS = 60;
/** A person thinks about it: meanwhile the agent that asked may be killed. */
const HESITATION_MS = [0, 600] as const;
/**
 * Four daemons in a row may be killed before they are live, and on a busy machine each takes seconds to get that far.
 */
const ASK_MS = 60_000;
/** A turn takes some milliseconds; on a busy machine, and after safe mode, the backlog takes longer. */
const END_MS = 60_000;

export class Agents {
  readonly #site: Site;
  readonly #findings: Findings;
  readonly #root: string;
  readonly #dice: Dice;
  /** The lines that must exist at the end. */
  readonly #expected: string[] = [];
  readonly #answered = new Set<string>();
  readonly #seen = new Set<string>();
  #messages = 0;

  constructor(site: Site, findings: Findings, dice: Dice) {
    this.#dice = dice;
    this.#site = site;
    this.#findings = findings;
    this.#root = newId(site.world.random.bytes(16));
  }

  get sums(): { readonly agents: number; readonly messages: number; readonly prompts: number } {
    const agents = this.#messages === 0 ? 0 : 1 + CHILDREN.length;
    return { agents, messages: this.#messages, prompts: this.#answered.size };
  }

  /** Works until it is asked to stop. */
  async work(going: Going): Promise<void> {
    if ((await this.#begin()) === undefined) return this.#findings.violate("no daemon accepted an agent");
    await Promise.all([this.#write(going), this.#answer(going)]);
  }

  #begin(): Promise<unknown> {
    const instructions = CHILDREN.map((name) => `@spawn.${name}@`).join(" ");
    this.#expected.push(...CHILDREN.map((name) => `born-${name}`));
    return beginRoot(this.#site, {
      id: this.#root,
      instructions,
      lines: this.#path,
      settings: { recovery_prompt: AGAIN },
    });
  }

  get #path(): string {
    return joinPath(this.#site.home, "agent-lines");
  }

  async #write(going: Going): Promise<void> {
    while (going.on || this.#messages < MIN_MESSAGES) {
      if (!(await this.#send())) return this.#findings.violate("no daemon accepted a message");
      await pause(this.#site.world.clock, BETWEEN_MS);
    }
  }

  /** DA1. To the root, to a child through it, and a request for a permission. Returns whether it was acknowledged. */
  async #send(): Promise<boolean> {
    const number = this.#messages + 1;
    const [text, line] = wordsOf(number);
    if (!(await sendTo(this.#site, this.#root, text))) return false;
    this.#messages = number;
    this.#expected.push(line);
    return true;
  }

  async #answer(going: Going): Promise<void> {
    while (going.on) {
      await this.#serve();
      await pause(this.#site.world.clock, this.#dice.between(...HESITATION_MS));
    }
  }

  /** What a person does. */
  async #serve(): Promise<void> {
    for (const prompt of await openPrompts(this.#site)) await this.#answerOne(prompt);
    const held = ((await listAgents(this.#site)) ?? []).filter(
      ({ state, note }) => state === "suspended" && note !== null,
    );
    for (const { id } of held) await ask(this.#site, "agent.retry", { id }); // DA2
  }

  /** DA3 */
  async #answerOne({ id: prompt }: ListedPrompt): Promise<void> {
    this.#seen.add(prompt);
    if (this.#answered.has(prompt))
      this.#findings.lose(1, `the answer to prompt ${prompt} was acknowledged, but is gone`);
    if (await answerOnce(this.#site, prompt, this.#findings)) this.#answered.add(prompt);
  }

  /** After the last kill. */
  async verify(): Promise<void> {
    const { clock } = this.#site.world;
    const last = await until(clock, END_MS, async () => {
      await this.#serve();
      const agents = await listAgents(this.#site);
      return agents?.every(isAtRest) === true && this.#lines().length >= this.#expected.length ? agents : undefined;
    });
    const agents = last ?? (await listAgents(this.#site)) ?? [];
    if (last === undefined) this.#findings.violate(`agents do not become idle: ${agents.map(stateText).join(", ")}`);
    compareLines("agents", this.#lines(), this.#expected, this.#findings); // DA1
    compareLines(
      "the tree of agents",
      agents.map(nameIn(agents)),
      [...CHILDREN.map((name) => `root/${name}`), "root"],
      this.#findings,
    ); // DA2
    for (const prompt of this.#seen) await this.#isClosed(prompt);
  }

  /** DA3 */
  async #isClosed(prompt: string): Promise<void> {
    const late = await answerWith(this.#site, prompt, "deny", newId(this.#site.world.random.bytes(16)));
    if (late.kind !== "refused") this.#findings.violate(`prompt ${prompt} can still be answered: ${late.kind}`);
  }

  #lines(): string[] {
    return readLines(this.#site, this.#path);
  }
}

export type Root = {
  readonly id: string;
  readonly name?: string;
  readonly instructions: string;
  /** The file for its lines, and those of its children. */
  readonly lines: string;
  readonly settings: Partial<AgentSettings>;
};

/** Retries until it is acknowledged: the id is ours, so that repeats create only one. */
export function beginRoot(
  site: Site,
  { id, name = "root", instructions, lines, settings }: Root,
): Promise<true | undefined> {
  const { world, home } = site;
  const { PATH: path = "/usr/bin:/bin" } = world.self.environment();
  const env = { PATH: path, [DRILL_VARIABLE]: home, [LINES_VARIABLE]: lines };
  return until(world.clock, ASK_MS, async () => {
    const asked = await ask(site, "agent.new", {
      ...{ id, name, parent: null, instructions, provider: "scripted", model: null, systemPrompt: "" },
      ...{ cwd: home, env, command: AGENT_WORDS, flags: [], permissionMode: null, settings },
    });
    return asked.kind === "done" ? true : undefined;
  });
}

/** Returns whether it was acknowledged. */
export async function sendTo(site: Site, id: string, text: string): Promise<boolean> {
  const message = newId(site.world.random.bytes(16));
  const sent = await until(site.world.clock, ASK_MS, async () => {
    const asked = await ask(site, "agent.send", { id, message, text, replyTo: null });
    return asked.kind === "done" ? true : undefined;
  });
  return sent === true;
}

export async function openPrompts(site: Site): Promise<ListedPrompt[]> {
  const listed = await ask(site, "prompt.list", {});
  return listed.kind === "done" ? listed.value.filter(({ state }) => state === "open") : [];
}

/** DA3. Returns whether the answer was acknowledged; if not, the prompt is checked again later. */
export async function answerOnce(site: Site, prompt: string, findings: Findings): Promise<boolean> {
  const [first, second] = [newId(site.world.random.bytes(16)), newId(site.world.random.bytes(16))];
  if ((await answerWith(site, prompt, "allow", first)).kind !== "done") return false;
  const again = await answerWith(site, prompt, "allow", first);
  if (again.kind === "refused" && again.refusal.code === "answered")
    findings.violate(`the answer to prompt ${prompt} was acknowledged, but a repeat is not recognized`);
  const other = await answerWith(site, prompt, "deny", second);
  if (other.kind === "done") findings.double(1, `prompt ${prompt} was answered twice`);
  return true;
}

export function answerWith(site: Site, prompt: string, decision: "allow" | "deny", answer: string) {
  return ask(site, "prompt.answer", { prompt, answer, decision, message: "", always: false });
}

export function readLines({ world }: Site, path: string): string[] {
  const bytes = readWhole(world.disk, path);
  const text = bytes === undefined ? "" : Buffer.from(bytes).toString("utf8");
  return text.split("\n").filter((line) => line !== "");
}

/** The text of a message, and the line it leads to. */
function wordsOf(number: number): [text: string, line: string] {
  if (number % 3 === 0) return [`@ask.p${number}@`, `p${number} allow`];
  if (number % 3 === 1) return [`@note.m${number}@`, `m${number}`];
  return [`@tell.${CHILDREN[number % CHILDREN.length]}.c${number}@`, `c${number}`];
}

export function nameIn(agents: readonly ListedAgent[]): (agent: ListedAgent) => string {
  return ({ name, parent }) => {
    const above = agents.find(({ id }) => id === parent);
    return above === undefined ? name : `${above.name}/${name}`;
  };
}

/** An agent whose process was gone when a daemon started has none until a message arrives. */
function isAtRest({ state, inbox, note, turnStartedAt }: ListedAgent): boolean {
  const rests = state === "idle" || (state === "suspended" && note === null && turnStartedAt === null);
  return rests && inbox === 0;
}

export function stateText({ name, state, inbox, note }: ListedAgent): string {
  return `${name} ${state} with ${inbox} messages ${note ?? ""}`;
}

/** The agents that are not terminated; undefined if no daemon answers. */
export async function listAgents(site: Site): Promise<readonly ListedAgent[] | undefined> {
  const listed = await ask(site, "agent.list", {});
  return listed.kind === "done" ? listed.value.filter(({ state }) => state !== "terminated") : undefined;
}

/** At the end of a drill nothing may be left. */
export async function endAgents(site: Site): Promise<void> {
  const roots = ((await listAgents(site)) ?? []).filter(({ parent }) => parent === null);
  for (const { id } of roots) await ask(site, "agent.terminate", { id, reason: "The drill is over." });
}
