// The machine goes down in the middle of runs: everything of the home dies at once, and another boot follows. Work in
// progress is uncertain, is reported, and is repeated only with consent: a person's, or the file's.
import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { powerCut, Rebooting } from "../cli/power-cut.ts";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { checkpointOf } from "./look.ts";

afterAll(endAll);
/** The longest time that any test may take (scripts/test.ts): forty commands and three boots on a busy machine. */
const MINUTES = 180_000;

/** Ten steps; the fifth has its effect, and then waits until a test lets it continue. */
function ten(name: string, more: string): string {
  const steps = Array.from({ length: 10 }, (_, at) => {
    const gate = at === 4 ? `; until [ -e go-${name} ]; do sleep 0.02; done` : "";
    return [
      `  - id: s${at + 1}`,
      `    shell: echo s${at + 1} >> ${name}${gate}; echo ${at + 1}`,
      `    capture: x${at + 1}`,
      ...(at === 4 && more !== "" ? [`    ${more}`] : []),
    ];
  });
  return ["steps:", ...steps.flat(), ""].join("\n");
}

const POLICIES = { asks: "", reruns: "on_uncertain: rerun", fails: "on_uncertain: fail", safe: "idempotent: true" };
const MAP = [
  "mode: mapreduce",
  "map:",
  "  input: { command: seq 3 }",
  "  max_parallel: 3",
  "  steps:",
  "    - shell: echo a${item} >> map",
  "    - { id: second, shell: 'echo b${item} >> map; until [ -e go-map ] || [ ${item} = 1 ]; do sleep 0.02; done' }",
  "reduce:",
  "  - shell: echo ${map.successful} of 3 >> map",
  "",
].join("\n");

const lines = (numbers: readonly number[]) => numbers.map((at) => `s${at}`);
const FIRST = [1, 2, 3, 4, 5];
const REST = [6, 7, 8, 9, 10];

class Place {
  readonly home = new Rebooting();
  readonly ids = new Map<string, string>();

  file(name: string): string {
    return join(this.home.path, name);
  }

  effects(name: string): string[] {
    return existsSync(this.file(name)) ? readFileSync(this.file(name), "utf8").split("\n").filter(Boolean) : [];
  }

  async begin(name: string, text: string): Promise<void> {
    writeFileSync(this.file(`${name}.yml`), text);
    this.ids.set(name, (await this.home.ok("run", "-d", `${name}.yml`)).trim());
  }

  async rows(): Promise<Record<string, { state: string; step: number }>> {
    const rows: { name: string; state: string; step: number }[] = await this.home.json("workflows");
    return Object.fromEntries(rows.map(({ name, state, step }) => [name, { state, step }]));
  }

  /** Read from the disk: a command for each check would keep the daemon from its work. */
  async is(name: string, state: string): Promise<void> {
    const now = () => checkpointOf(this.home.path, this.ids.get(name) ?? "")?.run.status.kind;
    await until(`${name} is ${state}`, () => now() === state, now);
  }

  variables(name: string) {
    return checkpointOf(this.home.path, this.ids.get(name) ?? "")?.variables;
  }
}

test(
  "UC-8(b,c,d) the machine goes down in step 5: it is reported uncertain, resume asks or the file's policy applies, and steps 1 to 4 are not run again",
  async () => {
    const place = new Place();
    const { home } = place;
    for (const [name, more] of Object.entries(POLICIES)) await place.begin(name, ten(name, more));
    await place.begin("map", MAP);
    for (const name of Object.keys(POLICIES))
      await until(
        `${name} is in step 5`,
        () => place.effects(name).length === 5,
        () => place.effects(name).length,
      );
    await until(
      "the map is in its second steps",
      () => place.effects("map").length === 6,
      () => place.effects("map").length,
    );
    await until(
      "item 1 has ended",
      async () => {
        const found = checkpointOf(home.path, place.ids.get("map") ?? "");
        return found?.mapreduce_state?.all[0]?.state.kind === "succeeded";
      },
      () => checkpointOf(home.path, place.ids.get("map") ?? ""),
    );
    await powerCut(home);
    home.boot += 1;
    await home.ok("up");

    // The policies of the files: run again with their consent, failed by their rule, and otherwise nothing without a
    // person.
    for (const name of ["reruns", "safe"]) writeFileSync(place.file(`go-${name}`), "");
    for (const name of ["reruns", "safe"]) await place.is(name, "done");
    await place.is("fails", "failed");
    const listed = await home.ok("workflows");
    expect(listed).toMatch(/asks .*uncertain: step 5 \(s5\)/);
    expect((await place.rows())["asks"]).toEqual({ state: "uncertain", step: 5 });
    for (const name of ["reruns", "safe"])
      expect([name, place.effects(name)]).toEqual([name, lines([...FIRST, 5, ...REST])]);
    expect(place.effects("fails")).toEqual(lines(FIRST));

    // Without an answer it keeps asking and does nothing. Another crash does not change that.
    const asked = await home.run("resume", place.ids.get("asks") ?? "");
    expect(asked).toMatchObject({ code: 3 });
    for (const word of ["--rerun", "--done", "--failed"]) expect(asked.err).toContain(word);
    await powerCut(home);
    home.boot += 1;
    expect((await home.run("resume", "asks")).code).toBe(3);
    expect(place.effects("asks")).toEqual(lines(FIRST));

    // A person's answer.
    writeFileSync(place.file("go-asks"), "");
    expect((await home.run("resume", "asks", "--rerun")).code).toBe(0);
    expect(place.effects("asks")).toEqual(lines([...FIRST, 5, ...REST]));
    const calm = Object.fromEntries([...FIRST, ...REST].map((at) => [`x${at}`, String(at)]));
    expect(["asks", "reruns", "safe"].map((name) => place.variables(name))).toEqual([calm, calm, calm]);
    // A failed step may be restarted: that is what resume means, and its own consent.
    expect((await home.run("resume", "fails", "-d")).code).toBe(0);
    writeFileSync(place.file("go-fails"), "");
    await place.is("fails", "done");

    // The items of a map: those in flight are asked about, the one that had ended is not run again.
    expect((await place.rows())["map"]?.state).toBe("uncertain");
    const before = place.effects("map");
    expect((await home.run("resume", "map")).code).toBe(3);
    writeFileSync(place.file("go-map"), "");
    expect((await home.run("resume", "map", "--done")).code).toBe(0);
    expect(place.effects("map")).toEqual([...before, "3 of 3"]);
  },
  MINUTES,
);
