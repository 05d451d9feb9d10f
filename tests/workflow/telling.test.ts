// What `run`, `resume` and `dlq retry` tell about a run that fails, is retried, repeats its steps or is continued.
import { afterEach, expect, test } from "bun:test";
import { endAll } from "../cli/terminal-home.ts";
import { MINUTE, place } from "./place.ts";

afterEach(endAll, MINUTE);

test(
  "a failing step: each retry is announced once, and the last twenty lines of its output are printed",
  async () => {
    const { home, write } = place();
    write(
      "flow.yml",
      "steps:",
      "  - id: work",
      "    shell: 'seq 1 30; echo because of this >&2; exit 7'",
      "    retry: { attempts: 2, backoff: 1s }",
    );
    const ended = await home.run("run", "flow.yml");
    expect(ended.code).toBe(7);
    expect(ended.err.match(/work: try 1 failed, and it is tried again\n/g)).toHaveLength(1);
    const lines = [...Array.from({ length: 19 }, (_, at) => `${at + 12}`), "because of this"];
    expect(ended.err).toContain(`the last lines of work:\n${lines.map((line) => `    ${line}\n`).join("")}holdfast: `);
  },
  MINUTE,
);

test(
  "retries that were over before `run` looked are announced once as well, and shown with the step afterwards",
  async () => {
    const { home, write } = place();
    const retry = "    retry: { attempts: 3, backoff: 1ms }";
    write(
      "flow.yml",
      ...["mode: iterative", "max_iterations: 2", "steps:"],
      ...["  - id: work", "    shell: 'echo x >> said; [ $(($(wc -l < said) % 3)) = 0 ]'", retry],
      ...["  - id: handled", "    shell: exit 1", retry, "    continue_on_error: true"],
      ...["    on_failure:", "      - shell: 'true'"],
    );
    const { code, err } = await home.run("run", "flow.yml");
    expect(code).toBe(0);
    for (const step of ["work", "handled"])
      for (const time of [1, 2])
        expect(err.match(new RegExp(`^${step}: try ${time} failed, and it is tried again$`, "gm"))).toHaveLength(2);
    const shown = await home.ok("workflows", "show", "flow");
    expect(shown.match(/work: done \([0-9.]+ s, 3 tries\)/g)).toHaveLength(2);
    expect(shown.match(/handled: failed, ignored \([0-9.]+ s, 3 tries\)/g)).toHaveLength(2);
    const { records } = await home.json("workflows", "show", "flow");
    expect(records.filter(({ tries }: { tries?: number }) => tries === 3)).toHaveLength(4);
    expect((await home.run("checkpoints", "verify", "flow")).code).toBe(0);
  },
  MINUTE,
);

test(
  "resume marks the steps that had ended before, and prints each line once",
  async () => {
    const { home, write } = place();
    write("flow.yml", "steps:", "  - { id: one, shell: 'true' }", "  - { id: two, shell: '[ -e go ]' }");
    expect((await home.run("run", "flow.yml")).code).toBe(1);
    write("go", "");
    const resumed = await home.run("resume", "flow");
    expect(resumed.err).toMatch(
      /^earlier: one: done \(.*\)\nearlier: two: FAILED \(.*\): .*\ntwo: done \(.*\)\nholdfast: flow is done\.\n$/,
    );
  },
  MINUTE,
);

test(
  "iterations are numbered",
  async () => {
    const { home, write } = place();
    write("flow.yml", "mode: iterative", "max_iterations: 2", "steps:", "  - { id: one, shell: 'true' }");
    const ended = await home.run("run", "flow.yml");
    expect(ended.err).toMatch(/\niteration 1, one: done \(.*\)\niteration 2, one: done \(.*\)\n/);
  },
  MINUTE,
);

test(
  "dlq retry of a run without a map is refused, with what to do instead",
  async () => {
    const { home, write } = place();
    write("flow.yml", "steps:", "  - { id: one, shell: 'false' }");
    await home.run("run", "flow.yml");
    const refused = await home.run("dlq", "retry", "flow");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("flow has no map, so it has no failed items.");
    expect(refused.err).toContain("holdfast resume ");
  },
  MINUTE,
);
