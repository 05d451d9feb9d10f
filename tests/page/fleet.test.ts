// The homes of a fleet on the page, in a real Chromium, with a real PostgreSQL.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { ANNOUNCE, DESCRIBE, ENROL, LOOK, TAKE, type Take } from "../../src/fleet/calls.ts";
import type { Database } from "../../src/fleet/database.ts";
import { putListing } from "../../src/fleet/listings.ts";
import { FleetSeal } from "../../src/fleet/seal.ts";
import type { Listing } from "../../src/wire/fleet/listing.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realRandom } from "../../src/world/real/random.ts";
import { ACTOR } from "../agent/agent-home.ts";
import { endAll } from "../cli/terminal-home.ts";
import { databaseAt, HAS_POSTGRES, startTestServer, type TestServer } from "../fleet/server.ts";
import { until } from "../until.ts";
import { endBrowser, HAS_CHROMIUM, PageHome, PHONE, show, type Tab } from "./browser.ts";
import { issues } from "./issues.ts";

const AT = "2026-01-02T03:04:05.000Z";
const SECRET = "not-for-browsers";
const EVIL = "<img src=x onerror=alert(1)>";

class Fleet {
  readonly server: TestServer;
  readonly home: PageHome;
  readonly place: string;
  readonly database: Database;
  readonly seal: FleetSeal;
  readonly key: string;

  static async start(): Promise<Fleet> {
    return new Fleet(await startTestServer(), mkdtempSync(join(tmpdir(), "hf-page-fleet-")));
  }

  private constructor(server: TestServer, place: string) {
    this.server = server;
    this.place = place;
    this.key = FleetSeal.newFile(realRandom());
    const path = join(place, "fleet.key");
    writeFileSync(path, this.key, { mode: 0o600 });
    const seal = FleetSeal.read({ disk: realDisk(), random: realRandom() }, path);
    if (!seal.ok) throw new Error(seal.error.message);
    this.seal = seal.value;
    this.database = databaseAt(server.url);
    this.home = new PageHome(this.config("web1"));
  }

  /** Of a host with this name. */
  config(host: string): string {
    const { server, place } = this;
    const at = `host=${encodeURIComponent(server.server.place)}&port=${server.port}`;
    const lines = [
      `url = "postgres://postgres:${SECRET}@/postgres?${at}"`,
      `key_file = "${place}/fleet.key"`,
      `host = "${host}"`,
      `homes = "${place}/${host}"`,
      "lease_s = 3",
    ];
    return ["[fleet]", ...lines, ""].join("\n");
  }

  /** A home of another host, which shows this. */
  async add(host: string, name: string, listing: Partial<Listing>, hostId = host): Promise<void> {
    const take: Take = { home: name, epoch: 1, id: `take of ${name}` };
    await this.database.call(ENROL, { home: name, lastSeq: 0 });
    await this.database.call(TAKE, { take, owner: host, leaseMs: 600_000, ifExpired: false });
    await this.show(take, { id: hostId, name: host }, name, listing);
  }

  /** As the standby program of its owner does it. */
  async show(take: Take, host: { id: string; name: string }, name: string, listing: Partial<Listing>): Promise<void> {
    const { database, seal } = this;
    await database.call(DESCRIBE, { take, name, takeover: "auto", host: host.id });
    await database.call(ANNOUNCE, { ...host, labels: [], capacity: 0, version: "1", address: "", takes: [] });
    const none = { terminals: [], runs: [], agents: [], prompts: [] };
    const more = { terminals: 0, runs: 3, agents: 0, prompts: 0 };
    const place = { directory: "/home/ann/work", command: ["holdfast"], ssh: host.name, closed: [] };
    const put = await putListing({ database, seal }, take, { at: AT, ...place, ...none, more, ...listing });
    if (!put.ok) throw new Error(put.error.message);
  }

  /** A home on the same host, with a page of its own. */
  async addNear(name: string): Promise<void> {
    const id = Bun.file(join(this.place, "web1/.host/id.json"));
    const host = await until(
      "the host has an id",
      async () => (await id.exists()) && String((await id.json()).id),
      () => id.name,
    );
    const directory = join(this.place, name);
    const home = { v: 1, id: name, directory: "", path: directory };
    await Bun.write(join(directory, "recovery/home.json"), JSON.stringify(home));
    await Bun.write(join(directory, "run/web.json"), JSON.stringify({ v: 1, pid: 1, url: "http://127.0.0.1:9/" }));
    await this.add("web1", name, { directory }, host);
  }

  /** As an operator may do it by force. */
  async takenBy(host: string, home: string): Promise<Take> {
    const row = await this.database.call(LOOK, home);
    const epoch = row.kind === "done" ? (row.value?.epoch ?? 0) : 0;
    const take: Take = { home, epoch: epoch + 1, id: `of ${host}` };
    const taken = await this.database.call(TAKE, { take, owner: host, leaseMs: 600_000, ifExpired: false });
    if (taken.kind !== "done" || !taken.value) throw new Error(Bun.inspect(taken));
    return take;
  }

  async end(): Promise<void> {
    this.database.drop();
    await this.server.stop();
    rmSync(this.place, { recursive: true, force: true });
  }
}

let fleet: Fleet;

afterAll(endBrowser);
afterAll(endAll, 180_000);

const SHOWN = {
  terminals: [
    {
      id: "t1",
      name: EVIL,
      lane: "main",
      createdAt: AT,
      state: { kind: "running" },
      recipe: { argv: ["vim"], cwd: "/w" },
    },
    {
      id: "t2",
      name: "old",
      lane: "main",
      createdAt: AT,
      state: { kind: "ended" },
      recipe: { argv: ["ls"], cwd: "/w" },
    },
  ],
  agents: [{ id: "a1", name: "fixer", state: "waiting", provider: "claude", createdAt: AT, prompts: [] }],
  runs: [{ id: "r1", name: "nightly", state: "running", startedAt: AT, needs: [], step: 2, steps: 5, error: null }],
  prompts: [
    {
      id: "p1",
      agent: "a1",
      name: "fixer",
      tool: "Bash",
      since: AT,
      deadline: AT,
      state: "open",
      input: { command: EVIL },
    },
  ],
} as unknown as Partial<Listing>;

function row(page: Page, name: string) {
  return page.getByRole("list", { name: "Homes" }).getByRole("listitem").filter({ hasText: name });
}

/** What the host has sent to this tab from now on. */
function received(page: Page): string[] {
  const texts: string[] = [];
  page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => texts.push(String(payload))));
  return texts;
}

function expectNoSecret(texts: readonly string[]): void {
  for (const secret of [SECRET, "postgres://", fleet.key.trim()])
    expect(texts.filter((text) => text.includes(secret))).toEqual([]);
}

async function seenBy(tab: Tab, view: string): Promise<void> {
  expect({ view, issues: await issues(tab) }).toEqual({ view, issues: [] });
}

describe.skipIf(!HAS_CHROMIUM || !HAS_POSTGRES)("with a browser and a database (needs chromium and postgresql)", () => {
  beforeAll(async () => {
    if (HAS_CHROMIUM && HAS_POSTGRES) fleet = await Fleet.start();
  }, 60_000);
  afterAll(() => fleet?.end());

  test("a prompt of a home on another host is answered here, and there", async () => {
    const there = new PageHome(fleet.config("web2"));
    await there.ok("agent", "new", "fixer", "--provider", "scripted", "--", ...ACTOR);
    await there.ok("agent", "send", "fixer", ">> ask Bash make deploy");
    const { page, strange } = await fleet.home.open();
    await page.getByRole("link", { name: / on web1$/ }).click();
    const far = row(page, "on web2");
    await far.getByText("1 prompt open").waitFor();
    await far.getByRole("link").press("Enter");
    const prompt = page.getByRole("article", { name: "fixer asks to use Bash" });
    await prompt.getByText("make deploy").waitFor();
    await prompt.getByRole("button", { name: "Allow Bash for fixer" }).click();
    await page.getByText("Allowed: web2 has it.").waitFor();
    await until(
      "its agent goes on",
      async () => JSON.parse((await there.run("prompts", "--json")).out).length === 0,
      async () => (await there.run("prompts", "--json")).out,
    );
    await prompt.waitFor({ state: "detached" });
    expect(strange).toEqual([]);
  }, 180_000);

  test("where one is, the way to the other homes, and what they show of themselves", async () => {
    const tab = await fleet.home.open();
    const { page, strange } = tab;
    const texts = received(page);
    await fleet.add("web2", "deploy", SHOWN);
    await fleet.add("web3", "reached", { page: "https://{home}.example.org/" });
    await fleet.add("web3", "misled", { page: "javascript:alert(1)" });
    await fleet.addNear("near");
    const isThere = page.getByRole("link", { name: / on web1$/ });
    await isThere.click();
    await page.getByRole("heading", { level: 1, name: "Homes" }).waitFor();
    await row(page, "deploy").getByText("1 terminal · 1 agent · 1 run").waitFor();
    await row(page, "deploy").getByText("1 prompt open").waitFor();
    await row(page, "web1").getByText("you are here").waitFor();
    const leadsTo = (name: string) => row(page, name).getByRole("link").getAttribute("href");
    expect(await leadsTo("reached")).toBe("https://reached.example.org/");
    expect([await leadsTo("misled"), await leadsTo("near")]).toEqual(["#/homes/misled", "http://127.0.0.1:9/"]);
    await seenBy(tab, "homes");
    await page.keyboard.press("Control+k");
    await page
      .getByRole("dialog")
      .getByRole("option", { name: "Go to host web2: deploy" })
      .waitFor({ state: "hidden" });
    await page.keyboard.type("web2: deploy");
    await page.getByRole("dialog").getByRole("option", { name: "Go to host web2: deploy" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "deploy" }).waitFor();
    await page.getByText(/^This is what it had \d+ s ago\.$/).waitFor();
    await page.getByRole("listitem").getByText(EVIL).waitFor(); // As a text.
    expect(await page.locator("main img").count()).toBe(0);
    await page.getByText("3 more are not in what it shows.").waitFor();
    await page.getByRole("article", { name: "fixer asks to use Bash" }).getByText(EVIL).waitFor();
    await seenBy(tab, "a home");
    await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    await seenBy(tab, "a home, dark");
    await page.setViewportSize(PHONE.viewport);
    await seenBy(tab, "a home on a phone");
    await isThere.click();
    await row(page, "deploy").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(PHONE.viewport.width);
    await seenBy(tab, "homes on a phone");
    expectNoSecret(texts);
    expect(strange).toEqual([]);
  }, 180_000);

  test("a home that another host has taken says so at once, and shows what it has there", async () => {
    const { page, strange } = await fleet.home.open();
    const texts = received(page);
    await show({ page, strange }, "Recovery");
    await page.getByRole("button", { name: "Check everything" }).click();
    await page.getByText(/checks? (?:is|are) fine/).click();
    await page.getByRole("listitem").filter({ hasText: "fleet-key" }).first().waitFor();
    await show({ page, strange }, "Terminals");
    const id = String(JSON.parse(await Bun.file(join(fleet.home.path, "recovery/home.json")).text()).id);
    const take = await fleet.takenBy("web9", id);
    await page.getByText("This home is on web9 now.").waitFor();
    await page.getByRole("link", { name: "All homes" }).first().waitFor();
    expect(await page.getByRole("button", { name: "New terminal" }).count()).toBe(0);
    await page.reload();
    await page.getByText("This home is on web9 now.").waitFor();
    await page.getByText("On another host", { exact: true }).waitFor();
    await fleet.show(take, { id: "web9", name: "web9" }, "", { ...SHOWN, page: "https://web9.example.org/" });
    await page.getByText("nightly").waitFor();
    await page.getByRole("link", { name: "All homes" }).first().click();
    await row(page, "on web9").locator('a[href="https://web9.example.org/"]').waitFor();
    await page.getByRole("alert").getByRole("link", { name: "Go to its page" }).waitFor();
    await fleet.server.server.stop();
    await page.getByText("The database of the fleet does not answer.").waitFor();
    expectNoSecret(texts);
    expect(strange).toEqual([]);
  }, 180_000);
});
