// `holdfast logs RUN` as a user types it.
import { afterAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { MINUTE, place } from "./place.ts";

afterAll(endAll, MINUTE);

test(
  "a step's output is complete, for every attempt or one, and comes from the log if the files are gone",
  async () => {
    const { home, write, session } = place();
    write(
      "flow.yml",
      "steps:",
      "  - id: try",
      "    shell: |",
      "      printf 'try %s \\033[31mred\\033[0m\\nno end' $HOLDFAST_TRY",
      "      echo oops >&2",
      '      [ "$HOLDFAST_TRY" = 2 ]',
      "    retry: { attempts: 2, backoff: 10ms }",
      "  - id: quiet",
      "    set: { a: 1 }",
    );
    expect((await home.run("run", "flow.yml")).code).toBe(0);
    const all = await home.run("logs", "--step", "try");
    expect(all).toMatchObject({ code: 0, out: "try 1 red\nno end\ntry 2 red\nno end\n" });
    expect(all.err).toMatch(
      /attempt 1, started at .*:\noops\n.*attempt 1 ended with exit code 1\.\n.*attempt 2, try 2, started at /,
    );
    const one = await home.run("logs", "--step", "try", "--attempt", "2", "flow.yml");
    expect(one).toEqual({ code: 0, out: "try 2 red\nno end\n", err: "oops\n" });
    const [first] = await home.json("logs", "--step", "try", "--attempt", "1", "flow");
    expect(first).toMatchObject({ number: 1, try: 1, item: null, code: 1, stderr: "oops\n" });
    expect(first.output).toBe("try 1 \u001b[31mred\u001b[0m\nno end");
    expect((await home.run("logs", "--step", "quiet")).code).toBe(4);
    expect((await home.run("logs", "--step", "try", "--attempt", "9")).code).toBe(4);
    expect(await home.run("logs", "flow")).toMatchObject({ code: 0, out: all.out });
    expect((await home.run("logs", "flow")).err).toContain("try, attempt 2, try 2, started at ");
    expect((await home.run("logs", "flow", "--lines", "3")).code).toBe(2);
    const [{ id }] = await home.json("workflows");
    rmSync(join(session(id), "attempts"), { recursive: true });
    const kept = await home.run("logs", "--step", "try", "--attempt", "2");
    expect(kept.err).toContain("its files are gone");
    expect(kept.out).toContain("no end");
  },
  MINUTE,
);

test(
  "the attempts of one item of a map, and --follow until the run stops",
  async () => {
    const { home, write } = place();
    write(
      "flow.yml",
      "mode: mapreduce",
      "map:",
      "  input: { command: seq 1 3 }",
      "  max_parallel: 1",
      "  steps:",
      "    - id: work",
      "      shell: echo begin ${item}; until [ -e go-${item} ]; do sleep 0.05; done; echo end ${item}",
    );
    write("go-1", "");
    await home.ok("run", "-d", "flow.yml");
    const window = home.window(["logs", "--step", "work", "--follow"]);
    await window.shows("begin 2");
    expect(window.seen).not.toContain("end 2");
    write("go-2", "");
    await window.shows("end 2");
    await window.shows("begin 3");
    write("go-3", "");
    expect(await window.exited).toBe(0);
    expect(window.seen.split("end 3")).toHaveLength(2);
    expect(await home.ok("logs", "--step", "work", "--item", "1", "flow")).toBe("begin 2\nend 2\n");
    expect(await home.ok("logs", "--step", "map.input", "flow")).toBe("1\n2\n3\n");
    await until(
      "it is done",
      async () => (await home.json("workflows"))[0].state === "done",
      async () => (await home.json("workflows"))[0].state,
    );
  },
  MINUTE,
);
