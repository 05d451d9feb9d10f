// Programs that the daemon of an earlier version has started, in holders of that version, are adopted by the daemon of
// this tree when that one has died: they never notice.
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUN } from "../ours.ts";
import { until } from "../until.ts";
import { AGENT } from "./flows.ts";
import { HOLDFAST, unpack, VERSIONS } from "./opened.ts";
import { Product } from "./product.ts";

/** Does what it is told, one line after the other. */
const OBEYS = 'trap "echo caught-it" USR1; while :; do read -r line && eval "$line"; done';
const DETACH = "\x1c";
const places: Product[] = [];

afterEach(async () => {
  for (const here of places.splice(0)) {
    await here.powerCut();
    rmSync(here.root, { recursive: true, force: true });
  }
});

/** A home that nothing has run on, beside the programs of a version. */
function place(version: string): Product {
  const root = mkdtempSync("/tmp/hfg-"); // Short: the path of a socket is limited.
  for (const name of ["home/recovery", "user", "then"]) mkdirSync(join(root, name), { recursive: true, mode: 0o700 });
  unpack(join(import.meta.dir, version, "programs.tar.gz"), join(root, "then"));
  writeFileSync(join(root, "config.toml"), "[daemon]\nheartbeat_ms = 500\n");
  writeFileSync(join(root, "home/recovery/wanted.json"), '{"v":1,"wanted":"down"}\n'); // So that it starts no watchdog.
  const here = new Product({ words: HOLDFAST, root, env: {} });
  places.push(here);
  return here;
}

/** The daemon of that version, live. */
async function olderDaemon(here: Product): Promise<Bun.Subprocess> {
  const words = [BUN, "--no-env-file", "--no-install", join(here.root, "then/src/daemon/main.ts"), here.home];
  const daemon = Bun.spawn(words, { cwd: "/", env: { ...here.env }, stdio: ["ignore", "ignore", "ignore"] });
  await here.shows('"LIVE"', "recovery", "status", "--json");
  return daemon;
}

/** That daemon dies, and the one of this tree takes its place. */
async function succeed(here: Product, daemon: Bun.Subprocess): Promise<void> {
  daemon.kill("SIGKILL");
  await daemon.exited;
  await here.ok(["up"]);
}

/** A person attached to a terminal. */
function attached(here: Product, name: string) {
  let seen = "";
  const data = (_: unknown, bytes: Uint8Array) => {
    seen += Buffer.from(bytes).toString();
  };
  const child = Bun.spawn([...HOLDFAST, "attach", name], {
    env: { ...here.env, TERM: "xterm-256color" },
    terminal: { cols: 80, rows: 24, data },
  });
  return {
    exited: child.exited,
    type: (text: string) => void child.terminal?.write(text),
    resize: (cols: number, rows: number) => void child.terminal?.resize(cols, rows),
    shows: (text: string) =>
      until(
        `the window shows ${text}`,
        () => seen.includes(text),
        () => seen,
      ),
  };
}

test.each(VERSIONS)("a terminal of %s is adopted: attach, input, size, signal and exit code work", async (version) => {
  const here = place(version);
  const daemon = await olderDaemon(here);
  await here.ok(["new", "-d", "shell", "--", "/bin/sh", "-c", OBEYS]);
  await here.ok(["send", "--enter", "shell", "echo before-$((1 + 1))"]);
  await here.shows("before-2", "history", "shell");
  const [before] = await here.json("ls");
  await succeed(here, daemon);
  const [after] = await here.json("ls");
  expect(after).toEqual({ ...before, lastOutputAt: after.lastOutputAt });
  expect(after).toMatchObject({ state: "running", generation: 1, restoredAt: null });

  const window = attached(here, "shell");
  await window.shows("before-2");
  window.type("echo typed-$((1 + 2)); stty size\r");
  await window.shows("typed-3\r\n24 80");
  window.resize(100, 30);
  await until(
    "it has the new size",
    async () => {
      window.type("stty size\r");
      return (await here.ok(["history", "shell"])).includes("30 100");
    },
    () => here.ok(["history", "shell"]),
  );
  window.type(DETACH);
  expect(await window.exited).toBe(0);

  await here.ok(["kill", "shell", "--signal", "SIGUSR1"]);
  await here.shows("caught-it\r\n", "history", "--vt", "shell");
  await here.ok(["send", "--enter", "shell", "exit 5"]);
  await here.ok(["wait", "shell"], [5]);
  await here.ok(["down"]);
  await here.ok(["up"]);
  expect(await here.json("ls")).toMatchObject([{ name: "shell", state: "ended", exitCode: 5, signal: null }]);
  expect(await here.json("log", "verify")).toMatchObject({ whole: true, quarantine: [] });
});

test.each(VERSIONS)(
  "an agent of %s is adopted: its question stays open, and its process gets the answer",
  async (version) => {
    const here = place(version);
    const daemon = await olderDaemon(here);
    await here.ok(["agent", "new", "asker", "--provider", "scripted", "--", "/bin/sh", "-c", AGENT]);
    await here.ok(["agent", "ask", "asker", "ASK"], [3]);
    const before = { agents: await here.json("agent", "tree"), prompts: await here.json("prompts") };
    await here.ok(["agent", "send", "asker", "and then this"]);
    await succeed(here, daemon);
    const [agent] = before.agents;
    // It was in no lane, which is `main` now.
    expect(await here.json("agent", "tree")).toEqual([{ ...agent, inbox: 1, lane: "main" }]);
    expect(await here.json("prompts")).toMatchObject([{ id: before.prompts[0].id, state: "open" }]);

    await here.ok(["answer", before.prompts[0].id, "allow"]);
    await here.shows("Removed.", "agent", "log", "asker");
    await here.shows('"turns":2', "agent", "inspect", "asker", "--json");
    expect(await here.json("agent", "inspect", "asker")).toMatchObject({ pid: agent.pid, inbox: 0 });
    expect(here.names(`agents/${agent.id}/processes`)).toEqual(["1"]);
  },
);

test.each(VERSIONS)("a step of a run of %s is adopted: it is done once, and the run goes on", async (version) => {
  const here = place(version);
  const daemon = await olderDaemon(here);
  const go = join(here.root, "go");
  const waits = `echo begun; while [ ! -e ${go} ]; do sleep 0.05; done; echo a word aside >&2; echo gone on`;
  const steps = [
    { id: "waits", shell: waits, capture: "said" },
    { id: "then", shell: "echo ${said}", capture: "last" },
  ];
  writeFileSync(join(here.root, "flow.yml"), JSON.stringify({ name: "flow", steps }));
  await here.ok(["run", "-d", join(here.root, "flow.yml")]);
  await here.shows("begun", "logs", "--step", "waits", "flow");
  await succeed(here, daemon);
  expect(await here.json("workflows")).toMatchObject([{ name: "flow", state: "running", at: "waits", needs: [] }]);

  writeFileSync(go, "");
  await here.shows('"done"', "workflows", "--json");
  const attempts = await here.json("logs", "--step", "waits", "flow");
  expect(attempts).toMatchObject([{ try: 1, code: 0, output: "begun\ngone on\n", stderr: "a word aside\n" }]);
  expect((await here.json("checkpoints", "show", "flow")).variables).toEqual({
    said: "begun\ngone on",
    last: "begun\ngone on",
  });
});
