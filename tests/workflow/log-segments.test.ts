// Logs in many files, as a user sees them: a real daemon, a run and an agent whose log files are tiny.
import { afterAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { ACTOR } from "../agent/agent-home.ts";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { MINUTE, place } from "./place.ts";

afterAll(endAll, MINUTE);

type Line = { readonly seq: number; readonly prev: number };

test(
  "SG1 log verify, log show, log tail, agent log and logs show every line, also after the daemon was killed",
  async () => {
    const { home, write, session, file } = place();
    write("config.toml", "[log]", "session_bytes = 1024");
    const step = ["  - id: work", "    shell: test -e go && echo a line"];
    write("flow.yml", "mode: iterative", "max_iterations: 4", "steps:", ...step);
    expect((await home.run("run", "flow.yml")).code).toBe(1);
    const agent = (await home.ok("agent", "new", "alpha", "--provider", "scripted", "--", ...ACTOR)).trim();
    await home.ok("agent", "ask", "alpha", ">> say one");
    await home.ok("down"); // Both logs are written; what comes next begins new files.
    write("go", "");
    expect((await home.run("resume", "flow")).code).toBe(0);
    for (const word of ["two", "three"]) await home.ok("agent", "ask", "alpha", `>> say ${word}`);
    const [{ id: run }] = await home.json("workflows");
    const segments = (directory: string) => readdirSync(directory).filter((name) => /^events-\d+\.jsonl$/.test(name));
    const both = [session(run), file(`agents/${agent}`)];
    await until(
      "both logs have several files",
      () => both.every((directory) => segments(directory).length > 0),
      () => both.map(segments),
    );
    process.kill((await home.status()).daemon.pid, "SIGKILL");
    const verdict = await home.json("log", "verify");
    expect(verdict).toMatchObject({ whole: true, findings: [] });
    for (const one of [run, agent]) {
      const shown: Line[] = await home.json("log", "show", one);
      expect(shown.map(({ prev }) => prev)).toEqual([0, ...shown.slice(0, -1).map(({ seq }) => seq)]);
      const { entries } = verdict.sessions.find(({ session: path }: { session: string }) => path.endsWith(one));
      expect(shown.length).toBeGreaterThanOrEqual(entries); // The next daemon writes on.
      const last: Line[] = await home.json("log", "tail", "--lines", "9", one);
      expect(last).toHaveLength(9);
      expect(last.slice(1).map(({ prev }) => prev)).toEqual(last.slice(0, -1).map(({ seq }) => seq));
    }
    expect(await home.ok("logs", "--step", "work", "flow")).toBe("a line\n".repeat(4));
    const said = await home.ok("agent", "log", "alpha");
    for (const word of ["one", "two", "three"]) expect(said).toContain(word);
    await until(
      "the next daemon has the agent",
      async () => (await home.run("agent", "ask", "alpha", ">> say four")).out === "four\n",
      () => home.run("recovery", "report"),
    );
  },
  3 * MINUTE,
);
