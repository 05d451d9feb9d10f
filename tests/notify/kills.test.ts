// Prompts while daemon, web host and push service are killed at random: each is shown, in the end once for each browser
// and replaced when it is answered, and none is answered twice.
// KI1. The agents outlive daemons, so a daemon that starts finds prompts that nobody was called about, prompts that
//      were answered while it died, and notifications whose replies were lost.
// KI2. The web host takes part in answers: phones give theirs through it, as their service workers do.
import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { AGENT_PATIENCE_MS } from "../agent/agent-home.ts";
import { amount, seeded } from "../sim/fuzz/profile.ts";
import type { SimRandom } from "../sim/random.ts";
import { until } from "../until.ts";
import { NotifyHome } from "./notify-home.ts";
import { type Browser, PushServer } from "./push-server.ts";
import { WebHostProcess } from "./web-host.ts";

const PROMPTS = amount(12, 1_000);
const AGENTS = amount(2, 20);

const push = await PushServer.open();
const home = new NotifyHome(push);
const config = home.file("web.toml");
writeFileSync(config, ""); // That of the home has no page.
const host = new WebHostProcess(home.path, { PATH: process.env["PATH"] ?? "", HOLDFAST_CONFIG: config });

afterAll(async () => {
  await host.kill();
  await home.close();
  await push.close();
});

/** Kills one of the three now and then, and starts it again. */
async function disturb(random: SimRandom): Promise<void> {
  const chance = random.int(10);
  if (chance < 2) {
    home.daemon.process.kill("SIGKILL");
    await home.daemon.process.exited;
    home.start();
  } else if (chance < 4) {
    await push.kill();
    await push.start();
  } else if (chance < 6) {
    await host.kill();
    host.start();
  } else if (chance < 7) {
    push.breaks = () => {
      push.breaks = () => false; // Once.
      return true;
    };
  }
}

/** KI2. By both phones at once: one of them is first. */
async function answerByPhones(prompt: string, random: SimRandom): Promise<void> {
  const both = Promise.all(["phone", "desk"].map((name) => host.answer(home.token(name), prompt)));
  await disturb(random);
  const codes = (await both).map((done) => (done.ok ? "ok" : done.error.code)).toSorted();
  expect([
    ["answered", "ok"],
    ["answered", "answered"],
  ]).toContainEqual(codes);
}

/** In a shell, until it is taken: the daemon may be dying. */
async function answer(prompt: string): Promise<void> {
  await until(
    `${prompt} is answered`,
    async () => {
      const done = await home.answer(prompt).catch(() => undefined); // The daemon died meanwhile.
      return done?.ok === true || (done !== undefined && !done.ok && done.error.code === "answered");
    },
    () => home.daemon.said(),
    AGENT_PATIENCE_MS,
  );
}

async function answerAll(prompts: readonly string[], random: SimRandom): Promise<void> {
  for (const prompt of prompts) await (random.int(2) > 0 ? answerByPhones(prompt, random) : answer(prompt));
}

async function openPrompts(): Promise<string[]> {
  const listed = await home.ask("prompt.list", {}).catch(() => undefined); // The daemon died meanwhile.
  return listed?.ok === true ? listed.value.map(({ id }) => id) : [];
}

async function isShown(browsers: readonly Browser[], prompt: string, kind: "question" | "end"): Promise<void> {
  for (const browser of browsers) {
    await until(
      `${kind} of ${prompt}`,
      async () => {
        await push.start();
        return browser.shown.get(prompt)?.kind === kind;
      },
      () => ({ shown: browser.shown.get(prompt), wrong: push.wrong, said: home.daemon.said().slice(-500) }),
      AGENT_PATIENCE_MS,
    );
  }
}

/** Those that were not answered yet, as soon as there are any. */
function newPrompts(answered: ReadonlySet<string>): Promise<string[]> {
  return until(
    "a prompt",
    async () => {
      const open = (await openPrompts()).filter((id) => !answered.has(id));
      return open.length > 0 && open;
    },
    () => [answered.size, home.daemon.said().slice(-500)],
    AGENT_PATIENCE_MS,
  );
}

/** Whoever shows one of them shows its end, and nothing else is shown. */
async function isOver(browser: Browser, answered: ReadonlySet<string>): Promise<void> {
  for (const prompt of browser.shown.keys()) {
    expect(answered.has(prompt)).toBe(true);
    await isShown([browser], prompt, "end");
  }
}

test("every prompt is shown by every browser, and its end in the same place, whatever is killed", async () => {
  const random = seeded(37);
  await home.live();
  host.start();
  const browsers = [await home.subscribed("phone"), await home.subscribed("desk")];
  const agents: string[] = [];
  for (let at = 0; at < AGENTS; at += 1) agents.push(await home.agent(`agent-${at}`));
  const rounds = Math.ceil(PROMPTS / AGENTS);
  for (const agent of agents) await home.say(agent, ">> ask Bash ls\n".repeat(rounds));
  const answered = new Set<string>();
  while (answered.size < rounds * AGENTS) {
    const found = await newPrompts(answered);
    await disturb(random);
    if (random.int(3) > 0) for (const prompt of found) await isShown(browsers, prompt, "question");
    await disturb(random);
    await answerAll(found, random);
    for (const prompt of found) answered.add(prompt);
  }
  await home.isLive(home.daemon);
  for (const browser of browsers) await isOver(browser, answered);
  expect(push.wrong).toEqual([]);
  expect(push.keys.size).toBe(1); // Every daemon had the same key.
  for (const agent of agents) {
    await home.rests(agent, 1);
    await home.logged(agent, "prompt.answered", rounds); // Each once.
  }
  console.log(`prompts called about: ${answered.size}, shown ${browsers.map(({ shown }) => shown.size).join(" and ")}`);
});
