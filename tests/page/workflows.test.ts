// Workflows on the page, in a real Chromium on one home: a run is started from a file, looked at, decided and set back.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { endBrowser, HAS_CHROMIUM, PageHome, show, type Tab } from "./browser.ts";

let home: PageHome;
const file = (name: string) => join(home.path, name);

beforeAll(() => {
  if (!HAS_CHROMIUM) return;
  home = new PageHome();
  for (const [name, text] of Object.entries(FILES)) writeFileSync(file(name), text);
});
afterAll(endBrowser);
afterAll(endAll, 180_000);

const RELEASE = `name: release
parameters:
  version: { required: true, description: as in the tag }
  publish: { type: boolean, default: false }
  TOKEN: { secret: true }
steps:
  - id: flaky
    shell: 'echo "try $HOLDFAST_TRY"; [ "$HOLDFAST_TRY" = 2 ]'
    retry: { attempts: 2, backoff: 10ms }
  - id: upload
    shell: |
      echo "token of $(printf %s "$TOKEN_OF" | wc -c)"; echo \${version} \${publish}
      while [ ! -e uploaded ]; do date +%N; sleep 0.1; done
    env: { TOKEN_OF: "\${TOKEN}" }
`;

const INDEX = `name: index
mode: mapreduce
setup: [{ id: begin, shell: "true" }]
map:
  input: items.json
  max_parallel: 4
  steps:
    - id: read
      shell: "[ -e fixed ] || { echo cannot read \${item.name} >&2; exit 4; }"
      when: item.n == 7 || item.n == 9
`;

/** Its first step lasts until its checkpoint was saved: which others there are is a matter of time. */
const DEPLOY = `name: deploy
steps:
  - id: build
    shell: while [ ! -e saved ]; do sleep 0.05; done; echo built
  - id: push
    shell: exit 3
`;

const FILES = {
  "release.yml": RELEASE,
  "index.yml": INDEX,
  "items.json": JSON.stringify(Array.from({ length: 300 }, (_, n) => ({ name: `doc-${n}`, n }))),
  "deploy.yml": DEPLOY,
  "broken.yml": "steps:\n  - shel: echo\n",
};

const runs = async (name: string) =>
  ((await home.json("workflows")) as { id: string; name: string; state: string }[]).filter((run) => run.name === name);

async function startForm(tab: Tab, name: string): Promise<void> {
  await show(tab, "Workflows");
  await tab.page.getByRole("button", { name: "Start a workflow…" }).click();
  await tab.page.getByLabel("Workflow file").fill(file(name));
  await tab.page.getByRole("button", { name: "Read it" }).click();
}

async function openRun({ page }: Tab, name: string): Promise<void> {
  await page.getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
}

test.skipIf(!HAS_CHROMIUM)(
  "a run is started from a file with a form of its parameters, and its steps, tries and output are seen live (needs chromium)",
  async () => {
    const tab = await home.open();
    const { page, strange } = tab;
    await startForm(tab, "broken.yml");
    await page.getByRole("dialog").getByText("broken.yml:2:5").waitFor();
    await page.getByLabel("Workflow file").fill(file("release.yml"));
    await page.getByRole("button", { name: "Read it" }).click();
    const dialog = page.getByRole("dialog", { name: "Start release" });
    await dialog.getByRole("button", { name: "Start" }).click(); // The browser asks for what is required.
    await dialog.getByLabel(/^version/).fill("1.2.0 <b>");
    await dialog.getByLabel(/^publish/).selectOption("true");
    expect(await dialog.getByLabel(/^TOKEN/).getAttribute("type")).toBe("password");
    await dialog.getByLabel(/^TOKEN/).fill("hush-hush");
    await dialog.getByRole("button", { name: "Start" }).click();
    await page.getByRole("heading", { level: 1, name: "release" }).waitFor();
    const running = page.getByRole("article", { name: "Running: upload" });
    const output = running.getByRole("region", { name: "Last lines of stdout" });
    const printed = async () => (await output.textContent()) ?? "";
    await until("it has its values", async () => /token of 9\n1.2.0 <b> true/.test(await printed()), printed);
    const before = await printed();
    await until("its output goes on", async () => (await printed()).length > before.length, printed);
    await page.getByRole("button", { name: /^1: flaky succeeded tried ×2/ }).click();
    const step = page.getByRole("article", { name: "Step 1: flaky" });
    await step.getByText("try 2", { exact: true }).waitFor();
    await step.getByRole("button", { name: "Try 1" }).click();
    await step.getByText("try 1", { exact: true }).waitFor();
    await step.getByText(/ended with exit code 1/).waitFor();
    writeFileSync(file("uploaded"), "");
    await page.getByRole("button", { name: /^2: upload succeeded/ }).waitFor();
    await running.waitFor({ state: "detached" });
    expect((await runs("release")).map(({ state }) => state)).toEqual(["done"]);
    expect(Bun.spawnSync(["grep", "-rl", "hush-hush", home.path]).stdout.toString()).toBe("");
    expect(strange).toEqual([]);
  },
);

/** Presses the main button of the dialog, if it can be pressed; runs in the browser. */
const PRESS = "document.querySelector('dialog .primary:not(:disabled)')?.click()";

test.skipIf(!HAS_CHROMIUM)(
  "however often Start is pressed while the daemon is killed, there is one run (needs chromium)",
  async () => {
    const tab = await home.open();
    const { page } = tab;
    await startForm(tab, "deploy.yml");
    const dialog = page.getByRole("dialog", { name: "Start deploy" });
    await dialog.waitFor();
    const { daemon } = await home.pids();
    await page.evaluate(PRESS);
    if (daemon !== null) process.kill(daemon, "SIGKILL"); // It may have been taken, or not.
    const isStarted = async () => {
      await page.evaluate(PRESS);
      return (await page.getByRole("heading", { level: 1, name: "deploy" }).count()) > 0;
    };
    await until("the run is started", isStarted, () => dialog.allTextContents());
    expect(await runs("deploy")).toHaveLength(1);
    await home.ok("checkpoints", "save", "deploy");
    writeFileSync(file("saved"), "");
    await until(
      "it failed",
      async () => (await runs("deploy"))[0]?.state === "failed",
      () => runs("deploy"),
    );
  },
);

test.skipIf(!HAS_CHROMIUM)(
  "a failed run is found by its state, set back to a checkpoint after what is undone was shown, and given up (needs chromium)",
  async () => {
    const tab = await home.open("Workflows");
    const { page, strange } = tab;
    await page.getByLabel("State").selectOption("done");
    await page.getByRole("link", { name: "deploy", exact: true }).waitFor({ state: "detached" });
    await page.getByLabel("State").selectOption("failed");
    await page.getByLabel("Name or id").fill("dep");
    await page.getByLabel("Began in").selectOption("the last hour");
    await openRun(tab, "deploy");
    await page.getByRole("article", { name: "Why deploy failed" }).getByText("It ended with exit code 3.").waitFor();
    await page.getByRole("button", { name: "Roll back…" }).click();
    await page
      .getByRole("button", { name: /step 1 of 2 \(build\)$/ })
      .last()
      .click();
    const undo = page.getByRole("dialog", { name: /^Roll back deploy to/ });
    await undo.getByText(/Their effects\s+remain/).waitFor();
    await undo.getByText("build", { exact: true }).waitFor();
    await undo.getByRole("button", { name: "Roll back" }).click();
    await page.getByText("deploy is set back.").waitFor();
    await page.getByText("No step has ended yet.").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("button", { name: /^2: push failed/ }).waitFor();
    await page.getByRole("button", { name: "Give up…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Give up" }).click();
    await page.getByText("deploy is given up.").waitFor();
    expect((await runs("deploy")).map(({ state }) => state)).toEqual(["cancelled"]);
    expect(strange).toEqual([]);
  },
);

test.skipIf(!HAS_CHROMIUM)(
  "the items of a map are chosen by keyboard, a failed one is tried again, and the rest is cleared (needs chromium)",
  async () => {
    await home.run("run", "index.yml");
    const tab = await home.open("Workflows");
    const { page, strange } = tab;
    await openRun(tab, "index");
    const grid = page.getByRole("application", { name: /^300 items of index/ });
    for (const key of ["ArrowDown", "Home", ...Array(7).fill("ArrowRight")]) await grid.press(key);
    await page.getByText("Item 7: failed.", { exact: true }).waitFor();
    const item = page.getByRole("article", { name: "Item 7" });
    await item.getByText("cannot read doc-7", { exact: true }).waitFor();
    writeFileSync(file("fixed"), "");
    await item.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Item 7: succeeded.", { exact: true }).waitFor();
    await page.getByText("299 of 300 succeeded, 1 failed").waitFor();
    const letters = page.getByRole("region", { name: "Failed items" });
    await letters.getByText("doc-9").waitFor();
    await letters.getByRole("button", { name: "Clear all…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Clear them" }).click();
    await page.getByText("The failed items of index are cleared.").waitFor();
    await letters.getByText("Looking…").waitFor({ state: "detached" });
    await grid.press("End");
    await page.getByText("Item 299: succeeded.", { exact: true }).waitFor();
    expect(strange).toEqual([]);
  },
);
