// Two hosts with all their programs on one machine, and a real PostgreSQL: what a person at one of them sees of the
// other, and does there.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initDatabase } from "../../src/fleet/schema.ts";
import { FleetSeal } from "../../src/fleet/seal.ts";
import { realRandom } from "../../src/world/real/random.ts";
import { databaseAt, HAS_POSTGRES, Operator, startTestServer, type TestServer } from "../fleet/server.ts";
import { until } from "../until.ts";
import { Host } from "./host.ts";

/** Asks in its first turn whether it may do this, once for each line. */
const ASKS = `#!/bin/sh
while read -r line; do case $line in *'"type":"prompt"'*) cat "$(dirname "$0")/asks" ;; esac; done
`;

/** In the place of ssh: notes what it was given before the command, which it gives to a shell, as sshd does. */
const SSH = `#!/bin/sh
echo "$1 $2 $3" >> "$(dirname "$0")/calls"
[ $# = 4 ] && exec env -u HOLDFAST_CONFIG sh -c "$4"
`;

/** The answers in the logs of a home's agents. */
function answersIn(home: string): Row[] {
  return readdirSync(join(home, "agents"))
    .filter((name) => existsSync(join(home, "agents", name, "events.jsonl")))
    .flatMap((name) => readFileSync(join(home, "agents", name, "events.jsonl"), "utf8").split("\n"))
    .filter((line) => line.includes('"prompt.answered"'))
    .map((line) => JSON.parse(line))
    .map(({ data, by }) => ({ prompt: data.prompt_id, decision: data.decision, host: by?.host }));
}

type Row = Readonly<Record<string, unknown>>;

describe.skipIf(!HAS_POSTGRES)("with a real PostgreSQL (needs postgresql)", () => {
  let server: TestServer;
  let operator: Operator;
  let place: string;
  let hosts: Host[] = [];
  let a: Host;
  let b: Host;

  beforeAll(async () => {
    server = await startTestServer();
    operator = await Operator.at(server.url);
    const database = databaseAt(server.url);
    await initDatabase(database);
    database.drop();
    place = mkdtempSync(join(tmpdir(), "hf-across-"));
    const key = join(place, "fleet.key");
    writeFileSync(key, FleetSeal.newFile(realRandom()), { mode: 0o600 });
    const settings = { url: server.url, key_file: key };
    a = new Host(place, "host-a", { ...settings, ssh: "ann@there" });
    b = new Host(place, "host-b", settings);
    hosts = [a, b];
    await Promise.all(hosts.map((host) => host.must("up", "--home", host.home)));
  }, 240_000);

  afterAll(async () => {
    for (const host of hosts.splice(0)) await host.die();
    operator.close();
    await server.stop();
    rmSync(place, { recursive: true, force: true });
  }, 240_000);

  async function listed(host: Host, ...words: string[]): Promise<Row[]> {
    return JSON.parse(await host.must(...words, "--all", "--json", "--home", host.home));
  }

  /** The rows of a list, once there are so many. */
  function seen(host: Host, count: number, ...words: string[]): Promise<Row[]> {
    let rows: Row[] = [];
    return until(
      `${count} rows of ${words.join(" ")}`,
      async () => {
        rows = await listed(host, ...words);
        return rows.length === count ? rows : undefined;
      },
      () => [rows, host.log()],
    );
  }

  async function asking(host: Host, name: string, ...commands: string[]): Promise<void> {
    const ask = (command: string) => ({ type: "ask", request: command, tool: "Bash", input: { command } });
    writeFileSync(join(host.home, "asks"), commands.map((command) => `${JSON.stringify(ask(command))}\n`).join(""));
    writeFileSync(join(host.home, "agent.sh"), ASKS);
    chmodSync(join(host.home, "agent.sh"), 0o755);
    const words = ["agent", "new", name, "--provider", "scripted", "--instructions", "go", "--home", host.home];
    await host.must(...words, "--", join(host.home, "agent.sh"));
  }

  test("a terminal of another host is attached to, typed into and read through ssh, which gets plain words", async () => {
    await a.must("new", "build", "--detach", "--home", a.home, "--", "cat");
    await seen(b, 1, "ls");
    b.program("ssh", SSH);
    const there = (...words: string[]) => b.do(words[0] ?? "", "--home", b.home, ...words.slice(1));
    const text = "it's $(id); \\ 'x' !!";
    expect(await there("send", "host-a/build", "--enter", "--", text)).toMatchObject({ code: 0 });
    await until(
      "it is typed",
      async () => (await there("tail", "host-a/build")).out.includes(text),
      () => a.log(),
    );
    const calls = readFileSync(join(place, "host-b/bin/calls"), "utf8").split("\n");
    expect(calls[0]).toBe("-T -- ann@there");
    let screen = "";
    const window = b.window((piece) => (screen += piece), "attach", "host-a/build", "--home", b.home);
    const shows = (words: string) =>
      until(
        `the window shows ${words}`,
        () => screen.includes(words),
        () => screen,
      );
    await shows(text);
    window.terminal?.write("typed from afar\n");
    await shows("typed from afar\r\ntyped from afar");
    window.terminal?.write("\u001c");
    expect(await window.exited).toBe(0);
    expect(readFileSync(join(place, "host-b/bin/calls"), "utf8")).toContain("-t -- ann@there\n");
    expect((await there("send", "host-a/none", "x")).code).toBe(4);
    expect(await there("send", "nobody/build", "x")).toMatchObject({ code: 4, err: expect.stringContaining("host-a") });
    b.program("ssh", "#!/bin/sh\nexit 255\n");
    expect(await there("tail", "host-a/build")).toMatchObject({ code: 75 });
  }, 240_000);

  test("a prompt of another host is answered there, once, also if its daemon is killed meanwhile", async () => {
    await asking(a, "coder", "rm one", "rm two");
    const [one, two] = (await seen(b, 2, "prompts")).map(({ id }) => `${id}`);
    const answer = (...words: string[]) => b.do("answer", ...words, "--home", b.home);
    const first = await answer(`${one}`, "allow", "--message", "go on");
    expect([first.code, first.err]).toEqual([0, expect.stringContaining("allowed.")]);
    const again = await answer(`host-a/${one}`, "deny");
    expect([again.code, again.err]).toEqual([5, expect.stringContaining("already answered: allow by user")]);
    const asked = answer(`${two}`, "deny", "--json");
    await until(
      "it is asked",
      async () => (await operator.sql("select 1 from holdfast.asks where answer = ''"))[0] !== undefined,
      () => b.log(),
    );
    a.kill("daemon");
    const said = await asked;
    expect([said.code, said.err]).toEqual([0, ""]);
    expect(JSON.parse(said.out)).toMatchObject({ id: two, state: expect.stringMatching(/answered|delivered/) });
    const given = await until(
      "the log of the agent follows",
      () => (answersIn(a.home).length > 1 ? answersIn(a.home) : undefined),
      () => answersIn(a.home),
    );
    expect(given).toEqual([
      { prompt: one, decision: "allow", host: "host-b" },
      { prompt: two, decision: "deny", host: "host-b" },
    ]);
    expect((await answer("00000000", "allow")).code).toBe(4);
  }, 240_000);

  test("lists of all homes are those of every host, without a word to its daemon", async () => {
    await b.must("new", "mine", "--detach", "--home", b.home, "--", "cat");
    await asking(a, "asker", "rm three");
    const workflow = join(place, "wait.yml");
    writeFileSync(workflow, "name: wait\nsteps:\n  - id: one\n    shell: sleep 1000\n");
    await a.must("run", workflow, "--detach", "--home", a.home);
    expect(await seen(b, 2, "ls")).toMatchObject([
      { name: "build", host: "host-a", home: "host-a-work", ageMs: expect.any(Number), state: "running" },
      { name: "mine", host: "host-b", home: "host-b-work", ageMs: null },
    ]);
    expect(await seen(b, 1, "workflows")).toMatchObject([{ name: "wait", host: "host-a", state: "running" }]);
    expect(await seen(b, 1, "prompts")).toMatchObject([{ name: "asker", host: "host-a", tool: "Bash" }]);
    expect(await seen(b, 2, "agent", "tree")).toMatchObject([
      { name: "coder", host: "host-a" },
      { name: "asker", host: "host-a", children: [] },
    ]);
    const text = await b.must("ls", "--all", "--home", b.home);
    expect(text.split("\n").map((line) => line.split(/ +/).slice(0, 2).join(" "))).toEqual([
      "HOST NAME",
      "host-a build",
      "host-b mine",
      "",
    ]);
    await a.die();
    const old = await until(
      "host-a is said not to run",
      async () => {
        const said = await b.do("ls", "--all", "--home", b.home);
        return said.err.includes("host-a does not run now") ? said : undefined;
      },
      () => b.log(),
    );
    expect([old.code, old.out]).toEqual([0, expect.stringMatching(/^host-a +build /m)]);
    await server.server.stop();
    const alone = await b.do("ls", "--all", "--home", b.home);
    expect(alone.code).toBe(0);
    expect(alone.out).toMatch(/^host-b +mine /m);
    expect(alone.out).not.toContain("host-a");
    expect(alone.err).toContain("This is this home alone.");
  }, 240_000);
});
