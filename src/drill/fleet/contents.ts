// What is in the first host's home: three terminals, a workflow in the middle of a step, and an agent that waits for a
// permission and has an unread message. Afterwards it is looked at on the host that has taken the home.
// CO1. What steps and agents did is in a file outside of every home, as an effect on the world is: nothing undoes it.
// CO2. A step that was running is uncertain, and is not run again unless somebody says so; here we say that it is done.
// CO3. The process that asked is gone with its host: the resumed agent asks, once, and what was asked before cannot be
//      answered any more unless it is the same prompt.
import { newId } from "../../base/ids.ts";
import { joinPath } from "../../base/path.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { AGAIN } from "../agent-program.ts";
import { answerOnce, answerWith, beginRoot, listAgents, openPrompts, readLines, sendTo } from "../agents.ts";
import { ask } from "../ask.ts";
import type { Findings } from "../findings.ts";
import { OVER, shown } from "../flows.ts";
import { DRILL_VARIABLE, type Site } from "../site.ts";
import { compareLines } from "../workflows.ts";
import { seen } from "./look.ts";

const SOON_MS = 60_000;
const SIZE = { cols: 80, rows: 24 };
const AGENT = "helper";

/** Each shows a line of its own at its start. */
const TERMINALS: Readonly<Record<string, string>> = {
  clock: "while :; do date; sleep 1; done",
  server: "exec sleep 1000000",
  shell: "exec /bin/sh",
};

const FLOW = [
  "name: release",
  "parameters: { to: { required: true } }",
  "steps:",
  "  - id: charge",
  "    shell: echo charged >> ${to}",
  "  - id: build",
  "    shell: echo build begun >> ${to}; sleep 1000000",
  "  - id: notify",
  "    shell: echo notified >> ${to}",
  "",
].join("\n");

export type Effects = { readonly steps: readonly string[]; readonly agent: readonly string[] };

export class Contents {
  readonly #site: Site;
  readonly #findings: Findings;
  readonly #outside: string;
  readonly #terminals = new Map<string, string>();
  readonly #run: string;
  readonly #agent: string;
  #asked = "";

  /** `site`: of the home; `outside`: a directory that belongs to no host. */
  constructor(site: Site, outside: string, findings: Findings) {
    this.#site = site;
    this.#outside = outside;
    this.#findings = findings;
    const { random } = site.world;
    [this.#run, this.#agent] = [newId(random.bytes(16)), newId(random.bytes(16))];
  }

  /** CO1 */
  get effects(): Effects {
    return { steps: readLines(this.#site, this.#stepLines), agent: readLines(this.#site, this.#agentLines) };
  }

  get #stepLines(): string {
    return joinPath(this.#outside, "done-by-steps");
  }

  get #agentLines(): string {
    return joinPath(this.#outside, "done-by-agent");
  }

  /** Resolves when the step runs and the agent waits. */
  async begin(): Promise<void> {
    this.#site.world.disk.makeDirectory(this.#outside);
    await Promise.all([
      ...Object.keys(TERMINALS).map((name) => this.#open(name)),
      this.#startRun(),
      this.#startAgent(),
    ]);
  }

  async #open(name: string): Promise<void> {
    const { home } = this.#site;
    const script = `echo ${markOf(name)}; ${TERMINALS[name]}`;
    const asked = await ask(this.#site, "terminal.new", {
      ...{ name, lane: "demo", argv: ["/bin/sh", "-c", script], cwd: home, env: this.#environment, ...SIZE },
    });
    if (asked.kind === "done") this.#terminals.set(name, asked.value.id);
    else this.#findings.violate(`the terminal ${name} was not opened: ${whyOf(asked)}`);
  }

  get #environment(): Readonly<Record<string, string>> {
    const { PATH: path = "/usr/bin:/bin" } = this.#site.world.self.environment();
    return { PATH: path, [DRILL_VARIABLE]: this.#site.home };
  }

  async #startRun(): Promise<void> {
    const { disk, clock } = this.#site.world;
    const path = joinPath(this.#outside, "release.yml");
    await writeAtomic(disk, path, Buffer.from(FLOW));
    const place = { path, cwd: this.#outside, env: this.#environment };
    const asked = await ask(this.#site, "workflow.run", {
      ...{ id: this.#run, ...place, texts: { to: this.#stepLines }, values: {} },
    });
    if (asked.kind !== "done") return this.#findings.violate(`the workflow did not start: ${whyOf(asked)}`);
    const runs = await seen(clock, SOON_MS, () => this.effects.steps.length > 1 || undefined);
    if (runs === undefined) this.#findings.violate("the step of the workflow did not start");
  }

  async #startAgent(): Promise<void> {
    const settings = { recovery_prompt: AGAIN };
    const about = { id: this.#agent, name: AGENT, instructions: "@note.hello@", lines: this.#agentLines, settings };
    await beginRoot(this.#site, about);
    await sendTo(this.#site, this.#agent, "@ask.deploy@");
    const { clock } = this.#site.world;
    const prompt = await seen(clock, SOON_MS, async () => (await openPrompts(this.#site))[0]);
    if (prompt === undefined) this.#findings.violate("the agent did not ask");
    this.#asked = prompt?.id ?? "";
    await sendTo(this.#site, this.#agent, "@note.later@");
  }

  /** Whether the ends of the tapes are among these files: then another host can show the screens. */
  isIn(files: readonly string[]): boolean {
    return [...this.#terminals.values()].every((id) => files.some((path) => path.endsWith(`${id}/tape`)));
  }

  /** On the host that has the home now. `screenOf`: what a terminal shows. */
  async check(there: Site, screenOf: (name: string) => Promise<string>): Promise<ContentsFound> {
    const screens = await this.#checkTerminals(there, screenOf);
    const run = await this.#checkRun(there);
    const samePrompt = await this.#checkAgent(there);
    compareLines("the steps", this.effects.steps, ["charged", "build begun", "notified"], this.#findings);
    compareLines("the agent", this.effects.agent, ["hello", "deploy allow", "later"], this.#findings);
    return { terminals: this.#terminals.size, screens, run, samePrompt, effects: this.effects };
  }

  /** Returns how many show what they showed before. */
  async #checkTerminals(there: Site, screenOf: (name: string) => Promise<string>): Promise<number> {
    const listed = await ask(there, "terminal.list", {});
    const now = listed.kind === "done" ? listed.value : [];
    let same = 0;
    for (const [name, id] of this.#terminals) {
      if (!now.some((one) => one.id === id && one.name === name)) {
        this.#findings.lose(1, `the terminal ${name} is gone`);
      } else if ((await screenOf(name)).includes(markOf(name))) {
        same += 1;
      } else {
        this.#findings.lose(1, `the terminal ${name} does not show what it showed before`);
      }
    }
    return same;
  }

  /** CO2. Returns in which state it was found. */
  async #checkRun(there: Site): Promise<string> {
    const { clock } = there.world;
    const about = { id: this.#run };
    const found = await seen(clock, SOON_MS, async () => {
      const run = await shown(there, about);
      return run?.state === "uncertain" ? run : undefined;
    });
    const [need] = found?.needs ?? [];
    if (need === undefined) this.#findings.violate("the step that was running is not uncertain");
    else await ask(there, "workflow.resolve", { id: this.#run, attempt: need.attempt, verdict: "done" });
    const ended = await seen(clock, SOON_MS, async () => {
      const run = await shown(there, about);
      return run !== undefined && OVER.includes(run.state) ? run : undefined;
    });
    if (ended?.state !== "done") this.#findings.lose(1, `the workflow does not finish: ${ended?.state ?? "open"}`);
    return found?.state ?? "lost";
  }

  /** CO3. Returns whether the prompt is the one from before. */
  async #checkAgent(there: Site): Promise<boolean> {
    const { clock, random } = there.world;
    const prompt = await seen(clock, SOON_MS, async () => (await openPrompts(there))[0]);
    const isSame = prompt?.id === this.#asked;
    if (prompt === undefined) this.#findings.lose(1, "the agent's prompt is gone");
    else if (!(await answerOnce(there, prompt.id, this.#findings)))
      this.#findings.violate("the agent's prompt cannot be answered");
    if (!isSame && (await answerWith(there, this.#asked, "allow", newId(random.bytes(16)))).kind === "done")
      this.#findings.double(1, "the prompt of the killed process was answered, too");
    const rests = await seen(clock, SOON_MS, async () => {
      const [agent] = (await listAgents(there)) ?? [];
      return agent?.inbox === 0 && this.effects.agent.includes("later") ? true : undefined;
    });
    if (rests === undefined) this.#findings.violate("the agent does not read its messages");
    return isSame;
  }
}

export type ContentsFound = {
  readonly terminals: number;
  /** Terminals that show what they showed before. */
  readonly screens: number;
  readonly run: string;
  readonly samePrompt: boolean;
  readonly effects: Effects;
};

function markOf(name: string): string {
  return `this is ${name}, begun on the first host`;
}

function whyOf(asked: { readonly kind: string; readonly refusal?: { readonly message: string } }): string {
  return asked.refusal?.message ?? asked.kind;
}
