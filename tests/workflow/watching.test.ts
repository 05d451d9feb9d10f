// A run in a user's window: what is shown live, and what each way to leave it means.
import { afterEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { endAll, type Window } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { MINUTE, place } from "./place.ts";

afterEach(endAll, MINUTE);

const WAITS = "until [ -e go ]; do sleep 0.05; done";

async function begun(...lines: readonly string[]) {
  const site = place();
  site.write("flow.yml", "steps:", "  - id: one", `    shell: echo begun; echo $PPID > holder; ${WAITS}`, ...lines);
  const window = site.home.window(["run", "flow.yml"]);
  await window.shows("  one: begun");
  const state = async () => (await site.home.json("workflows"))[0].state;
  return { ...site, window, state };
}

const COLUMNS = 80;

/** The final screen: each line as it was left. A full row continues in the next one. */
function screen(window: Window): string[] {
  const rows: string[] = [""];
  let at = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal is told.
  for (const [token] of window.seen.matchAll(/\u001b\[\d*[A-K]|[\r\n]|[^\u001b\r\n]/g)) {
    if (token === "\n") at += 1;
    else if (token === "\u001b[1A") at -= 1;
    else if (token === "\u001b[2K") rows[at] = "";
    else if (token !== "\r") {
      if (rows[at]?.length === COLUMNS) at += 1;
      rows[at] = `${rows[at] ?? ""}${token}`;
    }
  }
  return rows.map((row) => row ?? "").filter((row) => row !== "");
}

test(
  "the output of the running step is shown live, and no live line is left at the end",
  async () => {
    const two =
      "printf 'half a'; until [ -e mid ]; do sleep 0.05; done; echo warn >&2; until [ -e on ]; do sleep 0.05; done";
    const { window, write } = await begun("  - id: two", `    shell: ${two}`);
    await until(
      "the elapsed time is shown",
      () => /flow running: step 1 of 2 \(one\), [1-9]\d* s/.test(window.seen),
      () => window.seen,
    );
    write("go", "");
    await window.shows("one: done");
    await window.shows("  two: half a");
    write("mid", "");
    await window.shows("  two: warn");
    write("on", "");
    expect(await window.exited).toBe(0);
    const rows = screen(window).slice(-4); // The daemon that had to be started first is reported above.
    expect(rows.map((row) => row.replace(/\d+\.\d s|[0-9a-f]{8}/g, "…"))).toEqual([
      "holdfast: flow is running as ….",
      "one: done (…)",
      "two: done (…)",
      "holdfast: flow is done.",
    ]);
  },
  MINUTE,
);

test(
  "items, their rate and the time left are shown while a map runs",
  async () => {
    const { home, write } = place();
    write(
      "flow.yml",
      "mode: mapreduce",
      "map:",
      "  input: { command: seq 1 4 }",
      "  max_parallel: 2",
      "  steps:",
      "    - id: work",
      "      shell: echo at ${item}; until [ -e go-${item} ]; do sleep 0.05; done",
    );
    const window = home.window(["run", "flow.yml"]);
    await window.shows("work, item 1: at 2");
    write("go-1", "");
    await until(
      "a rate is shown",
      () => /1\/4 items, \d\.\d\/s, \d+ s left/.test(window.seen),
      () => window.seen,
    );
    for (const item of [2, 3, 4]) write(`go-${item}`, "");
    expect(await window.exited).toBe(0);
    expect(screen(window).slice(-2)).toEqual(["map: 4/4 items", "holdfast: flow is done."]);
  },
  MINUTE,
);

test(
  "a long line about a step is broken between words, and not by the window",
  async () => {
    const { home, write } = place();
    write("flow.yml", "steps:", "  - id: ask", "    agent: { provider: nobody, prompt: hello }");
    const window = home.window(["run", "flow.yml"]);
    expect(await window.exited).toBe(1);
    const rows = screen(window);
    const from = rows.findIndex((row) => row.startsWith("ask: FAILED"));
    const line = rows.slice(
      from,
      rows.findIndex((row) => row.startsWith("holdfast: flow failed")),
    );
    expect(line.length).toBeGreaterThan(1);
    expect(line.every((row) => row.length < COLUMNS && !/^\w$/.test(row.trim()))).toBe(true);
    expect(line.map((row) => row.trim()).join(" ")).toContain("There is no provider nobody. Use one of claude, acp,");
  },
  MINUTE,
);

test(
  "without a window the items of a map are counted, sparsely, between the steps around it",
  async () => {
    const { home, write } = place();
    const map = ["map:", "  input: { command: seq 1 200 }", "  max_parallel: 20", "  on_item_failure: continue"];
    const around = ["setup:", "  - { id: before, shell: 'true' }", ...map, "  steps:"];
    const work = "    - { id: work, shell: 'test ${item} != 7' }";
    write("flow.yml", "mode: mapreduce", ...around, work, "reduce:", "  - { id: after, shell: 'true' }");
    const { code, err } = await home.run("run", "flow.yml");
    expect(code).toBe(0);
    const lines = err.split("\n");
    const counted = lines.filter((line) => line.startsWith("map: "));
    expect(counted.at(-1)).toBe("map: 200/200 items, 1 failed");
    expect(counted.length).toBeLessThanOrEqual(12);
    const places = ["before: done", "map: ", "map: 200/200", "after: done"];
    const found = places.map((start) => lines.findIndex((line) => line.startsWith(start)));
    expect(found).toEqual(found.toSorted((a, b) => a - b));
    expect(found).not.toContain(-1);
  },
  MINUTE,
);

test(
  "retries of a step are announced as they happen, with or without a window, each once",
  async () => {
    for (const isWindow of [false, true]) {
      const { home, write } = place();
      const work = "echo x >> tried; test $(wc -l < tried) -ge 3";
      write("flow.yml", "steps:", `  - { id: work, shell: '${work}', retry: { attempts: 3, backoff: 100ms } }`);
      const run = isWindow ? home.window(["run", "flow.yml"]) : undefined;
      const text = run === undefined ? (await home.run("run", "flow.yml")).err : "";
      if (run !== undefined) expect(await run.exited).toBe(0);
      const lines = run === undefined ? text.split("\n") : screen(run);
      expect(
        lines
          .map((line) => line.replace(/[\d.]+ s\b|[0-9a-f]{8}/, "…"))
          .filter((line) => line !== "")
          .slice(-5),
      ).toEqual([
        "holdfast: flow is running as ….",
        "work: try 1 failed, and it is tried again",
        "work: try 2 failed, and it is tried again",
        "work: done (…)",
        "holdfast: flow is done.",
      ]);
    }
  },
  MINUTE,
);

test(
  "UC-2(a) UC-3(d) Ctrl-C and SIGTERM interrupt the run: exit code 130, and the checkpoint says Interrupted",
  async () => {
    for (const interrupt of [(one: Window) => one.type("\x03"), (one: Window) => one.kill("SIGTERM")]) {
      const { window, home } = await begun();
      interrupt(window);
      expect(await window.exited).toBe(130);
      expect(screen(window).at(-2)).toBe("holdfast: flow was interrupted.");
      const interrupted = { kind: "Interrupted", step_index: 0, in_progress: true };
      await until(
        "the checkpoint shows it",
        async () => {
          const shown = await home.json("checkpoints", "show", "flow");
          return Bun.deepEquals(shown.state, interrupted) && shown.run.status.kind === "interrupted";
        },
        () => home.json("checkpoints", "show", "flow"),
      );
    }
  },
  2 * MINUTE,
);

test(
  "Ctrl-C leaves no live line behind, even if the last one was as wide as the window",
  async () => {
    const { home, write } = place();
    write("flow.yml", "steps:", "  - id: one", `    shell: echo ${"wide ".repeat(30)}; ${WAITS}`);
    const window = home.window(["run", "flow.yml"]);
    await window.shows("  one: wide");
    window.type("\x03");
    expect(await window.exited).toBe(130);
    expect(screen(window).join("\n")).not.toContain("flow running");
  },
  MINUTE,
);

test(
  "Ctrl-\\ and a closed window only stop watching; the run continues, and no process is left behind",
  async () => {
    const { window, write, state } = await begun();
    window.type("\x1c");
    expect(await window.exited).toBe(0);
    expect(screen(window).at(-1)).toMatch(
      /^holdfast: flow continues; `holdfast resume [0-9a-f]{8}` follows it again\.$/,
    );
    expect(await state()).toBe("running");
    write("go", "");
    await until(
      "it ends by itself",
      async () => (await state()) === "done",
      async () => await state(),
    );
    const other = await begun();
    const { pid } = other.window;
    other.window.close();
    await until(
      "the watching client is gone",
      () => !existsSync(`/proc/${pid}`),
      () => `${`/proc/${pid}`} exists: ${existsSync(`/proc/${pid}`)}`,
    );
    expect(await other.state()).toBe("running");
    other.write("go", "");
    await until(
      "it ends by itself",
      async () => (await other.state()) === "done",
      async () => await other.state(),
    );
  },
  2 * MINUTE,
);

test(
  "a watched run that starts to wait for a person has exit code 3, and shows the possible answers",
  async () => {
    const { window, text, state } = await begun();
    process.kill(Number(text("holder")), "SIGKILL");
    expect(await window.exited).toBe(3);
    expect(screen(window).join("\n")).toContain("flow is uncertain: step 1 (one)");
    expect(await state()).toBe("uncertain");
  },
  MINUTE,
);
