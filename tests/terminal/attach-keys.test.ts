// Attaching as a user does: the detach key, from one terminal to another, and who answers the program.
import { afterEach, describe, expect, test } from "bun:test";
import { rejects } from "../cli/expect.ts";
import { endAll, Home } from "../cli/terminal-home.ts";
import { ours } from "../ours.ts";
import { until } from "../until.ts";

afterEach(endAll, 180_000);

const DETACH = "\u001c";
const ESC = "\u001b";

describe("the detach key", () => {
  test("pressed twice it goes to the program once; followed by another key it detaches, and that key is not typed", async () => {
    const home = new Home();
    const window = home.window(["new", "t", "--", "sh", "-c", "stty -isig -echo; echo ready; exec cat -v"]);
    await window.shows("ready");
    window.type(`a${DETACH}${DETACH}b\r`);
    await window.shows("a^\\b\r\n");
    for (const key of [DETACH, DETACH]) window.type(key);
    window.type("\r");
    await window.shows("\n^\\\r\n");
    window.type(`c\r${DETACH}x`);
    expect(await window.exited).toBe(0);
    await home.says("t", "c");
    await home.ok("send", "t", "end", "-e");
    await home.says("t", "^\\\nc\nend\n");
  });

  test("an attach within a terminal says so, and is left by pressing the key twice; then the outer one is left", async () => {
    const home = new Home();
    await home.ok("new", "-d", "inner", "--", "cat");
    await home.ok("new", "-d", "outer", "--", "/bin/sh");
    const holdfast = ours("src/cli/main.ts")
      .map((word) => `'${word}'`)
      .join(" ");
    const window = home.window(["attach", "outer"]);
    window.type(`${holdfast} attach inner; echo "left: $?"\r`);
    await window.shows("it twice to leave inner."); // The sentence takes two rows.
    await until(
      "the inner one is attached",
      async () => (await home.listed("inner")).clients === 1,
      () => window.seen.slice(-500),
    );
    window.type("hello\r");
    await window.shows("hello\r\nhello\r\n");
    window.type(DETACH + DETACH);
    await window.shows("detached; inner keeps running.");
    await window.shows("left: 0");
    window.type("echo still $((40 + 2))\r");
    await window.shows("still 42");
    window.type(DETACH);
    expect(await window.exited).toBe(0);
    await window.shows("detached; outer keeps running.");
  });
});

describe("without a name, and from one terminal to another", () => {
  const three = async () => {
    const home = new Home();
    for (const name of ["a", "b", "c"]) {
      await home.ok(
        "new",
        "-d",
        name,
        "--",
        "sh",
        "-c",
        `echo "this is ${name}"; while read l; do echo "${name} $l"; done`,
      );
      await home.says(name, `this is ${name}`);
    }
    return home;
  };

  test("the only terminal is attached; of several one is chosen, and the last one is marked", async () => {
    const home = new Home();
    const none = home.window(["attach"]);
    expect(await none.exited).toBe(1);
    await none.shows("No terminal is running.");
    await home.ok("new", "-d", "only", "--", "sh", "-c", "echo he''re; cat");
    await home.says("only", "here");
    const alone = home.window(["attach"]);
    await alone.shows("here");
    alone.type(DETACH);
    expect(await alone.exited).toBe(0);
    await home.ok("new", "-d", "other", "--", "sh", "-c", "echo the''re; cat");
    await home.says("other", "there");
    const marked = home.window(["attach"]);
    await marked.shows("which terminal?");
    await marked.shows(`${ESC}[7m  1  only`);
    marked.type("\r");
    await marked.shows("here");
    marked.type(DETACH);
    expect(await marked.exited).toBe(0);
    const chosen = home.window(["attach"]);
    await chosen.shows("which terminal?");
    chosen.type(`${ESC}[B${ESC}[A${ESC}[B`);
    await chosen.shows(`${ESC}[7m  2  other`);
    chosen.type("\r");
    await chosen.shows("there");
    chosen.type("x\r");
    await chosen.shows("x\r\nx\r\n");
    chosen.type(DETACH);
    expect(await chosen.exited).toBe(0);
    const left = home.window(["attach"]);
    await left.shows("which terminal?");
    left.type("q");
    expect(await left.exited).toBe(1);
    expect(left.cooked).toBe(true);
  });

  test("the detach key and n, p or s lead to another terminal, and what is typed goes to that one", async () => {
    const home = await three();
    const window = home.window(["attach", "a"]);
    await window.shows("this is a");
    window.type(`${DETACH}n`);
    await window.shows("this is b");
    window.type("one\r");
    await window.shows("b one");
    window.type(`${DETACH}p`);
    window.type("two\r");
    await window.shows("a two");
    window.type(`${DETACH}p`);
    await window.shows("this is c");
    window.type(`${DETACH}s`);
    await window.shows(`${ESC}[7m  3  c`);
    window.type("2");
    await until(
      "it is b",
      async () => (await home.listed("b")).clients === 1,
      () => window.seen.slice(-300),
    );
    window.type("three\r");
    await window.shows("b three");
    await home.ok("kill", "a");
    window.type(`${DETACH}n`);
    window.type("four\r");
    await window.shows("c four");
    window.type(`${DETACH}n`);
    window.type("five\r");
    await window.shows("b five");
    window.type(DETACH);
    expect(await window.exited).toBe(0);
    await window.shows("detached; b keeps running.");
    expect(window.cooked).toBe(true);
    const said = (await home.ok("history", "c")).split("\n").filter((line) => /^[abc] /.test(line));
    expect(said).toEqual(["c four"]);
  });
});

test("what a program asks its terminal is answered once: by the window typed into last, or by the holder", async () => {
  const home = new Home();
  const program = `stty raw -echo; printf '${ESC}[c${ESC}[6n'; echo ready; exec cat -v`;
  await home.ok("new", "-d", "alone", "--", "sh", "-c", program);
  await home.says("alone", "^[[?1;2c^[[1;1R");
  const asks = `echo ready; while read -r a; do printf '<%s${ESC}[6n>\\n' "$a"; done`;
  const first = home.window(["new", "t", "--", "sh", "-c", asks]);
  await first.shows("ready");
  const second = home.window(["attach", "t"]);
  await second.shows("ready");
  const asked = `${ESC}[6n>`;
  for (const [typist, other, word] of [
    [second, first, "one"],
    [first, second, "two"],
    [second, first, "three"],
  ] as const) {
    typist.type(`${word}\r`);
    await typist.shows(`<${word}${asked}`);
    await other.shows(`<${word}>`);
  }
  second.kill("SIGKILL");
  await until(
    "one is left",
    async () => (await home.listed("t")).clients === 1,
    () => home.listed("t"),
  );
  await home.ok("send", "t", "four", "-e");
  await first.shows(`<four${asked}`);
  first.type(DETACH);
  expect(await first.exited).toBe(0);
  await home.ok("send", "t", "five", "-e");
  await home.says("t", "<five>");
});

test("--size smallest keeps the program inside every window, a fixed size is nobody's, and latest follows the typist", async () => {
  const home = new Home();
  const program = 'echo ready; while read line; do echo "$line at $(stty size)"; done';
  const large = home.window(["new", "t", "--", "sh", "-c", program], { cols: 100, rows: 20 });
  await large.shows("ready");
  const small = home.window(["attach", "t", "--size", "smallest"], { cols: 60, rows: 30 });
  await small.shows("ready");
  large.type("one\r");
  await large.shows("one at 20 60");
  small.type("two\r");
  await small.shows("two at 20 60");
  const fixed = home.window(["attach", "t", "--size", "70x25"], { cols: 90, rows: 40 });
  await fixed.shows("two at 20 60");
  large.type("three\r");
  await large.shows("three at 25 70");
  const latest = home.window(["attach", "t", "--size", "latest"], { cols: 85, rows: 35 });
  await latest.shows("three at 25 70");
  latest.type("four\r");
  await latest.shows("four at 35 85");
  await until(
    "the size follows the typist",
    () => {
      large.type("five\r"); // The program may read it before it has the size.
      return large.seen.includes("five at 20 100");
    },
    () => large.seen.slice(-300),
  );
  rejects(await home.run("attach", "t", "--size", "80x"), 2, "smallest, latest, or columns and rows");
});
