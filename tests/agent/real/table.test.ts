// Every real agent, in every trouble: the table of docs/AGENTS.md. The gate tries the most valuable cells of the agents
// that it installs, `npm run test:agents` all of them. A row has one home and one agent, and its cells run in order.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { isGone, killIfThere, type Running } from "../../daemon/home.ts";
import { boot, powerCut } from "../../daemon/power-cut.ts";
import { until } from "../../until.ts";
import { AGENT_PATIENCE_MS, AgentHome, freshId } from "../agent-home.ts";
import { tryDocumentedCodex } from "./codex.ts";
import type { Model } from "./model.ts";
import { codexProgram, runsAll } from "./programs.ts";
import { DAEMON_KEYS, forget, ROWS, type Row, type Scenario } from "./rows.ts";

/** What the agent is told first, and must know to the end. */
const WORD = "the word is turquoise";

class Life {
  readonly place = new AgentHome();
  readonly row: Row;
  readonly model: Model;
  id = "";
  turns = 1;
  #boot = 1;
  #daemon: Running | undefined;

  constructor(row: Row) {
    this.row = row;
    this.model = row.model();
  }

  async begin(): Promise<void> {
    mkdirSync(this.place.file("work"));
    const config = [
      "[log]",
      "ballast_bytes = 0",
      "[agents]",
      "sandbox = false",
      ...(this.row.provider?.(this.model.url) ?? []),
    ];
    writeFileSync(this.place.file("config.toml"), config.join("\n"));
    await this.daemon();
    const given = this.row.agent(this.place, this.model.url);
    this.id = await this.place.agent("real", { cwd: this.place.file("work"), ...given });
    await this.place.say(this.id, WORD);
    await this.rests();
  }

  async daemon(): Promise<void> {
    const env = { HOLDFAST_CONFIG: this.place.file("config.toml"), ...DAEMON_KEYS, ...boot(this.#boot) };
    this.#daemon = await this.place.live(env);
  }

  async kill(): Promise<void> {
    if (this.#daemon !== undefined) await this.place.kill(this.#daemon);
  }

  async powerCut(): Promise<void> {
    await powerCut(this.place);
    this.#boot += 1;
  }

  /** In the middle of an answer: until `rests`. */
  async stalls(about: string): Promise<void> {
    this.turns += 1;
    await this.place.say(this.id, `stall: ${about}`);
    const heard = () => this.model.heard(`stall: ${about}`);
    await until("the model was asked", heard, () => this.place.shown(this.id), AGENT_PATIENCE_MS);
  }

  /** Also an answer that is asked for again, after its process died, continues at once. */
  async rests(): Promise<void> {
    await until(
      `it rests after ${this.turns} turns`,
      async () => {
        this.model.release();
        const { turns, state, inbox, note } = await this.place.shown(this.id);
        if (this.row.forgets === true && note?.includes("cannot be resumed") === true)
          await this.place.must("agent.retry", { id: this.id, fresh: true });
        if (turns !== this.turns || !["idle", "suspended"].includes(state) || inbox > 0) return false;
        return this.place.completed(this.id) === this.turns;
      },
      async () => [await this.place.shown(this.id), this.place.events(this.id).slice(-30)],
      AGENT_PATIENCE_MS,
    );
  }

  async knows(...words: readonly string[]): Promise<void> {
    for (const word of [WORD, ...words]) expect(this.model.newest()).toContain(word);
    expect((await this.place.shown(this.id)).lastText).toMatch(/answer|heard/);
  }

  async killProcess(): Promise<void> {
    const pid = async () => (await this.place.shown(this.id)).pid ?? undefined;
    killIfThere(await until("its process is known", pid, () => this.place.shown(this.id)));
  }

  /** No process of it is left, nor anything that one might write. */
  async suspend(): Promise<void> {
    const { pid } = await this.place.shown(this.id);
    if (pid === null) return;
    await this.place.must("agent.suspend", { id: this.id });
    const isOver = () => isGone(pid);
    await until("its process has ended", isOver, () => this.place.shown(this.id), AGENT_PATIENCE_MS);
  }

  async close(): Promise<void> {
    await this.model.stop();
    await this.place.close();
  }
}

const CELLS: Readonly<Record<Scenario, { readonly claim: string; run(life: Life): Promise<void> }>> = {
  prompt: {
    claim: "PR-3(a,d) the daemon is killed at a permission request: same id, answered, and the tool ran once",
    run: async (life) => {
      const { place, id } = life;
      life.turns += 1;
      await place.say(id, `run: echo ran >> ${place.file("done")}`);
      const before = await place.prompt();
      const { pid } = await place.shown(id);
      await life.kill();
      await life.daemon();
      expect(await place.prompt()).toEqual(before);
      expect((await place.shown(id)).pid).toBe(pid);
      expect(await place.answer(before.id)).toMatchObject({ ok: true });
      await life.rests();
      expect(place.text("done")).toBe("ran\n");
    },
  },
  always: {
    claim: "what was always allowed is not asked again, and anything else is",
    run: async (life) => {
      const { place, id } = life;
      const say = async (file: string) => {
        life.turns += 1;
        await place.say(id, `run: echo ran >> ${place.file(file)}`);
      };
      await say("always");
      const first = { answer: freshId(), decision: "allow", message: "" } as const;
      await place.must("prompt.answer", { prompt: (await place.prompt()).id, ...first, always: true });
      await life.rests();
      await say("always");
      await life.rests();
      expect(place.text("always")).toBe("ran\nran\n");
      await say("other");
      await place.answer((await place.prompt()).id);
      await life.rests();
      expect(place.text("other")).toBe("ran\n");
    },
  },
  stream: {
    claim: "AG-4(b) the daemon is killed while it receives an answer: the turn continues, and ends once",
    run: async (life) => {
      await life.stalls("without a daemon");
      await life.kill();
      life.model.release();
      await life.daemon();
      await life.rests();
      await life.knows("without a daemon");
    },
  },
  process: {
    claim: "AG-6(a) its process is killed in a turn: the next one knows the conversation, and ends the turn",
    run: async (life) => {
      await life.stalls("until the kill");
      await life.killProcess();
      await life.rests();
      await life.knows("until the kill");
    },
  },
  tool: {
    claim:
      "AG-7(a) its process is killed while a tool runs: the next one is told which, and that its outcome is unknown",
    run: async (life) => {
      const { place, id, model } = life;
      life.turns += 1;
      await place.say(id, `run: echo ran >> ${place.file("flight")}; sleep 1000`);
      await place.answer((await place.prompt()).id);
      await until(
        "the tool runs",
        () => place.text("flight") === "ran\n",
        () => place.shown(id),
      );
      await life.killProcess();
      await life.rests();
      await life.knows("its outcome is unknown: check before you repeat it");
      expect(model.newest()).toMatch(/You had called \w+ `[^`]*echo ran >> [^`]*flight; sleep 1000/);
      expect(place.text("flight")).toBe("ran\n");
    },
  },
  machine: {
    claim: "AG-7(a,b) the machine crashes in a turn: the next boot continues it, with the conversation",
    run: async (life) => {
      await life.stalls("until the power cut");
      await life.powerCut();
      life.model.release();
      await life.daemon();
      await life.rests();
      await life.knows("until the power cut");
    },
  },
  resume: {
    claim: "its conversation is gone: it waits with the reason, and `retry --fresh` starts a new one with the history",
    run: async (life) => {
      const { place, id, row } = life;
      await life.suspend();
      forget(place, row);
      life.turns += 1;
      await place.say(id, "which word was it?");
      const { note } = await place.becomes(id, "suspended");
      expect(note).toContain("Its conversation cannot be resumed: ");
      await life.kill();
      await life.daemon();
      const told = (await place.report()).items.find((item) => item.id === id);
      expect(told).toMatchObject({ fate: "needs you", reason: note, next: expect.stringContaining(" --fresh") });
      await place.must("agent.retry", { id, fresh: true });
      await life.rests();
      await life.knows("which word was it?");
    },
  },
};

for (const row of ROWS) {
  const wanted = (Object.keys(CELLS) as Scenario[]).filter((name) =>
    runsAll ? !row.limits.includes(name) : row.inGate.includes(name),
  );
  if (wanted.length === 0) continue;
  describe(row.name, () => {
    const life = new Life(row);
    const isMissing = row.program === undefined;
    beforeAll(() => (isMissing ? undefined : life.begin()));
    afterAll(() => life.close());
    for (const name of wanted)
      test.skipIf(isMissing)(`${row.name}: ${CELLS[name].claim} (needs ${row.name})`, () => CELLS[name].run(life));
  });
}

if (runsAll)
  test.skipIf(codexProgram === undefined)(
    "the documented codex provider answers, remembers, shows its standard error, and a step captures its answer (needs codex)",
    tryDocumentedCodex,
  );
