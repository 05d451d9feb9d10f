// Secret parameters of workflows: programs get them, no file has them, and after a crash they are asked for again.
import { afterEach, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { MINUTE, place } from "./place.ts";

afterEach(endAll);

/** It is nowhere in this text: the files of the home are searched for it. */
const SECRET = ["correct", "horse", "battery"].join("-");
/** Succeeds if its first word is the secret. */
const KNOWS = 'test "$(printf %s "$1" | sha256sum | cut -c1-8)" = EIGHT';

function knows(): string {
  const eight = new Bun.CryptoHasher("sha256").update(SECRET).digest("hex").slice(0, 8);
  return KNOWS.replace("EIGHT", eight);
}

/** The files below a directory that contain the secret. */
function filesWith(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = names.map((entry) => join(entry.parentPath, entry.name));
  return paths.filter((path) => readFileSync(path).includes(SECRET));
}

const FLOW = [
  "parameters: { PASSPHRASE: { secret: true }, who: { default: nobody } }",
  "steps:",
  "  - id: one",
  "    shell: sh ./knows ${PASSPHRASE} && echo one >> said",
  "  - id: two",
  '    shell: until [ -e go ]; do sleep 0.05; done; sh ./knows "$GIVEN" && echo two >> said',
  "    env: { GIVEN: '${PASSPHRASE}' }",
  "  - id: three",
  '    shell: test -z "$PASSPHRASE$GIVEN" && echo three >> said',
  "  - id: four",
  "    shell: sh ./knows ${PASSPHRASE} && echo four >> said",
];

test(
  "a secret reaches the programs that use it and no file; after a crash it is asked for, and nothing that runs notices",
  async () => {
    const { home, write, text, file } = place();
    write("knows", knows());
    write("flow.yml", ...FLOW);
    expect((await home.run("run", "flow.yml")).err).toContain("in the variable PASSPHRASE, or as --param PASSPHRASE=…");
    expect((await home.at(".", { PASSPHRASE: SECRET }, "run", "-d", "flow.yml")).code).toBe(0);
    await until(
      "step two runs",
      async () => (await home.json("workflows"))[0].at === "two",
      () => text("said"),
    );
    const { daemon } = await home.status();
    process.kill(daemon.pid, "SIGKILL");
    await until(
      "another daemon lives",
      async () => (await home.status()).recovery?.stage === "LIVE" && (await home.status()).daemon.pid !== daemon.pid,
      () => home.status(),
    );
    writeFileSync(file("go"), "");
    await until(
      "step four waits for its secret",
      async () => (await home.json("workflows"))[0].trouble !== undefined,
      () => text("said"),
    );
    expect(text("said")).toBe("one\ntwo\nthree\n");
    const [run] = await home.json("workflows");
    const again = `holdfast resume ${run.id.slice(0, 8)} --param PASSPHRASE=…`;
    expect([run.state, run.lacks, run.trouble.endsWith(again)]).toEqual(["running", ["PASSPHRASE"], true]);
    const report = await home.json("recovery", "report");
    expect(report.items.find(({ id }: { id: string }) => id === run.id)).toMatchObject({ fate: "needs you" });
    expect((await home.run("resume", run.id, "--force")).err).toContain(again);
    expect((await home.at(".", { PASSPHRASE: SECRET }, "resume", run.id)).code).toBe(0);
    expect(text("said")).toBe("one\ntwo\nthree\nfour\n");
    await home.ok("down");
    expect(filesWith(home.path)).toEqual([]);
    expect((await home.ok("checkpoints", "show", run.id, "--json")).includes(SECRET)).toBe(false);
  },
  2 * MINUTE,
);

test(
  "a secret may be given with --param, also a second time; a parameter that looks like a token is refused and not stored",
  async () => {
    const { home, write, text } = place();
    write("knows", knows());
    write("flow.yml", ...FLOW.slice(0, 4));
    expect((await home.run("run", "flow.yml", "--param", `PASSPHRASE=${SECRET}`)).code).toBe(0);
    expect(text("said")).toBe("one\n");
    const token = `ghp_${"a1B2".repeat(9)}`;
    const refused = await home.run("run", "flow.yml", "--param", `who=${token}`, "--param", `PASSPHRASE=${SECRET}`);
    expect([refused.code, refused.err.includes("The parameter who looks like a secret")]).toEqual([1, true]);
    expect(refused.err).not.toContain(token);
    await home.ok("down");
    expect(filesWith(home.path)).toEqual([]);
  },
  2 * MINUTE,
);

test("a secret used where it would be stored is refused, with line and column", async () => {
  const { home, write } = place();
  const problems = async (...lines: readonly string[]) => {
    write("bad.yml", "parameters: { KEY: { secret: true } }", ...lines);
    const { err } = await home.run("run", "--check", "bad.yml");
    return [...err.matchAll(/bad\.yml:(\d+:\d+): ([^\n]*?)[.:]/g)].map(([, at, what]) => `${at} ${what}`);
  };
  const here = "The secret KEY cannot be used here";
  expect(await problems("env: { A: '${KEY}' }", "steps: [{ shell: x }]")).toEqual([`2:14 ${here}`]);
  expect(await problems("steps:", "  - set: { a: '${KEY}' }")).toEqual([`3:18 ${here}`]);
  expect(await problems("steps:", "  - shell: echo ${upper(KEY)}")).toEqual([`3:25 ${here}`]);
  expect(await problems("steps:", "  - claude: say ${KEY}")).toEqual([`3:19 ${here}`]);
  expect(await problems("steps:", "  - shell: x", "    when: KEY == 'x'")).toEqual([`4:11 ${here}`]);
  expect(await problems("steps:", "  - shell: x", "    env: { A: 'a ${KEY}' }")).toEqual([`4:20 ${here}`]);
  expect(await problems("steps:", "  - claude: x", "    env: { A: '${KEY}' }")).toEqual([`4:18 ${here}`]);
  write(
    "bad.yml",
    "parameters: { KEY: { secret: true, type: number, default: 1, required: false } }",
    "steps: [{ set: { a: 1 } }]",
  );
  const { err } = await home.run("run", "--check", "bad.yml");
  for (const words of ["is not a text", "has a default", "is always required"]) expect(err).toContain(words);
});
