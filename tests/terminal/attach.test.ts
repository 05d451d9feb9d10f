// Attaching as a user does: a real window, a real daemon, real holders.
import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, Home } from "../cli/terminal-home.ts";
import { until } from "../until.ts";

afterEach(endAll, 180_000);

const DETACH = "\u001c";
const ESC = "\u001b";

/** The title of a window without one, after it has got this output, and its stack of titles. */
function titlesIn(output: string): { title: string; saved: string[] } {
  const saved: string[] = [];
  let title = "";
  const sequence = new RegExp(`${ESC}(?:\\][02];([^\u0007${ESC}]*)|\\[(2[23])(?:;\\d+)*t)`, "g");
  for (const [, set, act] of output.matchAll(sequence)) {
    if (set !== undefined) title = set;
    else if (act === "22") saved.push(title);
    else title = saved.pop() ?? title;
  }
  return { title, saved };
}

/** A holder reports windows that come and go a moment later. */
function hasClients(home: Home, name: string, count: number): Promise<unknown> {
  return until(
    `${count} clients are attached`,
    async () => (await home.listed(name)).clients === count,
    async () => (await home.listed(name)).clients,
  );
}

describe("attach", () => {
  test("new attaches in an interactive terminal; Ctrl-\\ detaches, attach redraws what was there", async () => {
    const home = new Home();
    const first = home.window(["new", "work", "--", "cat"]);
    first.type("hello\r");
    await first.shows("hello\r\nhello\r\n");
    first.type(DETACH);
    expect(await first.exited).toBe(0);
    await first.shows("detached; work keeps running.\r\n"); // The window is back in cooked mode before this is printed.
    const second = home.window(["attach", "wor"]);
    await second.shows("hello\r\nhello\r\n");
    second.type(`more\r${DETACH}`);
    expect(await second.exited).toBe(0);
    await home.says("work", "more\nmore\n");
    await hasClients(home, "work", 0);
    expect(await home.listed("work")).toMatchObject({ state: "running" });
  });

  test("the exit code is the program's, and its last output is shown", async () => {
    const home = new Home();
    const window = home.window(["new", "x", "--", "sh", "-c", "read a; echo bye $a; exit 7"]);
    window.type("now\r");
    expect(await window.exited).toBe(7);
    await window.shows("bye now\r\n");
    await window.shows("x ended with exit code 7.");
    const quick = home.window(["new", "--", "sh", "-c", "echo quick; exit 3"]);
    expect(await quick.exited).toBe(3);
    await quick.shows("quick");
  });

  test("-c opens a missing terminal; without it the exit code is 4", async () => {
    const home = new Home();
    const missing = home.window(["attach", "nobody"]);
    expect(await missing.exited).toBe(4);
    const made = home.window(["attach", "-c", "somebody", "--", "sh", "-c", "echo here; cat"]);
    await made.shows("here");
    made.type(DETACH);
    expect(await made.exited).toBe(0);
    expect(await home.listed("somebody")).toMatchObject({ state: "running" });
  });

  test("it continues while watchdog and daemon are killed, and attaching without them works too", async () => {
    const home = new Home();
    const window = home.window(["new", "t", "--", "cat"]);
    window.type("before\r");
    await window.shows("before\r\nbefore\r\n");
    const { daemon, watchdog } = await home.status();
    for (const { pid } of [daemon, watchdog]) process.kill(pid, "SIGKILL");
    window.type("during\r");
    await window.shows("during\r\nduring\r\n");
    await home.ok("down");
    window.type("down\r");
    await window.shows("down\r\ndown\r\n");
    const other = home.window(["attach", "t"]);
    await other.shows("down\r\ndown\r\n");
    other.type("both\r");
    await window.shows("both\r\nboth\r\n");
    for (const one of [window, other]) {
      one.type(DETACH);
      expect(await one.exited).toBe(0);
    }
    expect(await home.status()).toMatchObject({ daemon: { pid: null } });
  });

  test("the daemon is killed during typing: every line arrives once, the program is the same, and a new daemon knows it", async () => {
    const home = new Home();
    const window = home.window([
      "new",
      "t",
      "--",
      "sh",
      "-c",
      'stty -echo; echo ready; while read -r a; do echo "<$a>"; done',
    ]);
    await window.shows("ready");
    const { pid } = await home.listed("t");
    const { daemon } = await home.status();
    process.kill(daemon.pid, "SIGKILL");
    const lines = Array.from({ length: 50 }, (_, at) => `<line ${at}>`);
    for (const line of lines) window.type(`${line.slice(1, -1)}\r`);
    await window.shows(lines.at(-1) ?? "");
    expect([...(window.seen.match(/<line \d+>/g) ?? [])]).toEqual(lines);
    await until(
      "another daemon is live",
      async () => {
        const { daemon: now, recovery } = await home.status();
        return now.pid !== null && now.pid !== daemon.pid && recovery.stage === "LIVE";
      },
      () => home.status(),
    );
    await hasClients(home, "t", 1);
    expect(await home.listed("t")).toMatchObject({ pid, state: "running" });
    window.type("after\r");
    await window.shows("<after>");
    window.type(DETACH);
    expect(await window.exited).toBe(0);
  });

  test("a hanging daemon does not prevent attaching", async () => {
    const home = new Home();
    await home.ok("new", "-d", "t", "--", "sh", "-c", "echo here; cat");
    await home.says("t", "here");
    const { daemon, watchdog } = await home.status();
    const both = [watchdog.pid, daemon.pid]; // A running watchdog would eventually kill it.
    for (const pid of both) process.kill(pid, "SIGSTOP");
    try {
      const window = home.window(["attach", "t"]);
      await window.shows("here");
      window.type("typed\r");
      await window.shows("typed\r\ntyped\r\n");
      window.type(DETACH);
      expect(await window.exited).toBe(0);
    } finally {
      for (const pid of both) process.kill(pid, "SIGCONT");
    }
  });

  test("two windows on one terminal: each sees what the other types, and detaching one leaves the other", async () => {
    const home = new Home();
    const first = home.window(["new", "t", "--", "cat"]);
    first.type("one\r");
    await first.shows("one\r\none\r\n");
    const second = home.window(["attach", "t"]);
    await second.shows("one\r\none\r\n");
    second.type("two\r");
    await first.shows("two\r\ntwo\r\n");
    await hasClients(home, "t", 2);
    first.type(DETACH);
    expect(await first.exited).toBe(0);
    second.type("three\r");
    await second.shows("three\r\nthree\r\n");
    await hasClients(home, "t", 1);
    second.kill("SIGKILL");
    await hasClients(home, "t", 0);
    expect(await home.listed("t")).toMatchObject({ state: "running" });
  });

  test("SSH_AUTH_SOCK leads to the agent of the client that attached last, also for terminals opened from within", async () => {
    const home = new Home();
    const program = 'echo ready; while read -r a; do echo "$a $(readlink "$SSH_AUTH_SOCK")"; done';
    const agentIn = (agent: string) => ({ env: { SSH_AUTH_SOCK: agent } });
    const first = home.window(["new", "t", "--", "sh", "-c", program], agentIn("/agents/first"));
    await first.shows("ready");
    first.type("a\r");
    await first.shows("a /agents/first\r\n");
    const second = home.window(["attach", "t"], agentIn("/agents/second"));
    await second.shows("a /agents/first\r\n");
    first.type("b\r");
    await first.shows("b /agents/second\r\n");
    const looker = home.window(["attach", "--read-only", "t"], agentIn("/agents/looker"));
    await looker.shows("b /agents/second\r\n");
    const [link = ""] = readdirSync(join(home.path, "run/ssh"));
    const within = home.window(["new", "u", "--", "sh", "-c", program], agentIn(join(home.path, "run/ssh", link)));
    await within.shows("ready");
    within.type("c\r");
    await within.shows("c /agents/second\r\n");
    const without = home.window(["new", "v", "--", "sh", "-c", 'echo "has <$SSH_AUTH_SOCK>"']);
    await without.shows("has <>");
    expect((await home.run("new", "-d", "u")).code).toBe(1);
    expect(readdirSync(join(home.path, "run/ssh"))).toHaveLength(2);
    await home.ok("rm", "--force", "t");
    expect(readdirSync(join(home.path, "run/ssh"))).toHaveLength(1);
  });

  test("the program follows the size of the window; a read-only client changes nothing and types nothing", async () => {
    const home = new Home();
    const program = 'while read line; do echo "$line at $(stty size)"; done';
    const window = home.window(["new", "t", "--", "sh", "-c", program], { cols: 90, rows: 30 });
    window.type("a\r");
    await window.shows("a at 30 90");
    window.resize(70, 20);
    await until(
      "the program's window is the new one",
      async () => {
        window.type("b\r");
        return window.seen.includes("b at 20 70");
      },
      () => window.seen,
    );
    const looker = home.window(["attach", "t", "--read-only"], { cols: 50, rows: 10 });
    await looker.shows("b at 20 70");
    looker.type("not me\r");
    window.type("me\r");
    await looker.shows("me at 20 70");
    expect(window.seen).not.toContain("not me");
    looker.type(DETACH);
    expect(await looker.exited).toBe(0);
    window.type(DETACH);
    expect(await window.exited).toBe(0);
  });
});

describe("the user's window", () => {
  const draws = `printf '${ESC}[?1049h${ESC}[?1002h${ESC}[?2004h${ESC}[?25ldrawn'; cat`;
  const undone = [`${ESC}[?1049l`, `${ESC}[?1002l`, `${ESC}[?2004l`, `${ESC}[?25h`];

  test("is restored: modes reset, cooked, whether we detach, are told to leave, or the program is killed", async () => {
    const home = new Home();
    const leave = { detach: 0, SIGTERM: 143, SIGHUP: 129, killed: 137 } as const;
    for (const [how, code] of Object.entries(leave)) {
      const window = home.window(["attach", "-c", `t-${how}`, "--", "sh", "-c", draws]);
      await window.shows("drawn");
      expect(window.cooked).toBe(false);
      if (how === "detach") window.type(DETACH);
      else if (how === "killed") await home.ok("kill", `t-${how}`, "--signal", "KILL");
      else window.kill(how === "SIGTERM" ? "SIGTERM" : "SIGHUP");
      expect({ how, code: await window.exited }).toEqual({ how, code });
      const end = window.seen.slice(window.seen.lastIndexOf("drawn"));
      for (const undo of undone) expect(end).toContain(undo);
    }
  });

  test("has its own title again after detaching, also if the program had saved titles itself", async () => {
    const home = new Home();
    const titles = `printf '${ESC}[22;0t${ESC}]2;of the program\\007drawn'; cat`;
    await home.ok("new", "-d", "t", "--", "sh", "-c", titles);
    await home.says("t", "drawn");
    for (const leave of ["detach", "kill"] as const) {
      const window = home.window(["attach", "t"]);
      await window.shows("drawn");
      if (leave === "detach") window.type(DETACH);
      else await home.ok("kill", "t", "--signal", "KILL");
      await window.exited;
      expect(titlesIn(window.seen)).toEqual({ title: "", saved: [] });
    }
    const quick = home.window(["new", "--", "sh", "-c", `printf '${ESC}]0;left behind${ESC}\\\\quick'; exit 3`]);
    expect(await quick.exited).toBe(3);
    expect(titlesIn(quick.seen)).toEqual({ title: "", saved: [] });
  });

  test("the line discipline is restored bit by bit, and a shell continues in it", async () => {
    const home = new Home();
    const odd = "stty -ixon -opost min 3 intr ^K";
    const window = home.script(`${odd}; echo "was $(stty -g)"; "$@" new t -- cat; echo "code $?, is $(stty -g)"; cat`);
    await until(
      "it is attached",
      async () => /\[2J/.test(window.seen) && !window.cooked,
      () => [window.seen, window.cooked],
    );
    window.type(`hello\r${DETACH}`);
    await window.shows("code 0, is");
    await until(
      "the line is whole",
      () => /is [\da-f:]+\s/.test(window.seen),
      () => window.seen,
    );
    const [, was] = /was ([\da-f:]+)\s/.exec(window.seen) ?? [];
    const [, is] = /is ([\da-f:]+)\s/.exec(window.seen) ?? [];
    expect(is).toBe(was ?? "never said");
    window.type("typed\n");
    await window.shows("typed\ntyped\n");
  });

  test("keeps its history: existing text is scrolled up, never erased, and the alternate screen is not used", async () => {
    const home = new Home();
    await home.ok("new", "-d", "t", "--", "sh", "-c", `printf 'old ${ESC}[H${ESC}[2J${ESC}[3Jnew\\n'; cat`);
    await home.says("t", "new");
    const window = home.window(["attach", "t"], { rows: 12 });
    await window.shows("new");
    window.type("more\r");
    await window.shows("more\r\nmore\r\n");
    window.type(DETACH);
    expect(await window.exited).toBe(0);
    const [before = ""] = window.seen.split(`${ESC}[2J`);
    expect(before.split("\n").length - 1).toBeGreaterThanOrEqual(12);
    for (const erasing of [`${ESC}[3J`, `${ESC}[?1049h`, `${ESC}[?47h`, `${ESC}c`]) {
      expect(window.seen).not.toContain(erasing);
    }
  });

  test("an old query in the output is not sent to the window again", async () => {
    const home = new Home();
    await home.ok("new", "-d", "q", "--", "sh", "-c", `printf 'a${ESC}[6n${ESC}[cb\\n'; cat`);
    await home.says("q", "ab");
    const window = home.window(["attach", "q"]);
    await window.shows("ab\r\n");
    expect(window.seen).not.toContain(`${ESC}[6n`);
    window.type(DETACH);
    expect(await window.exited).toBe(0);
  });

  test("a single line of 300 KB is on the screen again", async () => {
    const home = new Home();
    const program = "head -c 300000 /dev/zero | tr '\\0' x; echo; echo the end; cat";
    await home.ok("new", "-d", "t", "--", "sh", "-c", program);
    await home.says("t", "the end");
    const window = home.window(["attach", "t"]);
    await window.shows(`${"x".repeat(2000)}\r\nthe end`);
    window.type(DETACH);
    expect(await window.exited).toBe(0);
  });

  test("the detach key is configurable and can be turned off", async () => {
    const home = new Home();
    writeFileSync(join(home.path, "config.toml"), '[terminal]\ndetach_key = "ctrl-a"\n');
    const window = home.window(["new", "t", "--", "sh", "-c", "trap 'echo quit' QUIT; while :; do read a; done"]);
    await until(
      "it is attached",
      async () => !window.cooked,
      () => window.cooked,
    );
    window.type(DETACH);
    await window.shows("quit");
    window.type("\u0001");
    expect(await window.exited).toBe(0);
  });

  test("a flood of output does not disable the detach key", async () => {
    const home = new Home();
    const window = home.window(["new", "flood", "--", "yes", "a flood of lines"]);
    await window.shows("a flood of lines\r\na flood of lines");
    window.type(DETACH);
    expect(await window.exited).toBe(0);
    await home.ok("kill", "flood");
  });
});
