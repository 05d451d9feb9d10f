// What a person needs to decide about a step: its evidence in Now, also while the daemon is down, and the outcome.
import { afterAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { daemonDown, endBrowser, HAS_CHROMIUM, PageHome } from "./browser.ts";

afterAll(endBrowser);
afterAll(endAll, 180_000);

const UPLOAD = `name: upload
parameters: { bucket: { default: eu-1 } }
steps:
  - id: send
    shell: |
      echo $PPID > holder
      printf 'sent 3 of 7\\033[2J\\n'
      echo 'slow <b>link</b> to' \${bucket} >&2
      sleep 1000
`;

/** A run whose step lost its holder: nobody saw its end. */
async function uncertain(home: PageHome): Promise<number> {
  const file = (name: string) => join(home.path, name);
  writeFileSync(file("upload.yml"), UPLOAD);
  await home.ok("run", "-d", "upload.yml");
  const printed = async () => Object.values(await home.run("logs", "upload")).join("");
  const isWhole = async () => /sent 3 of 7.*slow <b>link/s.test(await printed());
  await until("its holder has kept what it printed", isWhole, printed);
  const holder = Number(readFileSync(file("holder"), "utf8"));
  process.kill(holder, "SIGKILL");
  return holder;
}

test.skipIf(!HAS_CHROMIUM)(
  "an uncertain step shows what ran, what is known and its last lines as plain text, and is decided after a kill of the daemon (needs chromium)",
  async () => {
    const home = new PageHome();
    const { page, strange } = await home.open();
    const holder = await uncertain(home);
    const card = page.getByRole("article", { name: "Unknown outcome of send of upload" });
    await card.getByRole("region", { name: "What ran" }).getByText("sleep 1000").waitFor();
    await card.getByText("eu-1", { exact: true }).waitFor();
    await card.getByText(`Its holder, process ${holder}, is gone and has left no exit code.`).waitFor();
    await card.getByText(/Attempt 1, began \d+ s ago in/).waitFor();
    await card
      .getByRole("region", { name: "Last lines of stdout" })
      .getByText("sent 3 of 7", { exact: true })
      .waitFor();
    const stderr = card.getByRole("region", { name: "Last lines of stderr" });
    expect(await stderr.textContent()).toBe("slow <b>link</b> to eu-1");
    const back = await daemonDown(home);
    await page.getByText("Daemon is down").waitFor();
    await stderr.waitFor();
    const done = card.getByRole("button", { name: "It was done" });
    await page.getByRole("button", { name: "It was done", disabled: true }).waitFor();
    back();
    await page.getByText("Live", { exact: true }).waitFor();
    await done.click();
    await page.getByText("It counts as done; the run goes on.").waitFor();
    await card.waitFor({ state: "detached" });
    const state = async () => (await home.json("workflows"))[0].state;
    await until("the run is done", async () => (await state()) === "done", state);
    expect(strange).toEqual([]);
  },
  180_000,
);

const INDEX = `name: index
mode: mapreduce
map:
  input: items.json
  json_path: $.files[*]
  steps:
    - id: read
      shell: "[ -e fixed ] || { echo cannot read \${item} >&2; exit 4; }"
`;

test.skipIf(!HAS_CHROMIUM)(
  "failed items and a failed run show the item, the error and the last lines, and are tried again (needs chromium)",
  async () => {
    const home = new PageHome();
    const file = (name: string) => join(home.path, name);
    writeFileSync(file("index.yml"), INDEX);
    writeFileSync(file("items.json"), JSON.stringify({ files: ["a.pdf", "b.pdf"] }));
    writeFileSync(file("deploy.yml"), "name: deploy\nsteps:\n  - id: push\n    shell: echo refused >&2; exit 3\n");
    await home.run("run", "index.yml");
    await home.run("run", "deploy.yml");
    const { page, strange } = await home.open();
    const run = page.getByRole("article", { name: "Run deploy failed" });
    await run.getByRole("region", { name: "Last lines of stderr" }).getByText("refused", { exact: true }).waitFor();
    await run.getByText(/It ended with exit code 3 at/).waitFor();
    const items = page.getByRole("article", { name: "Failed items of index" });
    await items.getByText("a.pdf", { exact: true }).first().waitFor();
    await items.getByText("cannot read a.pdf", { exact: true }).waitFor();
    expect(await items.getByText("cannot read b.pdf").count()).toBe(0);
    const second = items.getByRole("listitem").filter({ hasText: "b.pdf" });
    await second.getByText("Evidence").press("Enter");
    await second.getByText("cannot read b.pdf", { exact: true }).waitFor();
    writeFileSync(file("fixed"), "");
    await items.getByRole("button", { name: "Try again: item 1" }).click();
    await page.getByText("Item 1 is tried again.").waitFor();
    await items.getByText("1 item of index failed").waitFor();
    await items.getByRole("button", { name: "Try all again" }).click();
    await items.waitFor({ state: "detached" });
    expect(strange).toEqual([]);
  },
  180_000,
);
