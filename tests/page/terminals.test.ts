// Terminals in the page, in a real Chromium: what is typed reaches the program once, and its screen is shown.
import { afterAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll } from "../cli/terminal-home.ts";
import { amount } from "../sim/fuzz/profile.ts";
import { SimRandom } from "../sim/random.ts";
import { until } from "../until.ts";
import { attach, endBrowser, HAS_CHROMIUM, PageHome } from "./browser.ts";
import { screen, shows, sizes, tabWith } from "./terminal-tab.ts";

afterAll(endBrowser);
afterAll(endAll, 180_000);

/** Becomes a program of that name, with the record that Claude Code keeps of its process. */
const AGENT = `mkdir -p .claude/sessions
echo '{"pid":'$$',"sessionId":"0f7a2f8e-1111-4222-8333-444455556666","status":"waiting"}' > .claude/sessions/$$.json
ln -s "$(command -v sleep)" claude; echo ready; exec ./claude 1000
`;

test.skipIf(!HAS_CHROMIUM)(
  "what is typed reaches a shell, its screen is shown, it follows the window's size, and an agent in it is seen (needs chromium)",
  async () => {
    const home = new PageHome();
    await home.ok("new", "-d", "t", "--", "sh");
    const tab = await tabWith(home, "t");
    await tab.page.keyboard.type("echo he''llo; stty size\n");
    await shows(tab, "hello");
    const sizeNow = async () =>
      /\n(\d+) (\d+)\s*\n/
        .exec(await home.ok("history", "t"))
        ?.slice(1)
        .map(Number);
    const [rows = 0, cols = 0] = await until("the shell says its size", sizeNow, () => screen(tab));
    expect([rows > 20, cols > 80]).toEqual([true, true]);
    await tab.page.setViewportSize({ width: 900, height: 500 });
    const smaller = async () => (await home.json("ls"))[0] !== undefined && (await sizes(home, "t")).at(-1);
    await until(
      "the terminal is smaller",
      async () => {
        const size = await smaller();
        return typeof size === "object" && size.rows < rows && size.cols < cols;
      },
      smaller,
    );
    writeFileSync(join(home.path, "start"), AGENT);
    await tab.page.keyboard.type("sh start\n");
    await tab.page.getByRole("link", { name: "All terminals" }).click();
    await tab.page.getByText("claude waits for you").waitFor();
    expect(tab.strange).toEqual([]);
  },
  180_000,
);

/** Runs in the browser. */
const PASTE = `{
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", "echo pas''ted\\necho tw''ice\\n");
  const paste = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
  document.querySelector('[aria-label="Terminal input"]').dispatchEvent(paste);
}`;

test.skipIf(!HAS_CHROMIUM)(
  "an editor is drawn and edited with, and the shell's screen comes back after it (needs chromium)",
  async () => {
    const home = new PageHome();
    await home.ok("new", "-d", "t", "--", "sh");
    const tab = await tabWith(home, "t");
    await tab.page.keyboard.type("vi -u NONE note.txt\n");
    await shows(tab, "note.txt");
    await tab.page.keyboard.type("ione\ntwo\nthree");
    await tab.page.keyboard.press("Escape");
    await tab.page.keyboard.type("ggdd:wq\n");
    const file = () => Bun.file(join(home.path, "note.txt"));
    const text = async () => ((await file().exists()) ? file().text() : "");
    await until("the file is written", async () => (await text()) === "two\nthree\n", text);
    await tab.page.keyboard.type("echo ba''ck\n");
    await shows(tab, "back");
    expect(tab.strange).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "after a flood of 10 MB the page shows the right screen, and another terminal is usable meanwhile (needs chromium)",
  async () => {
    const home = new PageHome();
    const flood = "read go; seq 1 1400000; echo the flood is ov''er; cat";
    await home.ok("new", "-d", "flood", "--", "sh", "-c", flood.replace("''", ""));
    await home.ok("new", "-d", "other", "--", "sh");
    const tab = await tabWith(home, "flood");
    await tab.page.keyboard.type("go\n");
    await tab.page.getByRole("link", { name: "All terminals" }).click();
    await attach(tab, "other");
    await tab.page.keyboard.type("echo st''ill here\n");
    await shows(tab, "still here");
    await tab.page.getByRole("link", { name: "All terminals" }).click();
    await attach(tab, "flood");
    await shows(tab, "the flood is over");
    await until(
      "the last number is above it",
      async () => /1400000\s*the flood is over/.test(await screen(tab)),
      () => screen(tab),
    );
    expect(tab.strange).toEqual([]);
  },
  180_000,
);

test.skipIf(!HAS_CHROMIUM)(
  "a terminal is opened, renamed, moved, searched, pasted into after a question, ended and removed (needs chromium)",
  async () => {
    const home = new PageHome();
    const tab = await home.open("Terminals");
    const { page } = tab;
    await page.getByRole("button", { name: "New terminal" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("made");
    await page.getByRole("dialog").getByRole("button", { name: "Open" }).click();
    await page.getByRole("region", { name: "Screen of made" }).waitFor();
    await page.getByRole("button", { name: "Screen reader" }).click();
    await page.getByLabel("Terminal input").focus();
    await page.keyboard.type('cd; echo "in $PWD"\n');
    await shows(tab, `in ${home.path}`); // The environment in which Holdfast was started.
    const rename = page.getByRole("toolbar").getByRole("button", { name: "Rename" });
    await rename.click();
    await page.getByRole("dialog").getByLabel("New name").fill("named");
    await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
    await page.getByRole("region", { name: "Screen of named" }).waitFor();
    await page.getByRole("button", { name: "Move" }).click();
    await page.getByRole("dialog").getByLabel("Lane").fill("other");
    await page.getByRole("dialog").getByRole("button", { name: "Move" }).click();
    const lane = async () => (await home.json("ls"))[0]?.lane;
    await until("it is in the other lane", async () => (await lane()) === "other", lane);

    await page.getByRole("button", { name: "Search" }).click();
    await page.getByLabel("Search this terminal").fill("nowhere to be found");
    await page.getByText("Not found").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await page.evaluate(PASTE);
    await page
      .getByRole("dialog", { name: /^Paste/ })
      .getByRole("button", { name: "Paste" })
      .click();
    await shows(tab, "twice");

    await page.getByRole("button", { name: "End…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End its program" }).click();
    await page.getByRole("button", { name: "Remove" }).click();
    await until(
      "it is gone",
      async () => (await home.json("ls")).length === 0,
      () => home.json("ls"),
    );
    expect(tab.strange).toEqual([]);
  },
  180_000,
);

/** In a longer profile, 50 of each. */
const KILLS = amount(2, 50);

test.skipIf(!HAS_CHROMIUM)(
  `no key is lost or typed twice while daemon and web host are killed ${KILLS} times each (needs chromium)`,
  async () => {
    const home = new PageHome("[crash_loop]\ncrashes = 1000\n");
    await home.ok("new", "-d", "t", "--", "sh", "-c", "stty -icanon -echo; echo ready; exec cat > typed");
    const tab = await tabWith(home, "t");
    await shows(tab, "ready");
    const random = new SimRandom(home.path.length);
    let typed = "";
    for (let kill = 0; kill < 2 * KILLS; kill += 1) {
      const { daemon, web } = await home.pids();
      const victim = kill % 2 === 0 ? daemon : web;
      for (let key = 0, at = random.int(20); key < 20; key += 1) {
        if (key === at && victim !== null) process.kill(victim, "SIGKILL");
        const letter = String.fromCharCode(97 + random.int(26));
        await tab.page.keyboard.press(letter);
        typed += letter;
      }
      const others = async () => {
        const now = await home.pids();
        const next = kill % 2 === 0 ? now.daemon : now.web;
        return next !== null && next !== victim;
      };
      await until("another one runs", others, () => home.pids());
    }
    const file = () => readFileSync(join(home.path, "typed"), "utf8");
    await until(
      "every key has arrived once",
      () => file() === typed,
      () => ({ typed, file: file() }),
    );
    await tab.page.getByText("Live", { exact: true }).waitFor();
    expect(tab.strange).toEqual([]);
  },
  600_000,
);
