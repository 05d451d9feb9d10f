// How soon the page is whole again after a kill, in a real Chromium in which a terminal is open and typed into.
// web.back.host, web.back.daemon: from the return of what was killed (the host answers a request; the daemon is LIVE)
// until the page is whole: no banner, "Live", what was typed meanwhile is on the screen with its echo, and the terminal
// has the name that it was given after the kill (of the host) or the return (of the daemon). The longest of all kills,
// in milliseconds; the peer is the bar.
import type { Page } from "playwright-core";
import type { Run } from "./benches.ts";
import { signedIn, statusOf, terminal, type Web, withBrowser } from "./browser.ts";
import type { Home } from "./home.ts";
import { median } from "./rounds.ts";
import { costRow } from "./row.ts";
import { until, within } from "./waiting.ts";

const MAX_BACK_MS = 2_000;
/** On a busy machine. */
const RETURN_MS = 120_000;
const KILLS = 50;
const CONFIG = "[crash_loop]\ncrashes = 1000\n";

type Victim = "host" | "daemon";

export const webBack: Run = (names, bench, emit) =>
  withBrowser(bench, CONFIG, async (web) => {
    await web.home.run("new", "-d", "typed", "--", "cat");
    const page = await signedIn(web);
    await terminal(page, "typed");
    let kills = 0;
    for (const victim of ["host", "daemon"] as const) {
      const name = `web.back.${victim}`;
      if (!names.includes(name)) continue;
      const took: number[] = [];
      for (const end = kills + (bench.quick ? 1 : KILLS); kills < end; kills += 1)
        took.push(await backMs(web, page, victim, kills));
      bench.say(`  ${name}: median ${median(took).toFixed(0)} ms, all: ${took.map((ms) => ms.toFixed(0)).join(" ")}`);
      emit(costRow({ name, value: Math.max(...took), unit: "ms", bar: MAX_BACK_MS }));
    }
  });

async function backMs({ home }: Web, page: Page, victim: Victim, kills: number): Promise<number> {
  const { web, daemon } = await statusOf(home);
  const [name, word] = [`name-${kills}`, `word-${kills}.`];
  const whole = page.evaluate(`(${WHOLE_AT})("${name}", "${word}")`);
  const pid = victim === "host" ? web.pid : daemon.pid;
  if (pid === null) throw new Error("the web host does not run");
  process.kill(pid, "SIGKILL");
  const back = until(`another ${victim}`, RETURN_MS, async () => {
    if (victim === "host") return answers(web.url ?? "");
    const now = await home.status();
    return now?.recovery.stage === "LIVE" && now.daemon.pid !== daemon.pid ? Date.now() : undefined;
  });
  const typed = page.keyboard.type(`${word}\n`);
  if (victim === "daemon") await back;
  await rename(home, name);
  await typed;
  return Number(await within(() => "the whole page", RETURN_MS, whole)) - (await back);
}

async function rename(home: Home, name: string): Promise<void> {
  const client = await home.dial();
  const [one] = await home.terminals();
  const done = await client?.call("terminal.rename", { id: one?.id ?? "", name });
  client?.close();
  if (done?.ok !== true) throw new Error(`the terminal could not be renamed: ${done?.error.message}`);
}

/** Refused, but answered: the page's files would have to be built first. */
async function answers(url: string): Promise<number | undefined> {
  try {
    await fetch(`${url}api/socket`);
    return Date.now();
  } catch (error) {
    if (error instanceof Error) return undefined; // Nobody is there.
    throw error;
  }
}

/** Runs in the browser. The word is there twice: as the terminal shows what is typed, and as `cat` repeats it. */
const WHOLE_AT = `(name, word) => new Promise((done) => {
  const textOf = (place) => document.querySelector(place)?.textContent ?? "";
  const look = () => {
    const isWhole =
      document.querySelector(".banner") === null &&
      textOf(".status .state") === "Live" &&
      textOf(".toolbar h1") === name &&
      textOf(".toolbar .state") === "running" &&
      textOf(".xterm-rows").split(word).length === 3;
    if (isWhole) done(Date.now());
    else setTimeout(look, 5);
  };
  look();
})`;
