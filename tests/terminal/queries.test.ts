// What a program asks its terminal, with a real program that prints what it got: exactly one answer, from whoever can.
import { afterAll, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, Home } from "../cli/terminal-home.ts";
import { isGone } from "../daemon/home.ts";
import { PATIENCE_MS, until } from "../until.ts";

afterAll(endAll, 180_000);

const DETACH = "\u001c";
const ESC = "\u001b";

/** Asks in raw mode. Waits for as many answers as it should get, then a moment for one too many; prints every byte. */
const ASK = `
import sys, os, re, tty, termios, select
def ask(query, name, count):
    old = termios.tcgetattr(0)
    tty.setraw(0)
    os.write(1, query)
    got = b""
    def has_all(): return len(re.findall(rb"\\x1b\\[[0-9;?$]*[A-Za-z]", got)) >= count
    while select.select([0], [], [], 0.7 if has_all() else 60)[0]: got += os.read(0, 1000)
    termios.tcsetattr(0, termios.TCSANOW, old)
    os.write(1, b"\\r\\n" + name + b" got " + got.replace(b"\\x1b", b"^") + b".\\r\\n")
`;
/** For each line that it reads. */
const PROGRAM = `${ASK}
os.write(1, b"ready\\r\\n")
for line in sys.stdin:
    name, query, count = line.strip().split(" ")
    ask(query.replace("^", "\\x1b").encode(), name.encode(), int(count))
`;

/** By itself, once there is a file: any command of ours would start a Holdfast that was killed. */
const ALONE = `
import time
os.write(1, b"ready\\r\\n")
while not os.path.exists("go"): time.sleep(0.05)
ask(b"abc\\x1b[6n\\x1b[c", b"alone", 2)
open("done", "w")
sys.stdin.read()
`;

async function written(home: Home, name: string, text: string): Promise<string> {
  await Bun.write(join(home.path, name), text);
  return join(home.path, name);
}

async function opened(): Promise<Home> {
  const home = new Home();
  await home.ok("new", "-d", "t", "--", "python3", await written(home, "ask.py", PROGRAM));
  await home.says("t", "ready");
  return home;
}

/** What the program got for its query, which has so many answers. The echo of the line is above the cursor. */
async function answerTo(home: Home, name: string, query: string, count: number): Promise<string> {
  await home.ok("send", "t", `${name} ${query} ${count}`, "--enter");
  const found = async () => new RegExp(`${name} got ([^.]*)\\.`).exec(await home.ok("history", "t"))?.[1];
  return until(`the program has an answer to ${name}`, found, () => home.ok("history", "t"));
}

const countOf = (answers: string) => answers.split("^").length - 1;

/** Asks until it gets these answers: on a busy machine the holder answers before the screen program. Never both do. */
async function screenAnswers(home: Home, name: string, query: string, answers: string): Promise<void> {
  let asked = 0;
  const isAnswered = async () => {
    asked += 1;
    const got = await answerTo(home, `${name}${asked}`, query, countOf(answers));
    expect(countOf(got)).toBe(countOf(answers));
    return got === answers;
  };
  await until(`${name} is answered from the screen`, isAnswered, () => home.ok("history", "t"), 3 * PATIENCE_MS);
}

/** Perhaps before the daemon knows that it runs. */
async function asksAtOnce(home: Home, name: string): Promise<string> {
  await home.ok("new", "-d", name, "--", "sh", "-c", `stty raw -echo; printf 'abc${ESC}[6n'; exec cat -v`);
  const found = async () => /abc(\S+R)/.exec(await home.ok("history", name))?.[1];
  return until(`${name} has an answer`, found, () => home.ok("history", name));
}

test("without a window, a cursor's position and a mode come from the screen, in order with what the holder knows", async () => {
  const home = await opened();
  await screenAnswers(home, "first", "^[7;1Habc^[6n^[c", "^[7;4R^[?1;2c");
  const modes = "^[?25;1$y^[?25;2$y^[?2004;2$y^[?7777;0$y";
  await screenAnswers(home, "modes", "^[?25$p^[?25l^[?25$p^[?25h^[?2004$p^[?7777$p", modes);
  await screenAnswers(home, "private", "^[5;9H^[?6n", "^[?5;9R");
  let starts = 0;
  const isAnswered = async () => {
    starts += 1;
    return (await asksAtOnce(home, `early${starts}`)) === "^[[1;4R";
  };
  await until("a program that asks at once is answered", isAnswered, () => home.ok("ls"), 3 * PATIENCE_MS);
});

test("while the daemon is down, the holder's own answers stand: after a short time, then at once", async () => {
  const home = await opened();
  await home.ok("down");
  expect(await answerTo(home, "first", "abc^[6n^[c", 2)).toBe("^[1;1R^[?1;2c");
  expect(await answerTo(home, "second", "^[?25$p^[5n", 2)).toBe("^[?25;0$y^[0n");
});

test("after kill -9 of daemon and watchdog the holder answers alone and once; the next daemon's screen is asked again", async () => {
  const home = await opened();
  await home.ok("new", "-d", "alone", "--", "python3", await written(home, "alone.py", `${ASK}${ALONE}`));
  await home.says("alone", "ready");
  const { daemon, watchdog } = await home.status();
  const both = [watchdog.pid, daemon.pid];
  for (const pid of both) process.kill(pid, "SIGSTOP"); // Or one would start the other again.
  for (const pid of both) process.kill(pid, "SIGKILL");
  await until(
    "both are gone",
    () => both.every(isGone),
    () => both.filter((pid) => !isGone(pid)),
  );
  writeFileSync(join(home.path, "go"), "");
  await until(
    "the program has its answers",
    () => existsSync(join(home.path, "done")),
    () => "not yet",
  );
  await home.ok("up");
  expect((await home.status()).daemon.pid).not.toBe(daemon.pid);
  await home.says("alone", "alone got ^[1;1R^[?1;2c.");
  await screenAnswers(home, "after", "^[7;1Habc^[6n", "^[7;4R");
});

test("a daemon that hangs delays an answer, and its own comes too late", async () => {
  const home = await opened();
  const { daemon, watchdog } = await home.status();
  const both = [watchdog.pid, daemon.pid]; // A running watchdog would kill it in the end.
  for (const pid of both) process.kill(pid, "SIGSTOP");
  try {
    await home.ok("send", "t", "hung abc^[6n 1", "--enter");
    await home.says("t", "hung got ^[1;1R.");
  } finally {
    for (const pid of both) process.kill(pid, "SIGCONT");
  }
  expect(await answerTo(home, "after", "^[5n", 1)).toBe("^[0n");
});

test("with one window and with two, exactly one answers, and nobody else", async () => {
  const home = await opened();
  const first = home.window(["attach", "t"]);
  await first.shows("ready"); // The one that attaches last is the one that answers.
  const second = home.window(["attach", "t"]);
  await second.shows("ready");
  await home.ok("send", "t", "two ^[6n 1", "--enter");
  await second.shows(`${ESC}[6n`);
  second.type(`${ESC}[7;7R`); // What a terminal does.
  await home.says("t", "two got ^[7;7R.");
  expect(first.seen).not.toContain(`${ESC}[6n`);
  second.type(DETACH);
  expect(await second.exited).toBe(0);
  await home.ok("send", "t", "one ^[?25$p 1", "--enter");
  await first.shows(`${ESC}[?25$p`);
  first.type(`${ESC}[?25;1$y`);
  await home.says("t", "one got ^[?25;1$y.");
  first.type(DETACH);
  expect(await first.exited).toBe(0);
  await screenAnswers(home, "none", "^[9;2H^[6n", "^[9;2R");
});
