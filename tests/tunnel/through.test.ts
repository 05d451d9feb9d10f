// From a real browser through a real relay to a real home, and everything on the way killed with -9.
import { afterAll, afterEach, expect, test } from "bun:test";
import { errors } from "playwright-core";
import { endAll } from "../cli/terminal-home.ts";
import { attach, endBrowser, HAS_CHROMIUM, newTab, show, type Tab } from "../page/browser.ts";
import { until } from "../until.ts";
import { FarHome, RelayProcess } from "./far-home.ts";
import { serveFiles } from "./file-server.ts";
import { askDesk, newDirectory } from "./relay-site.ts";

/** A button that cannot be used for so long is looked at again. */
const CLICK_MS = 2_000;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(endBrowser);
afterAll(endAll);

class TabHome extends FarHome {
  /** A tab on another machine, as it were. */
  async far(...rights: readonly string[]): Promise<Tab> {
    const tab = await newTab();
    await tab.page.goto((await this.json("pair", "--name", "phone", ...rights)).url);
    await live(tab);
    return tab;
  }

  /** As a person does who sees it waiting still: after a kill, the page may not know yet that a click was lost. */
  async allowed(tab: Tab, name: string): Promise<string> {
    const log = () => this.ok("agent", "log", name);
    const isAnswered = async () => (await log()).includes("> allow") || (await clicked(tab, name));
    await until(`${name} has its answer`, isAnswered, log);
    return log();
  }
}

async function live({ page }: Tab): Promise<void> {
  await page.getByText("Live", { exact: true }).waitFor();
}

function card({ page }: Tab, name: string) {
  return page.getByRole("article", { name: `${name} asks to use Bash` });
}

function allow(tab: Tab, name: string) {
  return card(tab, name).getByRole("button", { name: /^Allow/ });
}

/** Returns false: whether it was answered is in the log. */
async function clicked(tab: Tab, name: string): Promise<false> {
  try {
    if (await allow(tab, name).isEnabled({ timeout: CLICK_MS })) await allow(tab, name).click({ timeout: CLICK_MS });
  } catch (error) {
    if (!(error instanceof errors.TimeoutError)) throw error; // It was answered meanwhile, or cannot be for now.
  }
  return false;
}

async function started(...flags: readonly string[]): Promise<{ relay: RelayProcess; home: TabHome }> {
  const [relay, home] = [new RelayProcess(closers, "1s", { flags }), new TabHome()];
  await relay.serve();
  await home.enrol(relay);
  return { relay, home };
}

test.skipIf(!HAS_CHROMIUM)(
  "TN-1(a,b) PR-3(b) a prompt is answered through the relay exactly once, with relay, daemon, web host and browser killed on the way (needs chromium)",
  async () => {
    const { relay, home } = await started();
    const tab = await home.far();
    await home.askedBy("one", "make one");
    await card(tab, "one").waitFor();
    await relay.crash(); // The prompt is shown, and not answered.
    await home.connected();
    await live(tab);
    const { daemon, web } = await home.pids();
    for (const pid of [daemon, web]) if (pid !== null) process.kill(pid, "SIGKILL");
    await home.connected();
    await live(tab);
    await home.allowed(tab, "one");

    await home.askedBy("two", "make two");
    await card(tab, "two").waitFor();
    const { url } = await home.tunnel();
    await tab.page.goto("about:blank"); // The tab is gone; what the device knows stays.
    await tab.page.goto(url);
    await live(tab);
    await allow(tab, "two").click();
    await relay.crash(); // The answer may have arrived, or not.
    await home.connected();
    await live(tab);
    for (const log of [await home.ok("agent", "log", "one"), await home.allowed(tab, "two")]) {
      expect(log.match(/: allow, by/g)).toHaveLength(1);
      expect(log.match(/> allow/g)).toHaveLength(1);
    }
    expect(tab.strange).toEqual([]);
  },
);

/** What the palette has that changes something. */
async function offered({ page }: Tab): Promise<string[]> {
  await page.keyboard.press("Control+k");
  const names = await page.getByRole("option").allTextContents();
  await page.keyboard.press("Escape");
  return names.filter((name) => /^(?:Answer|New|Rename|Move|End|Leave)/.test(name));
}

test.skipIf(!HAS_CHROMIUM)(
  "a device that may only look sees the prompt, is offered nothing else, and types nothing; signed out, it is closed at once (needs chromium)",
  async () => {
    const { home } = await started();
    await home.ok("new", "-d", "shell", "--", "cat");
    const tab = await home.far("--rights", "look");
    await home.askedBy("one", "make");
    await card(tab, "one").getByText("This device may not answer it.").waitFor();
    await card(tab, "one").focus();
    await tab.page.keyboard.press("w");
    expect(await card(tab, "one").getByRole("button").count()).toBe(0);
    expect(await offered(tab)).toEqual([]);
    await show(tab, "Access");
    await tab.page.getByText("this browser", { exact: true }).waitFor();
    await tab.page.getByText("Connected", { exact: true }).waitFor(); // The tunnel.
    await tab.page.getByText("may look", { exact: true }).waitFor();
    expect(await tab.page.getByRole("main").getByRole("button").count()).toBe(0);
    await show(tab, "Terminals");
    await tab.page.getByText("shell").first().click();
    await tab.page.getByText("look only").waitFor();
    await tab.page.getByText("running").first().waitFor();
    await tab.page.getByLabel("Terminal, look only").focus();
    await tab.page.keyboard.type("typed from afar\n");
    expect(await tab.page.getByRole("toolbar").getByRole("button").allTextContents()).toEqual([
      "Search",
      "Screen reader",
    ]);
    await home.ok("send", "shell", "by the owner");
    await tab.page.getByText("by the owner").first().waitFor();
    expect(await home.ok("history", "shell")).not.toContain("typed");
    expect(JSON.parse(await home.ok("prompts", "--json"))).toHaveLength(1);

    const [device] = await home.json("devices", "ls");
    expect(device).toMatchObject({ name: "phone", kind: "paired", rights: "look" });
    await home.ok("devices", "revoke", device.id);
    await tab.page.getByText("holdfast pair").first().waitFor(); // How it gets in again.
    expect(tab.strange).toEqual([]);
  },
);

test.skipIf(!HAS_CHROMIUM)(
  "a page that was exported to another origin types into a terminal; from an origin that was not named it gets no connection (needs chromium)",
  async () => {
    const directory = newDirectory(closers);
    const port = serveFiles(directory, closers, {});
    const { home } = await started("--allow-origin", `http://127.0.0.1:${port}/`);
    await home.ok("new", "-d", "shell", "--", "cat");
    await home.ok("page", "export", directory);
    const url = new URL((await home.json("pair", "--page", `http://127.0.0.1:${port}/`)).url);
    expect(url.port).toBe(`${port}`);

    const stranger = await newTab();
    await stranger.page.goto(url.href.replace("127.0.0.1", "localhost"));
    await stranger.page.getByText("There is no connection to the home.").waitFor();
    const tab = await newTab();
    await tab.page.goto(url.href);
    await live(tab);
    await show(tab, "Terminals");
    await attach(tab, "shell");
    await tab.page.keyboard.type("typed from afar\n");
    await until(
      "it has arrived",
      async () => (await home.ok("history", "shell")).includes("typed from afar"),
      () => home.ok("history", "shell"),
    );
    expect([...tab.strange, ...stranger.strange]).toEqual([]);

    const framing = await newTab();
    await framing.page.setContent(`<iframe src="${url.origin}/"></iframe>`);
    await framing.page.frameLocator("iframe").getByText("This page is shown inside of another one").waitFor();
  },
);

/** Whether it is in safe mode; if it is not, its daemon is killed once more. */
async function isSafe(home: FarHome): Promise<boolean> {
  const { active } = await home.json("safe-mode", "status");
  const { daemon } = await home.pids();
  if (!active && daemon !== null) process.kill(daemon, "SIGKILL");
  return active;
}

test("TN-3(b) SM-3(c) a revoked home is cut off and says so; tunnel off and safe mode disconnect it", async () => {
  const { relay, home } = await started();
  await home.ok("tunnel", "off");
  const isOff = async () => (await home.tunnel()).state === "Disconnected";
  await until("it is off", isOff, () => home.tunnel());
  await home.ok("tunnel", "on");
  await home.connected();

  await until(
    "safe mode",
    () => isSafe(home),
    () => home.pids(),
  );
  await until("it is off", isOff, () => home.tunnel());
  expect((await home.tunnel()).next).toContain("safe-mode exit");
  await home.ok("safe-mode", "exit");
  await home.connected();

  const { id } = await home.tunnel();
  await askDesk(relay.home, { method: "revoke", home: id });
  await until(
    "it has ended",
    async () => (await home.tunnel()).state === "Ended",
    () => home.tunnel(),
  );
  expect((await home.tunnel()).why).toContain("revoked");
  await home.ok("tunnel", "enroll", `localhost:${relay.port}`, await relay.token());
  await home.connected();
});
