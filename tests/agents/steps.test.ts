// `agent:` steps of workflows: agents of the daemon, through crashes of everything around them.
import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, Home } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { ACTOR } from "./agent-home.ts";

afterAll(endAll);
const MINUTE = 60_000;

class StepHome extends Home {
  constructor() {
    super();
    const command = JSON.stringify(ACTOR);
    writeFileSync(join(this.path, "config.toml"), `[provider.actor]\nkind = "scripted"\ncommand = ${command}\n`);
  }

  file(name: string): string {
    return join(this.path, name);
  }

  text(name: string): string {
    return existsSync(this.file(name)) ? readFileSync(this.file(name), "utf8") : "";
  }

  /** One agent step, and one that writes down what it answered. */
  flow(lines: readonly string[], more: readonly string[] = []): void {
    const prompt = lines.map((line) => `>> ${line}`).join("\n");
    const steps = [
      ...["steps:", "  - id: work", `    agent: { provider: actor, prompt: ${JSON.stringify(prompt)} }`],
      ...["    capture: answer", ...more.map((line) => `    ${line}`), "  - shell: echo ${answer} >> answers"],
    ];
    writeFileSync(this.file("flow.yml"), `${steps.join("\n")}\n`);
  }

  async names(): Promise<string[]> {
    const rows: { name: string }[] = await this.json("agent", "tree");
    return rows.map(({ name }) => name);
  }

  /** What waits for the step's agent. */
  waiter(): number | undefined {
    const found = Bun.spawnSync(["ps", "-eo", "pid,args"]).stdout.toString().split("\n");
    const line = found.find((words) => words.includes(`__step --home ${this.path} `) && !words.includes("holder"));
    return line === undefined ? undefined : Number.parseInt(line, 10);
  }
}

test(
  "an agent step has an agent of the daemon do the work, and its answer is the step's output; what it asks, people answer",
  async () => {
    const home = new StepHome();
    home.flow(["ask Bash ls", "say it is done"]);
    const running = home.run("run", "flow.yml");
    await until("it asks", async () => (await home.json("prompts")).length === 1);
    expect((await home.names())[0]).toMatch(/^step-[0-9a-f]{8}-work-/);
    const [prompt] = await home.json("prompts");
    await home.ok("answer", prompt.id, "allow");
    expect((await running).code).toBe(0);
    expect(home.text("answers")).toBe("it is done\n");
    expect(await home.names()).toEqual([]);
  },
  MINUTE,
);

test(
  "a try that failed is followed by another message to the same agent; where all failed, the run has failed and the agent is there",
  async () => {
    const home = new StepHome();
    home.flow([`append ${home.file("tried")} once`, "fail it is broken"], ["retry: { attempts: 2, backoff: 10ms }"]);
    expect((await home.run("run", "flow.yml")).code).toBe(1);
    expect(home.text("tried")).toBe("once\nonce\n");
    const [name = ""] = await home.names();
    expect((await home.json("agent", "inspect", name)).turns).toBe(2);
    expect(home.text("answers")).toBe("");
  },
  MINUTE,
);

test(
  "daemon and waiter are killed in the middle of an agent's turn: the agent works once, and the step takes its answer",
  async () => {
    const home = new StepHome();
    home.flow([`append ${home.file("tried")} once`, `wait ${home.file("go")}`, "say at last"]);
    const running = home.run("run", "flow.yml");
    await until("it works", () => home.text("tried") !== "");
    const waiter = home.waiter();
    expect(waiter).toBeGreaterThan(0);
    process.kill((await home.json("status")).daemon.pid, "SIGKILL");
    const holder = Number.parseInt(
      readFileSync(`/proc/${waiter}/stat`, "utf8").split(") ")[1]?.split(" ")[1] ?? "",
      10,
    );
    process.kill(holder, "SIGKILL");
    process.kill(waiter ?? 0, "SIGKILL");
    writeFileSync(home.file("go"), "");
    expect((await running).code).toBe(0);
    expect([home.text("tried"), home.text("answers")]).toEqual(["once\n", "at last\n"]);
    expect(await home.names()).toEqual([]);
  },
  MINUTE,
);

test(
  "a step that is stopped interrupts its agent's turn, and resume goes on with the same agent",
  async () => {
    const home = new StepHome();
    home.flow([`append ${home.file("tried")} once`, `wait ${home.file("go")}`, "say at last"]);
    const window = home.window(["run", "flow.yml"]);
    await until("it works", () => home.text("tried") !== "");
    window.type("\u0003");
    await window.shows("was interrupted");
    expect(await window.exited).toBe(130);
    const [name = ""] = await home.names();
    expect(await home.ok("agent", "log", name)).toContain("turn 1 was interrupted");
    writeFileSync(home.file("go"), "");
    expect((await home.run("resume")).code).toBe(0);
    expect([home.text("tried"), home.text("answers")]).toEqual(["once\n", "at last\n"]);
    expect(await home.names()).toEqual([]);
  },
  MINUTE,
);
