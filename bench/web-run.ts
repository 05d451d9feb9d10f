// web.run: a run of 10,000 steps and one with a map of 10,000 items in the page, in a real Chromium: each is opened
// from the list; its timeline is scrolled from end to end in 200 jumps, its grid by keys and by 200 jumps, and a step
// and an item are chosen. The longest task of the page's only thread in all of this, in ms, median of the rounds;
// the peer is the same with 10 steps and 10 items, right after it. The bar is 100 ms. Browsers report tasks from 50 ms
// on: 0 means that none was as long.
// Not measured: a run that goes on meanwhile, phones, a slow line.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { Run } from "./benches.ts";
import { longestTask, signedIn, WATCH_TASKS, type Web, withBrowser } from "./browser.ts";
import { median } from "./rounds.ts";
import { countRow } from "./row.ts";
import { WorkflowHome } from "./workflow-home.ts";

const JUMPS = 200;
const KEYS = 40;

const steps = (many: number) =>
  `name: steps-${many}\nsteps:\n${Array.from({ length: many }, (_, at) => `  - set: { v: ${at} }\n`).join("")}`;
const items = (many: number) => `name: items-${many}
mode: mapreduce
map:
  input: items-${many}.json
  max_parallel: 8
  steps:
    - set: { result: "\${item.name}" }
`;

export const webRun: Run = ([name = ""], bench, emit) =>
  withBrowser(bench, "", async (web) => {
    const [many, rounds] = bench.quick ? [300, 1] : [10_000, 5];
    const flows = new WorkflowHome(web.home);
    for (const size of [many, 10]) {
      const list = Array.from({ length: size }, (_, at) => ({ name: `item-${at}` }));
      writeFileSync(join(web.home.path, `items-${size}.json`), JSON.stringify(list));
      for (const text of [steps(size), items(size)]) await flows.ended(await flows.begin(text));
    }
    const [ours, theirs] = [[] as number[], [] as number[]];
    for (let round = 0; round < rounds; round += 1) {
      ours.push(await longest(web, many));
      theirs.push(await longest(web, 10));
    }
    const cpu = await longestCpu(web, many);
    bench.say(`  the longest task of each round: ${ours.map((ms) => ms.toFixed(0)).join(" ")} ms`);
    bench.say(`  in one more round, as CPU time of the page's thread: ${cpu.toFixed(0)} ms`);
    const figures = { value: median(ours), peer: "a run of 10 steps and 10 items", peerValue: median(theirs) };
    emit(countRow({ name, ...figures }, "ms"));
  });

async function longest(web: Web, many: number): Promise<number> {
  const page = await signedIn(web);
  await page.evaluate(WATCH_TASKS);
  await lookThrough(page, many);
  const found = await longestTask(page);
  await page.context().close();
  return found;
}

/** The same as CPU time, from a trace: on a busy machine a task mostly waits for a core. */
async function longestCpu(web: Web, many: number): Promise<number> {
  const page = await signedIn(web);
  await web.browser.startTracing(page, { categories: ["devtools.timeline", "disabled-by-default-devtools.timeline"] });
  await lookThrough(page, many);
  const { traceEvents } = JSON.parse((await web.browser.stopTracing()).toString()) as { traceEvents: Traced[] };
  await page.context().close();
  const threads = traceEvents.filter(({ args }) => args?.name === "CrRendererMain").map(({ tid }) => tid);
  const tasks = traceEvents.filter(({ name, tid }) => name === "RunTask" && threads.includes(tid));
  return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur / 1000));
}

/** `tdur` is the CPU time in microseconds. */
type Traced = {
  readonly name: string;
  readonly tid: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
};

async function lookThrough(page: Page, many: number): Promise<void> {
  await runOf(page, `steps-${many}`);
  const rows = page.getByRole("list", { name: "Steps" }).getByRole("button");
  await rows.first().click();
  await page.evaluate(`(${SCROLL})(".timeline-box", ${JUMPS})`);
  await rows.last().click();
  await runOf(page, `items-${many}`);
  const grid = page.getByRole("application");
  for (let key = 0; key < KEYS; key += 1) await grid.press(key % 2 === 0 ? "ArrowDown" : "End");
  await page.evaluate(`(${SCROLL})(".item-box", ${JUMPS})`);
  await page.getByRole("article", { name: `Item ${many - 1}` }).waitFor();
}

async function runOf(page: Page, name: string): Promise<void> {
  await page.getByRole("navigation").getByRole("link", { name: "Workflows" }).click();
  await page.getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
}

/** From the beginning to the end, a jump for each frame; runs in the browser. */
const SCROLL = `(place, jumps) => new Promise((done) => {
  const box = document.querySelector(place);
  const length = box.scrollHeight;
  let at = 0;
  const jump = () => {
    box.scrollTop = (length * at) / jumps;
    at += 1;
    if (at > jumps) done();
    else requestAnimationFrame(jump);
  };
  jump();
})`;
