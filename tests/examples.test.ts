// Every file in examples/, used by the real product as its own comment says.
// X1. A command that a test follows is written in the example itself, so the comment cannot drift from what works.
// X2. A file that no test names is a failure.
import { afterAll, expect, test } from "bun:test";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT, readText } from "../scripts/files.ts";

type Ended = { readonly code: number; readonly out: string; readonly err: string };

const homes: Home[] = [];
const named = new Set<string>();

/** A directory with a copy of the examples, and a Holdfast of its own with their providers. */
class Home {
  readonly path = mkdtempSync(join(tmpdir(), "hfx-")); // Short: the path of a socket is limited.
  readonly #env = {
    PATH: `${ROOT}:${process.env["PATH"]}`,
    HOME: this.path,
    SHELL: "/bin/sh",
    HOLDFAST_HOME: join(this.path, "h"),
    HOLDFAST_CONFIG: join(this.path, "examples/agents/providers.toml"),
  };

  constructor() {
    cpSync(join(ROOT, "examples"), join(this.path, "examples"), { recursive: true });
    homes.push(this);
  }

  /** A shell with `holdfast` on its PATH. */
  start(command: string) {
    return Bun.spawn(["/bin/sh", "-c", command], { cwd: this.path, env: this.#env, stdio: ["ignore", "pipe", "pipe"] });
  }

  async run(command: string): Promise<Ended> {
    const child = this.start(command);
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { code, out, err };
  }

  async ok(command: string): Promise<string> {
    const { code, out, err } = await this.run(command);
    if (code !== 0) throw new Error(`${command}: exit code ${code}\n${out}${err}`);
    return out;
  }

  /** X1: runs commands that the example shows. */
  follow(file: string, ...commands: readonly string[]): Promise<Ended> {
    for (const command of commands) expect(readText(`examples/${file}`)).toContain(command);
    return this.run(commands.join(" && "));
  }

  async end(): Promise<void> {
    if (existsSync(this.#env.HOLDFAST_HOME)) await this.ok("holdfast down --kill");
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A test of these files. */
function example(files: readonly string[], claim: string, body: () => Promise<void>): void {
  for (const file of files) named.add(file);
  test(`${files.join(", ")}: ${claim}`, body);
}

afterAll(async () => {
  for (const home of homes) await home.end();
});

const shared = new Home();

/** With everything it printed, if it failed. */
function worked(ended: Ended): void {
  expect(ended).toEqual({ ...ended, code: 0 });
}

example(["workflows/hello.yml"], "captures, computes and skips", async () => {
  const ended = await shared.follow("workflows/hello.yml", "holdfast run examples/workflows/hello.yml");
  worked(ended);
  expect(ended.err).toContain("too-many: skipped");
  expect(await shared.ok("holdfast logs --step report hello")).toBe("counted 3, twice that is 6\n");
});

example(["workflows/parameters.yml", "workflows/parameters.json"], "flags and a file give parameters", async () => {
  const file = "workflows/parameters.yml";
  const run = `holdfast run examples/${file}`;
  const flags = await shared.follow(file, `${run} --param version=1.4.0 --param dry_run=false`);
  worked(flags);
  expect(flags.err).toContain("publish: done");
  const fromFile = await shared.follow(file, `${run} --param-file examples/workflows/parameters.json`);
  worked(fromFile);
  expect(fromFile.err).toContain("publish: skipped");
  const plans = await shared.ok("holdfast workflows --json");
  const ids: string[] = JSON.parse(plans)
    .filter(({ name }: { name: string }) => name === "parameters")
    .map(({ id }: { id: string }) => id);
  const said = await Promise.all(ids.map((id) => shared.ok(`holdfast logs --step plan ${id}`)));
  const expected = ["release 1.4.0 for 1 target(s), first linux\n", "release 2.0.0 for 2 target(s), first linux\n"];
  expect(said.sort()).toEqual(expected);
  expect((await shared.run(run)).err).toContain("version");
});

example(["workflows/retry.yml"], "the third try succeeds, and the run fails with the last step's code", async () => {
  const ended = await shared.follow("workflows/retry.yml", "holdfast run examples/workflows/retry.yml");
  expect(ended.code).toBe(7);
  expect(ended.err).toContain("optional: failed, ignored");
  expect(await shared.ok("holdfast logs --step flaky retry")).toBe("try 1\ntry 2\ntry 3\n");
  expect(await shared.ok("holdfast logs --step notify retry")).toBe("deploy failed with exit code 7\n");
  expect(JSON.parse(await shared.ok("holdfast logs --step deploy retry --json"))).toHaveLength(1);
});

example(["workflows/iterative.yml"], "repeats until nothing fails any more", async () => {
  const ended = await shared.follow("workflows/iterative.yml", "holdfast run examples/workflows/iterative.yml");
  worked(ended);
  const lines = [1, 2, 3].map((n) => `iteration ${n}, ${3 - n} still failing\n`);
  expect(await shared.ok("holdfast logs --step report iterative")).toBe(lines.join(""));
});

example(["workflows/map-reduce.yml", "workflows/items.json"], "a failed item is retried from the queue", async () => {
  const file = "workflows/map-reduce.yml";
  const first = await shared.follow(file, "cd examples/workflows", "holdfast run map-reduce.yml");
  expect(first).toMatchObject({ code: 1, err: expect.stringContaining("done with 1 failed item") });
  const queue = await shared.follow(file, "holdfast dlq ls map-reduce");
  expect(queue.out).toContain('{"path":"broken","lines":200}');
  const again = await shared.follow(file, "cd examples/workflows", "touch repaired", "holdfast dlq retry map-reduce");
  worked(again);
  const summaries = ['2 succeeded, 1 failed\n["larger","large"]', '3 succeeded, 0 failed\n["larger","large","broken"]'];
  const attempts: { output: string }[] = JSON.parse(await shared.ok("holdfast logs --step summary map-reduce --json"));
  expect(attempts.map(({ output }) => output.trimEnd())).toEqual(summaries);
});

example(["workflows/agent-step.yml"], "an agent's answer is the step's output", async () => {
  await shared.ok("unset HOLDFAST_CONFIG; holdfast down; holdfast up"); // As people have it who come from the README.
  const command = "HOLDFAST_CONFIG=$PWD/examples/agents/providers.toml holdfast run examples/workflows/agent-step.yml";
  worked(await shared.follow("workflows/agent-step.yml", "holdfast down", command));
  expect(await shared.ok("holdfast logs --step publish agent-step")).toBe("the agent wrote 7 words\n");
});

example(["agents/summariser.mjs"], "asks before it writes, and does what the answer allows", async () => {
  const file = "agents/summariser.mjs";
  const create = "holdfast agent new summariser --provider scripted -- examples/agents/summariser.mjs";
  const plain = await shared.follow(file, create, "holdfast agent ask summariser 'Summarise: three short words'");
  worked(plain);
  expect(plain.out).toMatch(/^[0-9a-f]{32}\n3 words\n$/);
  const asks = await shared.follow(file, "holdfast agent ask summariser 'Summarise and save: three short words'");
  expect(asks.code).toBe(3);
  const [prompt] = JSON.parse(await shared.ok("holdfast prompts --json"));
  expect(prompt).toMatchObject({ tool: "Write", input: { file_path: "summary.txt", content: "3 words" } });
  expect(readdirSync(shared.path)).not.toContain("summary.txt");
  await shared.ok(`holdfast answer ${prompt.id} allow`);
  expect(await shared.ok("holdfast agent ask summariser 'Summarise: again'")).toBe("1 words\n");
  expect(readFileSync(join(shared.path, "summary.txt"), "utf8")).toBe("3 words\n");
});

example(["agents/lead.mjs", "agents/helper.mjs"], "a child's result comes back as a message", async () => {
  const create = "holdfast agent new lead --provider lead";
  const asked = await shared.follow("agents/lead.mjs", create, "holdfast agent ask lead 'count: to be or not to be'");
  worked(asked);
  expect(asked.out).toContain("An agent of mine works on it.");
  const following = shared.start("exec holdfast agent follow lead --json");
  expect(await firstWith(following.stdout, "My agent reports")).toContain("6 words");
  following.kill();
  await following.exited;
});

example(["agents/providers.toml", "agents/notebook.sh"], "a command line keeps its session", async () => {
  const file = "agents/providers.toml";
  worked(await shared.follow(file, "holdfast config check"));
  const create = "holdfast agent new diary --provider notebook";
  const first = await shared.follow(file, create, "holdfast agent ask diary 'remember the milk'");
  worked(first);
  expect(first.out).toContain("1 notes so far");
  expect(await shared.ok("holdfast agent ask diary 'and the bread'")).toBe("2 notes so far\n");
});

example(["agents/rules.sh"], "what a rule allows is not asked", async () => {
  const home = new Home();
  worked(await home.run("examples/agents/rules.sh"));
  await home.ok("holdfast agent new writer --provider summariser");
  expect(await home.ok("holdfast agent ask writer 'save: one two'")).toBe("2 words, saved\n");
});

example(["configuration/full.toml"], "has every setting with its default", async () => {
  const config = "HOLDFAST_CONFIG=examples/configuration/full.toml";
  await shared.ok(`${config} holdfast config check`);
  expect(await shared.ok(`${config} holdfast config show`)).not.toContain("# default");
  const { watch, restore, provider, rule, ...set } = await configuration(config);
  const named = Object.keys({ ...watch, ...restore, ...provider, ...rule });
  expect(named).toEqual(["api", "dev-server", "reviewer", "read-only-git"]);
  const none = { watch: {}, restore: {}, provider: {}, rule: {} };
  expect(await configuration("HOLDFAST_CONFIG=none")).toEqual({ ...set, ...none });
});

example(["configuration/minimal.toml"], "changes what it says and nothing else", async () => {
  const set = await configuration("HOLDFAST_CONFIG=examples/configuration/minimal.toml");
  const plain = await configuration("HOLDFAST_CONFIG=none");
  const restore = { "dev-server": { match: "npm run dev*", run: "{command}" } };
  expect(set).toEqual({ ...plain, restore, terminal: { ...plain["terminal"], detachKey: "ctrl-]" } });
});

/** No container can be built here: this checks what can be, the files that are copied and the command that is run. */
example(["relay/Dockerfile", "relay/compose.yml"], "run a relay by flags that it knows, not as root", async () => {
  const lines = readText("examples/relay/Dockerfile")
    .split("\n")
    .filter((line) => /^[A-Z]/.test(line));
  const words = (name: string) =>
    lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.split(" ").slice(1));
  for (const copied of words("COPY").flatMap((line) => line.slice(0, -1)))
    expect(existsSync(join(ROOT, copied))).toBe(true);
  expect(words("USER")).toEqual([["node"]]);
  expect(words("ENTRYPOINT").join(" ")).toContain("/opt/holdfast/holdfast");
  const { relay } = parse(readText("examples/relay/compose.yml")).services;
  expect(existsSync(join(ROOT, "examples/relay", relay.build.context, relay.build.dockerfile))).toBe(true);
  const [command, ...flags] = relay.command;
  const home = new Home();
  const unit = await home.run(`holdfast relay service install --print ${flags.join(" ")}`);
  expect([command, unit.code, unit.err]).toEqual(["serve", 0, ""]);
  for (const port of relay.ports) expect(unit.out).toContain(`0.0.0.0:${port.split(":")[1]}`);
  expect(words("EXPOSE")).toEqual([relay.ports.map((port: string) => port.split(":")[1])]);
});

/** That the two servers work, with these files, is tried in tests/fleet/example.test.ts. */
const FLEET = ["compose.yml", "postgresql.conf", "pg_hba.conf", "primary.sh", "standby.sh", "make-tls.sh", "README.md"];

example(
  [...FLEET, "one.toml", "two.toml"].map((name) => `fleet/${name}`),
  "mount files that are there and start servers by them, for hosts whose settings are known",
  async () => {
    const { services, volumes } = parse(readText("examples/fleet/compose.yml"));
    const [{ primary, standby, tls }, page] = [services, readText("examples/fleet/README.md")];
    for (const { volumes: mounts, entrypoint = [], command = [] } of [primary, standby, tls]) {
      const targets = mounts.map((mount: string) => mount.split(":")[1]);
      for (const [source = ""] of mounts.map((mount: string) => mount.split(":"))) {
        const isThere = source.startsWith("./")
          ? FLEET.includes(source.slice(2)) && existsSync(join(ROOT, "examples/fleet", source))
          : Object.hasOwn(volumes, source);
        expect([source, isThere]).toEqual([source, true]);
      }
      for (const path of [...entrypoint, ...command].flatMap((word: string) => /\/(?:etc|tls)\/?\S*/.exec(word) ?? []))
        expect(targets.some((target: string) => path.startsWith(target))).toBe(true);
    }
    const asked = JSON.stringify(services).match(/\$\{(\w+)/g) ?? [];
    for (const variable of new Set(asked)) expect(page).toContain(`${variable.slice(2)}=`);
    for (const name of ["one", "two"]) {
      const config = `HOLDFAST_CONFIG=examples/fleet/${name}.toml`;
      await shared.ok(`${config} holdfast config check`);
      expect((await configuration(config))["fleet"]).toMatchObject({ host: name, take: ["*"] });
    }
  },
);

example(["README.md"], "names every example", async () => {
  const page = readText("examples/README.md");
  for (const file of named) if (file !== "README.md") expect(page).toContain(file.replace(/^.*\//, ""));
});

test("X2 every file in examples/ has a test", () => {
  const files = readdirSync(join(ROOT, "examples"), { recursive: true, withFileTypes: true });
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  expect(paths.map((path) => path.slice(join(ROOT, "examples/").length)).sort()).toEqual([...named].sort());
});

async function configuration(env: string): Promise<Record<string, Record<string, unknown>>> {
  return JSON.parse(await shared.ok(`${env} holdfast config show --json`)).config;
}

/** The first line with these words, as soon as it is there. */
async function firstWith(stream: ReadableStream<Uint8Array>, words: string): Promise<string> {
  let text = "";
  for await (const bytes of stream) {
    text += new TextDecoder().decode(bytes);
    const line = text.split("\n").find((one) => one.includes(words));
    if (line !== undefined) return line;
  }
  throw new Error(`ended without ${words}:\n${text}`);
}
