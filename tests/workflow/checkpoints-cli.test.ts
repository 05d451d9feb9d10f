// `holdfast checkpoints` as a user types it.
import { afterEach, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeEnvelope } from "../../src/log/checkpoint/envelope.ts";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { MINUTE, place } from "./place.ts";

afterEach(endAll, MINUTE);

type Row = { seq: number; state: string; step: string; valid: boolean; file: string; bytes: number; reason: string };
type Site = ReturnType<typeof place>;

/** Each step ends once a checkpoint from before it exists, so that each has its own, however busy the daemon is. */
function stepsOf(...ids: readonly string[]): string[] {
  const saved = `grep -q "\\"$HOLDFAST_TERMINAL\\"" state/*/sessions/*/checkpoint.json 2> /dev/null`;
  return ids.flatMap((id) => [
    `  - id: ${id}`,
    "    shell: |",
    `      until ${saved}; do sleep 0.02; done`,
    `      echo ${id} >> said; echo ${id}-${"$"}(wc -l < said)`,
    `    capture: v_${id}`,
  ]);
}

/** Runs it to its end, and waits for its last checkpoint. */
async function finished({ home, session }: Site, ...words: readonly string[]): Promise<string> {
  const id = (await home.ok("run", "-d", ...words)).trim();
  await until(
    "it ends",
    async () => (await home.json("workflows")).at(-1).state !== "running",
    async () => (await home.json("workflows")).at(-1).state,
  );
  const read = () => JSON.parse(readFileSync(join(session(id), "checkpoint.json"), "utf8"));
  await until(
    "its checkpoint is complete",
    () => ["done", "failed"].includes(read().run.status.kind),
    () => ["done", "failed"],
  );
  return id;
}

/**
 * The newest checkpoint after step `done`: it is written after the event, and slightly later than the command that
 * waited for it.
 */
async function after(site: Site, run: string, done: string): Promise<number> {
  let found: number | undefined;
  await until(
    `there is a checkpoint after ${done}`,
    async () => {
      found = await newestAfter(site, run, done);
      return found !== undefined;
    },
    () => site.home.json("checkpoints", "ls", run),
  );
  return found ?? 0;
}

async function newestAfter({ home }: Site, run: string, done: string): Promise<number | undefined> {
  const rows: Row[] = await home.json("checkpoints", "ls", run);
  for (const { seq } of rows.filter(({ valid }) => valid)) {
    const shown = await home.json("checkpoints", "show", run, String(seq));
    if (shown.completed_steps.at(-1)?.step === done) return seq;
  }
  return undefined;
}

test(
  "UC-7(a,b) checkpoints are listed by id and by workflow file and shown in full, without secrets",
  async () => {
    const site = place();
    const { home, write, file } = site;
    write(
      "flow.yml",
      "parameters: { api_token: { required: true } }",
      "steps:",
      ...stepsOf("one"),
      "  - id: leak",
      "    shell: |-",
      "      echo the token is ${api_token}",
      "      true",
      "    capture: said",
      "  - id: two",
      "    shell: exit 4",
    );
    const id = await finished(site, "flow.yml", "--param", "api_token=hunter22222");
    const rows: Row[] = await home.json("checkpoints", "ls", id.slice(0, 6));
    expect(rows[0]).toMatchObject({
      run: id,
      path: file("flow.yml"),
      state: "Failed",
      step: "3 of 3 (two)",
      valid: true,
    });
    expect(rows.every(({ valid, bytes, seq }) => valid && bytes > 0 && seq > 0)).toBe(true);
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map(({ seq }) => seq).toSorted((a, b) => b - a));
    expect(await home.json("checkpoints", "ls", "flow.yml")).toEqual(rows);
    const all: Row[] = await home.json("checkpoints", "ls");
    expect(all).toEqual(rows.slice(0, 1));
    expect(await home.ok("checkpoints", "ls", "flow")).toMatch(
      /^RUN .*CHECKPOINT .*\n.* Failed +3 of 3 \(two\) +\d+ B +yes\n/,
    );
    const text = await home.ok("checkpoints", "show", "flow");
    expect(text).toContain("Failed, step 3: It ended with exit code 4.");
    expect(text).toMatch(/\nresume +runs step 3; 2 steps before it will not run again\n/);
    expect(text).toMatch(/ {2}v_one +one-1\n/);
    expect(text).toMatch(/ {2}leak +succeeded .*api_token\}\\ntrue\n/); // A script of several lines takes one row.
    const shown = await home.ok("checkpoints", "show", "flow", "--json");
    expect(JSON.parse(shown)).toMatchObject({ session_id: id, variables: { api_token: "(hidden)", v_one: "one-1" } });
    expect(JSON.parse(shown).variables.said).toBe("the token is (hidden)");
    expect(`${text}${shown}`).not.toContain("hunter22222");
    expect((await home.run("checkpoints", "show", "flow", "999999")).code).toBe(4);
    expect((await home.run("checkpoints", "ls", "nobody")).code).toBe(4);
  },
  MINUTE,
);

test(
  "UC-7(d) verify reports for each checkpoint whether hash, shape and log agree, and what to do about a bad one",
  async () => {
    const site = place();
    const { home, write, session } = site;
    write("flow.yml", "steps:", ...stepsOf("one", "two", "three"), "  - shell: exit 4");
    const id = await finished(site, "flow.yml");
    expect((await home.run("checkpoints", "verify")).code).toBe(0);
    const history = join(session(id), "history");
    const [first = "", second = "", third = ""] = readdirSync(history).sort().reverse();
    // One is damaged, one has false content with a correct hash, one has another shape.
    const damaged = readFileSync(join(history, first), "utf8").replace('"session_id"', '"sessiom_id"');
    writeFileSync(join(history, first), damaged);
    const { seq, created_at: time, ...body } = JSON.parse(readFileSync(join(history, second), "utf8"));
    const facts = { kind: "workflow", version: 1, fold: 1, seq, time };
    const lie = JSON.stringify({ ...body, variables: { v_one: "a lie" } });
    writeFileSync(join(history, second), encodeEnvelope(facts, lie).bytes);
    writeFileSync(join(history, third), encodeEnvelope(facts, '{"version":1}').bytes);
    const verdicts: { file: string; verdict: string; reason: string; next: string }[] = JSON.parse(
      (await home.run("checkpoints", "verify", "flow", "--json")).out,
    );
    const of = (name: string) => verdicts.find((one) => one.file.endsWith(name));
    expect(of(first)).toMatchObject({
      verdict: "bad",
      next: `It is only an older checkpoint: rm ${join(history, first)}`,
    });
    expect(of(second)).toMatchObject({ verdict: "bad", reason: "the log has a different state at this entry" });
    expect(of(third)).toMatchObject({ verdict: "bad", reason: "its content has an unknown shape" });
    expect(verdicts.filter(({ verdict }) => verdict === "bad")).toHaveLength(3);
    writeFileSync(join(session(id), "checkpoint.json"), "");
    const told = await home.run("checkpoints", "verify", "flow");
    expect([told.code, told.err]).toEqual([1, expect.stringContaining("4 bad.")]);
    expect(told.out).toContain("→ Nothing: the log has everything.");
    expect(await home.ok("checkpoints", "ls", "flow")).toContain("NO: ");
    expect((await home.run("resume", "-d", "flow")).code).toBe(0);
    await until(
      "it is written again",
      async () => {
        const rows: Row[] = await home.json("checkpoints", "ls", "flow");
        return rows[0]?.valid === true;
      },
      () => home.json("checkpoints", "ls", "flow"),
    );
  },
  MINUTE,
);

test(
  "rollback shows what it undoes, waits for --yes, keeps what is newer, and resume continues from there",
  async () => {
    const site = place();
    const { home, write, text, session } = site;
    write("flow.yml", "steps:", ...stepsOf("one", "two", "three"), "  - shell: until [ -e go ]; do sleep 0.05; done");
    await home.ok("run", "-d", "flow.yml");
    await until(
      "step four runs",
      () => text("said") === "one\ntwo\nthree\n",
      () => text("said"),
    );
    await until(
      "its checkpoint is there",
      async () => {
        const rows: Row[] = await home.json("checkpoints", "ls", "flow");
        return rows[0]?.step.startsWith("4 of 4") === true;
      },
      () => home.json("checkpoints", "ls", "flow"),
    );
    const seq = String(await after(site, "flow", "one"));
    expect((await home.run("checkpoints", "rollback", "flow", seq)).err).toContain("still running");
    write("go", "");
    await until(
      "it is done",
      async () => (await home.json("workflows"))[0].state === "done",
      async () => (await home.json("workflows"))[0].state,
    );
    const [{ id }] = await home.json("workflows");
    const before = new Set(readdirSync(join(session(id), "history")));
    const asked = await home.run("checkpoints", "rollback", "flow", seq);
    expect(asked.code).toBe(3);
    expect(asked.err).toContain("  two: succeeded\n  three: succeeded\n");
    expect(asked.err).toContain(`holdfast checkpoints rollback ${id.slice(0, 8)} ${seq} --yes`);
    expect((await home.json("workflows"))[0].state).toBe("done");
    const done = await home.json("checkpoints", "rollback", "flow", seq, "--yes");
    expect(done).toMatchObject({ id, state: "interrupted", done: true, items: 0 });
    expect(done.steps.map(({ step }: { step: string }) => step).slice(0, 2)).toEqual(["two", "three"]);
    expect((await home.run("checkpoints", "rollback", "flow", seq, "--yes")).err).toContain("Nothing has ended since");
    const now = new Set(readdirSync(join(session(id), "history")));
    expect([...before].filter((name) => !now.has(name))).toEqual([]);
    expect((await home.run("checkpoints", "verify")).code).toBe(0);
    expect((await home.run("resume", "flow")).code).toBe(0);
    expect(text("said")).toBe("one\ntwo\nthree\ntwo\nthree\n");
    const shown = await home.json("checkpoints", "show", "flow");
    expect(shown.variables).toMatchObject({ v_one: "one-1", v_two: "two-4", v_three: "three-5" });
    expect((await home.run("checkpoints", "rollback", "flow", "999999", "--yes")).code).toBe(4);
  },
  MINUTE,
);

test(
  "kill -9 of the daemon around a rollback: it happened once or not at all, and the command says which",
  async () => {
    const site = place();
    const { home, write, text, session } = site;
    write("config.toml", "[crash_loop]", "crashes = 100");
    write("flow.yml", "steps:", ...stepsOf("one", "two", "three"));
    const id = await finished(site, "flow.yml");
    const log = join(session(id), "events.jsonl"); // It is copied from the write-ahead log later.
    const events = () => (existsSync(log) ? readFileSync(log, "utf8") : "");
    const count = () => events().split('"workflow.rolledback"').length - 1;
    for (const when of ["before", "after"]) {
      const seq = String(await after(site, id, "two"));
      const times = count();
      const { daemon } = await home.status();
      const asked = home.run("checkpoints", "rollback", id, seq, "--yes");
      if (when === "after")
        await until(
          "it is on disk",
          () => count() > times,
          () => count(),
        );
      process.kill(daemon.pid, "SIGKILL");
      expect((await asked).code).toBe(0);
      await home.ok("down");
      expect(count()).toBe(times + 1);
      await home.ok("up");
      expect((await home.json("workflows"))[0].state).toBe("interrupted");
      expect((await home.run("resume", id)).code).toBe(0);
    }
    expect(text("said")).toBe("one\ntwo\nthree\nthree\nthree\n");
  },
  2 * MINUTE,
);

test(
  "a rollback restores the file as it was then, and a checkpoint of undone steps is refused",
  async () => {
    const site = place();
    const { home, write, text } = site;
    write("flow.yml", "steps:", ...stepsOf("one", "two"), "  - id: three", "    shell: exit 4");
    const id = await finished(site, "flow.yml");
    const then = String(await after(site, id, "one"));
    write("flow.yml", "steps:", ...stepsOf("zero", "one", "two"), "  - id: three", "    shell: echo ok");
    expect((await home.run("resume", id, "--accept-changes")).code).toBe(0);
    expect(text("said")).toBe("one\ntwo\nzero\n");
    const late = String(await after(site, id, "three"));
    await home.ok("checkpoints", "rollback", id, then, "--yes");
    expect((await home.run("checkpoints", "rollback", id, late, "--yes")).err).toContain("a rollback has undone");
    // The file as it was then, with step two next; the changes of the new one are offered again.
    expect((await home.run("resume", id)).code).toBe(3);
    expect((await home.run("resume", id, "--unchanged")).code).toBe(4);
    expect(text("said")).toBe("one\ntwo\nzero\ntwo\n");
  },
  MINUTE,
);

test(
  "UC-2(b) UC-3(a) checkpoints save makes a Manual one; a step that asks for it finds the file on disk when it begins",
  async () => {
    const { home, write, text, session } = place();
    write(
      "flow.yml",
      "checkpoint: { before_step: true }",
      "steps:",
      "  - id: look",
      `    shell: grep -o '"reason":"[A-Za-z]*"' state/*/sessions/*/checkpoint.json > seen`,
      "  - id: wait",
      "    shell: echo yes > began; until test -e go; do sleep 0.02; done",
    );
    const id = (await home.ok("run", "-d", "flow.yml")).trim();
    await until(
      "the first step has looked",
      () => text("seen") !== "",
      () => text("seen"),
    );
    expect(text("seen").trim()).toBe('"reason":"BeforeStep"');
    // Its own checkpoint (BeforeStep) is on disk by then, so the Manual one is the newest.
    const began = () => text("began");
    await until("the second step has begun", () => began() !== "", began);
    const saved = await home.json("checkpoints", "save", "flow");
    expect(saved).toMatchObject({
      run: id,
      name: "flow",
      file: join(session(id), "checkpoint.json"),
      reason: "Manual",
    });
    const rows: Row[] = await home.json("checkpoints", "ls", id);
    expect(rows[0]).toMatchObject({ seq: saved.seq, reason: "Manual", valid: true });
    expect(rows.map(({ state }) => state)).toContain("Completed");
    write("go");
    const state = async () => (await home.json("workflows"))[0].state;
    await until("it is done", async () => (await state()) === "done", state);
  },
  MINUTE,
);
