// tmux sessions and real daemons: noticed at once, recreated after any death, listed in the report, and never ended by
// us.
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type DaemonHome, daemonHomes, killIfThere, processes, type Running } from "../daemon/home.ts";
import { boot, powerCut } from "../daemon/power-cut.ts";
import { sampleOf } from "../sim/fuzz/profile.ts";
import { until } from "../until.ts";
import { hasTmux } from "./server.ts";

const home = daemonHomes();
const MINUTE = 60_000;
const PATH = "/usr/local/bin:/usr/bin:/bin";

/** A tmux server inside a daemon's home: closing the home ends it as well. */
class Place {
  readonly home: DaemonHome;
  readonly socket: string;
  readonly #path: string;

  constructor(at: DaemonHome, path = PATH) {
    this.home = at;
    this.socket = at.file("t");
    this.#path = path;
    writeFileSync(at.file("config.toml"), "[tmux]\nsave_s = 1\n");
  }

  tmux(...words: readonly string[]): string {
    const env = { PATH: this.#path, HOME: this.home.path, SHELL: "/bin/sh" };
    const { exitCode, stdout } = Bun.spawnSync(["/usr/bin/env", "tmux", "-S", this.socket, ...words], {
      env,
      cwd: "/",
    });
    return exitCode === 0 ? stdout.toString().trim() : "";
  }

  start(env: Readonly<Record<string, string>> = {}): Running {
    return this.home.start({ HOLDFAST_CONFIG: this.home.file("config.toml"), PATH: this.#path, ...env });
  }

  async live(env: Readonly<Record<string, string>> = {}): Promise<Running> {
    const daemon = this.start(env);
    await this.home.isLive(daemon);
    return daemon;
  }

  async adopt(): Promise<string> {
    const params = { path: this.socket, name: null, directory: null, sessions: [], all: true, policy: "auto" } as const;
    const [care] = await this.home.must("tmux.adopt", params);
    if (care === undefined) throw new Error("nothing was adopted");
    expect(care.savedAt).not.toBeNull();
    return care.id;
  }

  state(): Promise<string | undefined> {
    return this.home.must("tmux.list", {}).then(([care]) => care?.state.kind);
  }

  get serverPid(): number {
    return Number(this.tmux("display-message", "-p", "#{pid}"));
  }

  get names(): string {
    return this.tmux("list-sessions", "-F", "#{session_name}");
  }

  async killServer(): Promise<void> {
    const pid = this.serverPid;
    killIfThere(pid);
    await until(
      "the server is gone",
      () => processes.startTime(pid) === undefined,
      () => processes.startTime(pid),
    );
  }
}

test.skipIf(!hasTmux)(
  "a killed server is noticed at once, and its session recreated; after a normal end as well, but not forever (needs tmux)",
  async () => {
    const place = new Place(home());
    place.tmux("new-session", "-d", "-s", "work");
    const daemon = await place.live();
    await place.adopt();
    const watchers = waiting(place);
    const old = place.serverPid;
    await place.killServer();
    await until(
      "it is back",
      () => place.names === "work" && place.serverPid !== old,
      () => [place.names, place.serverPid],
    );
    await until(
      "the session is kept",
      async () => (await place.state()) === "kept",
      async () => await place.state(),
    );
    expect((await place.home.must("tmux.list", {}))[0]?.recreated?.notes[0]).toContain("as it was at");
    await isWatched(place, watchers);
    place.tmux("kill-server");
    await until(
      "a session that is ended twice stays ended",
      async () => (await place.state()) === "ended",
      async () => await place.state(),
    );
    expect(place.names).toBe("");
    expect(await place.home.stop(daemon)).toBe(0);
    await until(
      "no lookout is left",
      () => lookouts(place) === 0,
      () => lookouts(place),
    );
  },
  MINUTE,
);

/** Our clients that wait for a server's end. */
function lookouts(place: Place): number {
  return waiting(place).length;
}

function waiting(place: Place): number[] {
  const listed = processes.list().map(({ pid }) => pid);
  return listed.filter((pid) => processes.variable(pid, "HOLDFAST_LOOKOUT") === place.home.path);
}

/** The waiting client has reached the server, and its first output was read: the server answers in order. */
async function isWatched(place: Place, before: readonly number[] = []): Promise<void> {
  await until(
    "the server is watched",
    () => {
      const [only, ...others] = waiting(place);
      return only !== undefined && others.length === 0 && !before.includes(only) && hasSocket(only);
    },
    () => waiting(place),
  );
  for (let answers = 0; answers < 5; answers += 1) expect(place.names).toBe("work");
}

function hasSocket(pid: number): boolean {
  try {
    const opened = readdirSync(`/proc/${pid}/fd`).filter((fd) => Number(fd) > 2);
    return opened.some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith("socket:"));
  } catch (error) {
    if (error instanceof Error) return false; // It has ended meanwhile.
    throw error;
  }
}

test.skipIf(!hasTmux)(
  "a server that ends normally for the first time is recreated (needs tmux)",
  async () => {
    const place = new Place(home());
    place.tmux("new-session", "-d", "-s", "work");
    await place.live();
    await place.adopt();
    const old = place.serverPid;
    await isWatched(place);
    place.tmux("kill-server");
    await until(
      "it is back",
      () => place.names === "work" && place.serverPid !== old,
      () => [place.names, place.serverPid],
    );
  },
  MINUTE,
);

test.skipIf(!hasTmux)(
  "after the daemon's death the report lists every outcome; the server is left alone and watched once (needs tmux)",
  async () => {
    const place = new Place(home());
    place.tmux("new-session", "-d", "-s", "work");
    const daemon = await place.live();
    const id = await place.adopt();
    const pid = place.serverPid;
    await isWatched(place);
    await place.home.kill(daemon);
    expect(place.serverPid).toBe(pid);
    const second = await place.live();
    expect((await place.home.report()).items).toMatchObject([
      { what: "tmux session", id, name: "work", fate: "back as it was" },
    ]);
    await until(
      "the server is watched by one",
      () => lookouts(place) === 1,
      () => lookouts(place),
    );
    await place.home.kill(second);
    await place.killServer();
    await place.live();
    const { items } = await place.home.report();
    expect(items).toMatchObject([{ what: "tmux session", id, name: "work", fate: "restarted" }]);
    expect(items[0]?.reason).toContain("as it was at");
    expect(place.names).toBe("work");
  },
  MINUTE,
);

test.skipIf(!hasTmux)(
  "after a reboot sessions are recreated beside the terminals: windows, panes, directories and their text (needs tmux)",
  async () => {
    const place = new Place(home());
    mkdirSync(place.home.file("project"));
    place.tmux("new-session", "-d", "-s", "work", "-n", "one", "-c", place.home.file("project"), "sh");
    place.tmux("split-window", "-t", "work:one", "-c", "/usr", "sh");
    place.tmux("new-window", "-d", "-t", "work", "-n", "two", "-c", "/", "sh");
    place.tmux("send-keys", "-t", "work:one.0", "echo seen $((40 + 2))", "Enter");
    await until(
      "it was said",
      () => place.tmux("capture-pane", "-p", "-t", "work:one.0").includes("seen 42"),
      () => place.tmux("capture-pane", "-p", "-t", "work:one.0"),
    );
    await place.live(boot(1));
    await place.adopt();
    const terminal = await place.home.open("shell", ["sh"]);
    await place.home.is(terminal, "running");
    const old = place.serverPid;
    const panes = () =>
      place.tmux("list-panes", "-s", "-t", "work", "-F", "#{window_name} #{pane_index} #{pane_current_path}");
    const before = `one 0 ${place.home.file("project")}\none 1 /usr\ntwo 0 /`;
    await until(
      "every shell is in its directory",
      () => panes() === before,
      () => panes(),
    );
    await Promise.all([powerCut(place.home), place.killServer()]);
    await place.live(boot(2));
    const { cause, items } = await place.home.report();
    expect(cause).toBe("machine crash");
    expect(items.map(({ what, fate }) => `${what} ${fate}`).sort()).toEqual([
      "terminal restarted",
      "tmux session restarted",
    ]);
    expect(place.serverPid).not.toBe(old);
    await until(
      "every shell is in its directory again",
      () => panes() === before,
      () => panes(),
    );
    await until(
      "what was on it is seen",
      () => place.tmux("capture-pane", "-p", "-S-", "-t", "work:one.0").includes("seen 42"),
      () => place.tmux("capture-pane", "-p", "-S-", "-t", "work:one.0"),
    );
  },
  MINUTE,
);

test.skipIf(!hasTmux)(
  "a daemon killed with SIGKILL at sampled steps of the recreation ends up with one session in its next life (needs tmux)",
  async () => {
    const at = home();
    const place = new Place(at, `${at.file("bin")}:${PATH}`);
    const fake = at.file("bin/tmux");
    const killAt = (step: number) => {
      writeFileSync(at.file("calls"), "0");
      writeFileSync(fake, script(at.path, step));
      chmodSync(fake, 0o700);
    };
    await Bun.$`mkdir -p ${at.file("bin")}`.quiet();
    killAt(0);
    place.tmux("new-session", "-d", "-s", "work", "-x", "100", "-y", "30");
    place.tmux("split-window", "-h");
    place.tmux("new-window", "-n", "two", "sleep 1000");
    let daemon = await place.live();
    await place.adopt();
    await at.stop(daemon);
    for (const step of sampleOf([2, 3, 4, 6, 9, 12, 14, 15], 2)) {
      await place.killServer();
      killAt(step);
      daemon = place.start();
      await until(
        `the daemon is dead at step ${step}`,
        () => daemon.process.exitCode !== null || daemon.process.signalCode !== null,
        () => [daemon.process.exitCode, daemon.process.signalCode],
      );
      expect({ step, signal: daemon.process.signalCode }).toEqual({ step, signal: "SIGKILL" });
      killAt(0);
      daemon = await place.live();
      expect({ step, names: place.names }).toEqual({ step, names: "work" });
      // Settled: recovery has ended, and nothing changes the panes.
      expect(place.tmux("list-panes", "-s", "-t", "work").split("\n")).toHaveLength(3);
      await at.stop(daemon);
    }
  },
  2 * MINUTE,
);

/**
 * A tmux that kills the daemon at its `step`th call, and executes the call. Calls from panes (without -u) are not
 * counted.
 */
function script(path: string, step: number): string {
  return `#!/bin/sh
if [ "$1" = -u ]; then
  n=$(cat ${path}/calls); n=$((n + 1)); echo $n > ${path}/calls
  if [ $n = ${step} ]; then kill -9 $PPID; fi
fi
exec ${Bun.which("tmux")} "$@"
`;
}

test.skipIf(!hasTmux)(
  "a lost checkpoint is reported, and nothing is recreated from nothing (needs tmux)",
  async () => {
    const place = new Place(home());
    place.tmux("new-session", "-d", "-s", "work");
    const daemon = await place.live();
    const id = await place.adopt();
    await place.home.kill(daemon);
    await place.killServer();
    const directory = place.home.file(`tmux/${id}`);
    for (const name of ["checkpoint.json", "checkpoint.backup.json"]) writeFileSync(join(directory, name), "");
    await place.live();
    const { items } = await place.home.report();
    expect(items).toMatchObject([{ id, fate: "needs you" }]);
    expect(items[0]?.reason).toContain("no checkpoint of it can be used (checkpoint.json: ");
    expect(place.names).toBe("");
  },
  MINUTE,
);

test.skipIf(!hasTmux)(
  "a server started inside one of our terminals is not an orphan when that terminal's holder dies (needs tmux)",
  async () => {
    const place = new Place(home());
    const daemon = await place.live();
    const shell = ["sh", "-c", `tmux -S ${place.socket} new-session -d -s work; exec sleep 1000`];
    const terminal = await place.home.open("outer", shell);
    const { holder } = await place.home.is(terminal, "running");
    await until(
      "the server runs",
      () => place.names === "work",
      () => place.names,
    );
    await place.adopt();
    const pid = place.serverPid;
    expect(processes.variable(pid, "HOLDFAST_TERMINAL")).toBe(terminal);
    await place.home.kill(daemon);
    killIfThere(holder);
    await until(
      "the holder is gone",
      () => processes.startTime(holder) === undefined,
      () => processes.startTime(holder),
    );
    await place.live();
    expect(place.serverPid).toBe(pid);
    expect(place.names).toBe("work");
  },
  MINUTE,
);
