// Several clients that resume the same run, and daemons that die during the request.
import { afterEach, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { MINUTE, place } from "./place.ts";

afterEach(endAll, MINUTE);

const countOf = (text: string, part: string) => text.split(part).length - 1;

test(
  "of several clients that resume a run at once one wins, and the others learn which, with exit code 75",
  async () => {
    const { home, write, text, file } = place();
    write(
      "flow.yml",
      "steps:",
      "  - shell: echo one >> said; [ -e gate ] || exit 5; until [ -e go ]; do sleep 0.05; done",
    );
    expect((await home.run("run", "flow.yml")).code).toBe(5);
    write("gate", "");
    const all = await Promise.all([1, 2, 3, 4].map(() => home.run("resume", "-d", "flow.yml")));
    expect(all.map(({ code }) => code).sort()).toEqual([0, 75, 75, 75]);
    const [{ id, resumed }] = await home.json("workflows");
    for (const { err } of all.filter(({ code }) => code === 75)) {
      expect(err).toMatch(
        new RegExp(`flow is running: process ${resumed.pid} resumed it at [\\d-]+ [\\d:]+ \\S+\\.\n`),
      );
      expect(err).toContain(`holdfast resume ${id.slice(0, 8)}`);
    }
    await until(
      "it runs",
      () => text("said") === "one\none\n",
      () => text("said"),
    );
    // A client that gives only its name may follow it, and gets the same result.
    const window = home.window(["resume", "flow"]);
    await window.shows(`process ${resumed.pid} resumed it`);
    write("go", "");
    expect(await window.exited).toBe(0);
    expect(text("said")).toBe("one\none\n");
    expect((await home.run("resume", file("flow.yml"))).err).toContain("flow is done");
  },
  MINUTE,
);

test(
  "two answers to one uncertain step: the first holds, and the second client learns whose it was",
  async () => {
    const { home, write, text } = place();
    write(
      "flow.yml",
      "steps:",
      "  - shell: echo $PPID > holder; sleep 1000",
      "  - shell: until [ -e go ]; do sleep 0.05; done",
    );
    await home.ok("run", "-d", "flow.yml");
    await until(
      "step one runs",
      () => text("holder").trim() !== "",
      () => text("holder").trim(),
    );
    process.kill(Number(text("holder")), "SIGKILL");
    await until(
      "it is uncertain",
      async () => (await home.json("workflows"))[0].state === "uncertain",
      async () => (await home.json("workflows"))[0].state,
    );
    const both = await Promise.all([home.run("resume", "-d", "--done"), home.run("resume", "-d", "--done", "flow")]);
    expect(both.filter(({ code }) => code === 0)).toHaveLength(1);
    const [lost] = both.filter(({ code }) => code !== 0);
    // A client that looked after the answer finds nothing to resume; one that looked before learns whose it was.
    expect(lost?.err).toMatch(/is not uncertain: process \d+|is uncertain: process \d+|There is no run to resume/);
    write("go", "");
    await until(
      "it is done",
      async () => (await home.json("workflows"))[0].state === "done",
      async () => (await home.json("workflows"))[0].state,
    );
  },
  MINUTE,
);

test(
  "a daemon killed during a resume request: the request takes effect once, whatever the command had learned",
  async () => {
    const { home, write, session } = place();
    write("config.toml", "[crash_loop]", "crashes = 100"); // These kills are not a crash loop.
    write("flow.yml", "steps:", "  - shell: exit 5");
    expect((await home.run("run", "flow.yml")).code).toBe(5);
    const [{ id }] = await home.json("workflows");
    for (const times of [1, 2, 3]) {
      const { daemon } = await home.status();
      const asked = home.run("resume", "-d", id);
      // Durable events may still be in the write-ahead log only.
      const path = `${session(id)}/events.jsonl`;
      const log = () => (existsSync(path) ? readFileSync(path, "utf8") : "");
      await until(
        "the wish or its end is seen",
        () => {
          process.kill(daemon.pid, times === 1 ? "SIGKILL" : 0);
          const seen = countOf(log(), '"workflow.resumed"') >= times;
          if (seen) process.kill(daemon.pid, "SIGKILL");
          return seen || times === 1;
        },
        log,
      );
      expect((await asked).code).toBe(0);
      await until(
        "it has failed again",
        async () => (await home.json("workflows"))[0].state === "failed",
        async () => (await home.json("workflows"))[0].state,
      );
      expect((await home.run("down")).code).toBe(0);
      expect(countOf(log(), '"workflow.resumed"')).toBe(times);
      await home.ok("up");
    }
  },
  MINUTE,
);
