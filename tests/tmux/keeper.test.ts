// Adopted tmux sessions, with a real tmux: what was there comes back, once, and none of it is interpreted.
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TmuxRun } from "../../src/daemon/tmux/client.ts";
import { sampleOf } from "../sim/fuzz/profile.ts";
import { until } from "../until.ts";
import { adopt, Dying, handlersOf, hasTmux, killServer, live, type TmuxSite, tmuxSites } from "./server.ts";

const site = tmuxSites();
const MINUTE = 60_000;

/** Two windows, three panes and one more, each in its own directory. */
async function furnish(on: TmuxSite): Promise<void> {
  for (const name of ["a", "b b", "c;"]) mkdirSync(join(on.path, name));
  const at = (name: string) => join(on.path, name).replace(/;$/, "\\;");
  on.tmux("new-session", "-d", "-s", "work", "-n", "edit", "-x", "120", "-y", "40", "-c", at("a"));
  on.tmux("split-window", "-h", "-l", "30", "-t", "work:0", "-c", at("b b"));
  on.tmux("split-window", "-v", "-t", "work:0.1", "-c", at("c;"));
  on.tmux("select-pane", "-t", "work:0.0", "-T", "a title ##{pid}");
  on.tmux("new-window", "-t", "work:4", "-n", "logs", "-c", at("a"), "sleep", "1000");
  on.tmux("select-window", "-t", "work:0");
  on.tmux("select-pane", "-t", "work:0.1");
  await until(
    "its shell asks",
    () => /[$#] ?$/.test(on.text("work:0.0")),
    () => on.text("work:0.0"),
  ); // Earlier input would appear above the prompt.
  on.tmux("send-keys", "-t", "work:0.0", "echo 'said-'before", "Enter");
  await until(
    "the pane has said it",
    () => on.text("work:0.0").includes("\nsaid-before"),
    () => on.text("work:0.0"),
  );
}

describe("made again", () => {
  test.skipIf(!hasTmux)(
    "windows, names, layout, directories, text, and the command typed but not run (needs tmux)",
    async () => {
      const on = site();
      await furnish(on);
      const life = await live(on);
      await adopt(life, on, "work");
      const before = await on.wholePicture("work");
      await killServer(on);
      expect(on.names()).toEqual([]);
      await life.keeper.round();
      expect(on.names()).toEqual(["work"]);
      await on.looksAs("work", before);
      expect(before).toHaveLength(4);
      const old = /[$#] echo 'said-'before\nsaid-before\n(?:.*\n)*\[holdfast: re-created at /;
      await until(
        "the old screen is shown",
        () => old.test(on.text("work:0.0")),
        () => on.text("work:0.0"),
      );
      await until(
        "the old command is typed",
        () => on.text("work:4.0").match(/[$#] sleep 1000$/) !== null,
        () => on.text("work:4.0").match(/[$#] sleep 1000$/),
      );
      // Settled: the old command is typed and not run.
      expect(on.tmux("display-message", "-p", "-t", "work:4.0", "#{pane_current_command}").trim()).toBe("sh");
      const [care] = life.store.states.values();
      expect(care?.recreated?.notes).toEqual([
        expect.stringContaining("as it was at"),
        "not set any more: MY_TOKEN, PEM_KEY",
      ]);
      const environment = on.tmux("show-environment", "-g");
      expect(environment).toContain("PLAIN=kept");
      expect(environment).not.toContain("hunter2");
      const home = join(on.path, "home/tmux", care?.id ?? "");
      for (const file of ["checkpoint.json", "before.json", "screens/0-0.txt"]) {
        expect(statSync(join(home, file)).mode & 0o777).toBe(0o600);
        expect(readFileSync(join(home, file), "utf8")).not.toMatch(/hunter2|"QQ"/);
      }
    },
  );

  test.skipIf(!hasTmux)("a second and a third time, and each time once (needs tmux)", async () => {
    const on = site();
    await furnish(on);
    const life = await live(on);
    await adopt(life, on, "work");
    const before = await on.wholePicture("work");
    for (let time = 0; time < 3; time += 1) {
      await killServer(on);
      await life.keeper.round();
      await life.keeper.round();
      expect(on.names()).toEqual(["work"]);
      await on.looksAs("work", before);
    }
  });

  test.skipIf(!hasTmux)(
    "with names that hold quotes, formats, backslashes, newlines and what ends a command (needs tmux)",
    async () => {
      const on = site();
      const names = [
        "a b",
        `q'uo"te`,
        "x#{pid}y",
        "#[fg=red]z",
        "p##q",
        "new\nline",
        "back\\slash",
        "c,d}e{",
        "ünï",
        "$HOME ~ ;",
        "###[x",
        "=x",
      ];
      const canary = join(on.path, "canary");
      names.push(`#(touch ${canary})`, `;touch ${canary};`);
      const escaped = (name: string) => name.replaceAll(/#(?!#*\[)/g, "##").replace(/;$/, "\\;");
      on.tmux("new-session", "-d", "-s", "first", "-n", "w");
      for (const name of names) {
        const made = ["new-session", "-d", "-P", "-F", "#{session_id}", "-s", escaped(name), "-n", "w"];
        on.tmux("rename-window", "-t", on.tmux(...made).trim(), "--", escaped(name));
      }
      const life = await live(on);
      await adopt(life, on);
      const picture = () => on.tmux("list-windows", "-a", "-F", "#{session_name}|#{window_name}").split("\n").sort();
      const before = picture();
      expect(before).toHaveLength(names.length + 2);
      expect(before).toContain("a b|a b");
      await killServer(on);
      await life.keeper.round();
      expect(picture()).toEqual(before);
      expect(existsSync(canary)).toBe(false);
    },
    MINUTE,
  );

  test.skipIf(!hasTmux)(
    "in the nearest remaining directory, beside a session that took its name, and both are reported (needs tmux)",
    async () => {
      const on = site();
      const directory = join(on.path, "deep/er");
      mkdirSync(directory, { recursive: true });
      on.tmux("new-session", "-d", "-s", "work", "-c", directory);
      const life = await live(on);
      await adopt(life, on, "work");
      await killServer(on);
      rmdirSync(directory);
      on.tmux("new-session", "-d", "-s", "work", "-c", "/");
      await life.keeper.round();
      expect(on.names()).toEqual(["work", "work-2"]);
      const stands = () => on.tmux("display-message", "-p", "-t", "work-2:", "#{pane_current_path}").trim();
      await until(
        "its shell is in the nearest directory",
        () => stands() === join(on.path, "deep"),
        () => stands(),
      );
      const [care] = life.store.states.values();
      expect(care?.name).toBe("work-2");
      expect(care?.recreated?.notes.join("\n")).toContain(`${directory} is gone: ${join(on.path, "deep")} instead`);
      expect(care?.recreated?.notes.join("\n")).toContain("there is another session work: this one is work-2");
    },
  );
});

describe("a daemon that dies", () => {
  test.skipIf(!hasTmux)(
    "at any call during a recreation leaves one complete session in the end (needs tmux)",
    async () => {
      const on = site();
      await furnish(on);
      const first = await live(on);
      await adopt(first, on, "work");
      const before = await on.wholePicture("work");
      await first.log.close();
      for (let at = 1, done = false; !done; at += 1) {
        for (const when of sampleOf(["before", "after"] as const, 2, at)) {
          await killServer(on);
          const dying = new Dying(at, when);
          const life = await live(on, dying);
          done = await Promise.race([dying.died.promise.then(() => false), life.keeper.round().then(() => true)]);
          await life.log.close();
          const next = await live(on);
          await next.keeper.round();
          expect({ at, when, names: on.names() }).toEqual({ at, when, names: ["work"] });
          await on.looksAs("work", before);
          expect([...next.store.states.values()].map(({ state }) => state.kind)).toEqual(["kept"]);
          await next.log.close();
        }
        if (done) expect(at).toBeGreaterThan(10); // So many calls there are at least.
      }
    },
    3 * MINUTE,
  );
});

describe("left as it is", () => {
  test.skipIf(!hasTmux)(
    "a user's session that takes the name of ours while that is built: ours gets another (needs tmux)",
    async () => {
      const on = site();
      on.tmux("new-session", "-d", "-s", "work");
      let isTaken = false;
      const wrap = (run: TmuxRun): TmuxRun => {
        return async (call) => {
          const isLast = call.commands.some(([name]) => name === "rename-session");
          if (isLast && !isTaken) on.tmux("new-session", "-d", "-s", "work");
          isTaken ||= isLast;
          return run(call);
        };
      };
      const life = await live(on, { wrap });
      await adopt(life, on, "work");
      await killServer(on);
      await life.keeper.round();
      await life.keeper.round();
      expect(on.names()).toEqual(["work", "work-2"]);
      expect([...life.store.states.values()]).toMatchObject([{ name: "work-2", state: { kind: "kept" } }]);
    },
  );

  test.skipIf(!hasTmux)(
    "a good checkpoint if the server is gone, does not answer, or is another one (needs tmux)",
    async () => {
      const on = site();
      on.tmux("new-session", "-d", "-s", "work");
      on.tmux("new-session", "-d", "-s", "other");
      const life = await live(on);
      const [care] = await adopt(life, on, "work");
      const file = join(on.path, "home/tmux", care?.id ?? "", "checkpoint.json");
      const good = readFileSync(file, "utf8");
      const pid = on.serverPid;
      process.kill(pid, "SIGSTOP");
      const deaf = await live(on, {
        wrap: () => async () => ({ ok: false, error: { code: "tmux-failed", message: "", hint: "" } }),
      });
      await deaf.keeper.round();
      process.kill(pid, "SIGCONT");
      expect(readFileSync(file, "utf8")).toBe(good);
      // One failed probe proves nothing.
      expect([...deaf.store.states.values()]).toMatchObject([{ state: { kind: "kept" } }]);
      on.tmux("kill-session", "-t", "work");
      await life.keeper.round();
      expect([...life.store.states.values()]).toMatchObject([{ state: { kind: "ended" } }]);
      expect(on.names()).toEqual(["other"]); // Closing a session while others keep running is intentional.
      expect(readFileSync(file, "utf8")).toBe(good);
      const made = await handlersOf(life)["tmux.recreate"]?.({ session: "work" });
      expect(made).toMatchObject({ ok: true, value: { state: { kind: "kept" } } });
      expect(on.names()).toEqual(["other", "work"]);
    },
  );

  test.skipIf(!hasTmux)("everything, in safe mode: nothing is saved and nothing recreated (needs tmux)", async () => {
    const on = site();
    on.tmux("new-session", "-d", "-s", "work");
    let safe = false;
    const life = await live(on, { mayAct: () => !safe });
    await adopt(life, on, "work");
    safe = true;
    await killServer(on);
    expect((await life.keeper.round()).map(({ trouble }) => trouble)).toEqual([
      "safe mode: it is made again when that is left",
    ]);
    expect(on.names()).toEqual([]);
    safe = false;
    await life.keeper.round();
    expect(on.names()).toEqual(["work"]);
  });

  test.skipIf(!hasTmux)("a half-built session with an attached client (needs tmux)", async () => {
    const on = site();
    on.tmux("new-session", "-d", "-s", "work");
    const life = await live(on);
    const [care] = await adopt(life, on, "work");
    await killServer(on);
    const half = `holdfast-rebuilding-${care?.id}`;
    on.tmux("new-session", "-d", "-s", half);
    const client = Bun.spawn(["tmux", "-S", on.socket, "-C", "attach", "-t", half], {
      env: on.env,
      stdin: "pipe",
      stdout: "ignore",
    });
    await until(
      "a client is attached",
      () => on.tmux("list-clients", "-t", half).trim() !== "",
      () => on.tmux("list-clients", "-t", half).trim(),
    );
    expect((await life.keeper.round())[0]?.trouble).toContain("half-built");
    expect(on.names()).toEqual([half]);
    client.stdin.end();
    await client.exited;
    await until(
      "no client is attached",
      () => on.tmux("list-clients", "-t", half).trim() === "",
      () => on.tmux("list-clients", "-t", half).trim(),
    );
    await life.keeper.round();
    expect(on.names()).toEqual(["work"]);
  });
});

describe("asked for", () => {
  test.skipIf(!hasTmux)("what cannot be adopted is refused with a next step (needs tmux)", async () => {
    const on = site();
    const life = await live(on);
    const ask = async (changes: object) => {
      const params = {
        path: on.socket,
        name: null,
        directory: null,
        sessions: [],
        all: false,
        policy: "auto",
        ...changes,
      };
      const answer = await handlersOf(life)["tmux.adopt"]?.(params);
      return answer?.ok === false ? answer.error : undefined;
    };
    expect(await ask({})).toMatchObject({ code: "no-server", hint: expect.stringContaining("tmux new -d") });
    on.tmux("new-session", "-d", "-s", "one");
    on.tmux("new-session", "-d", "-s", "two");
    expect(await ask({})).toMatchObject({ code: "which", message: "There are 2 sessions: one, two." });
    expect(await ask({ sessions: ["three"] })).toMatchObject({ code: "unknown", hint: "It has: one, two." });
    for (const changes of [{ path: 7 }, { path: "relative" }, { sessions: [1] }, { policy: "maybe" }, { all: "yes" }]) {
      expect(await ask(changes)).toMatchObject({ code: "bad-params" });
    }
    expect(await ask({ sessions: ["one"] })).toBeUndefined();
    expect(await ask({ all: true })).toBeUndefined(); // The first one is already known, and stays the same.
    expect(life.store.states.size).toBe(2);
    const missing = await live(on, { wrap: (run) => (call) => run({ ...call, env: { PATH: "/nowhere" } }) });
    const answer = await handlersOf(missing)["tmux.adopt"]?.({
      path: on.socket,
      name: null,
      directory: null,
      sessions: [],
      all: true,
      policy: "auto",
    });
    expect(answer).toMatchObject({
      ok: false,
      error: { code: "no-tmux", hint: expect.stringContaining("apt install tmux") },
    });
  });

  test.skipIf(!hasTmux)("a released session is left running, and is never recreated (needs tmux)", async () => {
    const on = site();
    on.tmux("new-session", "-d", "-s", "work");
    const life = await live(on);
    await adopt(life, on, "work");
    expect(await handlersOf(life)["tmux.release"]?.({ session: "work" })).toMatchObject({ ok: true });
    expect(on.names()).toEqual(["work"]);
    expect(await handlersOf(life)["tmux.list"]?.({})).toEqual({ ok: true, value: [] });
    expect(await handlersOf(life)["tmux.release"]?.({ session: "work" })).toMatchObject({
      ok: false,
      error: { code: "unknown" },
    });
    await killServer(on);
    await life.keeper.round();
    expect(on.names()).toEqual([]);
  });
});

test.skipIf(!hasTmux)("a server is found by its name as tmux itself finds it (needs tmux)", async () => {
  const on = site();
  const env = { ...on.env, TMUX_TMPDIR: on.path };
  const named = (...words: string[]) =>
    Bun.spawnSync(["tmux", "-L", "mine", ...words], { env, cwd: "/" }).stdout.toString();
  named("new-session", "-d", "-s", "work");
  const life = await live(on);
  const params = { path: null, name: "mine", directory: on.path, sessions: [], all: false, policy: null };
  const answer = await handlersOf(life)["tmux.adopt"]?.(params);
  const socket = named("display-message", "-p", "#{socket_path}").trim();
  named("kill-server");
  expect(answer).toMatchObject({ ok: true, value: [{ name: "work", socket, policy: "auto" }] });
});
