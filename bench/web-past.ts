// The past in the page, in a real Chromium.
// web.replay: a past screen of a terminal with a tape of 100 MB, from the moment that the address names a time until it
// is drawn, in milliseconds; the slowest of many. The peer is `holdfast replay --at` with the same times, a whole
// command each; its median.
// web.agent.blocked: the longest time that the page's only thread did nothing else while a conversation of 10,000
// entries was opened, scrolled back and left for its end.
// Not measured: the key frames of the tape, which are made before; phones, a slow line.
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { Run } from "./benches.ts";
import { longestTask, signedIn, WATCH_TASKS, type Web, withBrowser } from "./browser.ts";
import { commandMs } from "./home.ts";
import { median } from "./rounds.ts";
import { costRow, type Row, timeRow } from "./row.ts";
import { BEGAN, record } from "./terminal-replay.ts";
import { until } from "./waiting.ts";

const MB = 1_000_000;
const MAX_BLOCKED_MS = 100;
const WAIT_MS = 600_000;

export const webPast: Run = (names, bench, emit) =>
  withBrowser(bench, "[agents]\nsandbox = false\n", async (web) => {
    if (names.includes("web.replay")) emit(await replay(web));
    if (names.includes("web.agent.blocked")) emit(await conversation(web));
  });

async function replay(web: Web): Promise<Row> {
  const { home, bench } = web;
  await home.run("new", "-d", "past", "--", "true");
  const { id } = await until("the terminal has ended", WAIT_MS, async () =>
    (await home.terminals()).find(({ state }) => state.kind === "ended"),
  );
  const last = record(join(home.path, "terminals", id, "tape"), (bench.quick ? 6 : 100) * MB);
  const page = await signedIn(web);
  await page.evaluate(`location.hash = "#/terminals/${id}?at=end"`);
  await page.locator(".screen[data-until]").waitFor();
  const moments = bench.quick ? 5 : 41;
  const times = Array.from({ length: moments }, (_, turn) => {
    return new Date(BEGAN + Math.floor((((turn * 17) % moments) / moments) * (last - BEGAN))).toISOString();
  });
  for (const time of times) {
    let look = 0;
    await until("an exact screen", WAIT_MS, () => isExact(page, id, new Date(Date.parse(time) + ++look).toISOString()));
  }
  const ours: number[] = [];
  for (const time of times) ours.push(await drawn(page, `#/terminals/${id}?at=${time}`));
  await page.context().close();
  const theirs: number[] = [];
  for (const time of times.slice(0, 7))
    theirs.push(await commandMs([...home.words, "replay", "past", "--at", time], home.env));
  bench.say(`  median of ${moments} past screens: ${median(ours).toFixed(0)} ms`);
  return timeRow({
    name: "web.replay",
    value: Math.max(...ours),
    peer: "holdfast replay --at",
    peerValue: median(theirs),
  });
}

/** A tape without key frames is drawn from its last megabyte at first, and they are made meanwhile. */
async function isExact(page: Page, id: string, time: string): Promise<true | undefined> {
  await drawn(page, `#/terminals/${id}?at=${time}`);
  return (await page.getByText("parts may be missing").count()) === 0 || undefined;
}

/** How long it takes until the screen of an address is drawn; runs in the browser. */
async function drawn(page: Page, hash: string): Promise<number> {
  const ms = await page.evaluate(`new Promise((done) => {
    const began = performance.now();
    const seen = new MutationObserver(() => {
      seen.disconnect();
      requestAnimationFrame(() => done(performance.now() - began));
    });
    seen.observe(document.querySelector(".screen"), { attributes: true, attributeFilter: ["data-until"] });
    location.hash = ${JSON.stringify(hash)};
  })`);
  return Number(ms);
}

/** Sixteen lines are an entry. */
const printer = (lines: number) => `
for await (const bytes of Bun.stdin.stream()) {
  if (!new TextDecoder().decode(bytes).includes('"type":"prompt"')) continue;
  for (let at = 0; at < ${lines}; at += 1000) {
    const some = Array.from({ length: 1000 }, (_, more) => JSON.stringify({ type: "text", text: "line " + (at + more) }));
    await Bun.write(Bun.stdout, some.join("\\n") + "\\n");
  }
  await Bun.write(Bun.stdout, JSON.stringify({ type: "done", response: "over" }) + "\\n");
}`;

async function conversation(web: Web): Promise<Row> {
  const { home, bench } = web;
  const command = [process.execPath, "--no-env-file", "--no-install", "-e", printer(bench.quick ? 8_000 : 160_000)];
  await home.run("agent", "new", "long", "--provider", "scripted", "--instructions", "Go.", "--", ...command);
  const listed = async () => {
    const client = await home.dial();
    const found = await client?.call("agent.list", {});
    client?.close();
    return found?.ok === true
      ? found.value.find(({ turns, turnStartedAt }) => turns === 1 && turnStartedAt === null)
      : undefined;
  };
  const { id } = await until("the agent has said everything", WAIT_MS, listed);
  const page = await signedIn(web);
  await page.evaluate(`${WATCH_TASKS} location.hash = "#/agents/${id}"`);
  const said = page.getByRole("region", { name: "Conversation of long" });
  await said.getByText("turn 1 complete").waitFor();
  for (let pages = 0; pages < 80; pages += 1) await scrolledBack(page);
  await said.getByRole("button", { name: "To the end" }).click();
  await said.getByText("turn 1 complete").waitFor();
  const longest = await longestTask(page);
  await page.context().close();
  return costRow({ name: "web.agent.blocked", value: longest, unit: "ms", bar: MAX_BLOCKED_MS });
}

/** Until earlier items are there; runs in the browser. */
async function scrolledBack(page: Page): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    const place = document.querySelector(".conversation");
    const first = place.querySelector("li").id;
    const seen = new MutationObserver(() => {
      if (place.querySelector("li").id === first) return;
      seen.disconnect();
      requestAnimationFrame(() => done());
    });
    seen.observe(place, { childList: true, subtree: true });
    place.scrollTo(0, 0);
  })`);
}
