// What happens to runs after the machine went down, according to their files.
import { expect, test } from "bun:test";
import { daemonHomes } from "../daemon/home.ts";
import { boot, powerCut } from "../daemon/power-cut.ts";
import { until } from "../until.ts";
import { Runs } from "./runs.ts";

const newHome = daemonHomes();
const MINUTE = 60_000;

const flow = (policy: string) =>
  [
    `name: ${policy}`,
    `resume: ${policy}`,
    "steps:",
    `  - shell: echo ${policy} >> effects; [ -e go ] || sleep 1000`,
    "    idempotent: true",
    `  - shell: echo ${policy}-2 >> effects`,
  ].join("\n");

test(
  "resume: auto continues after the machine went down, ask waits for a person, never is cancelled; a daemon's death changes nothing",
  async () => {
    const home = newHome();
    const runs = new Runs(home);
    const first = await home.live(boot(1));
    const ids: string[] = [];
    for (const policy of ["auto", "ask", "never"]) ids.push(await runs.begin(flow(policy)));
    const [auto = "", ask = "", never = ""] = ids;
    await until(
      "all run",
      () => runs.lines().length === 3,
      () => runs.lines().length,
    );
    await home.kill(first);
    await home.live(boot(1));
    for (const id of ids) expect((await runs.show(id)).state).toBe("running");
    await powerCut(home);
    // A recovery that is killed halfway must not forget that the machine went down.
    const half = home.start(boot(2));
    await until(
      "it restores, or has: it may be faster than we look",
      () => {
        const { stage, bootId } = JSON.parse(home.text("recovery/recovery-state.json"));
        return bootId === "boot-2" && ["RESTORING", "RECONCILING", "LIVE"].includes(stage);
      },
      () => home.text("recovery/recovery-state.json"),
    );
    await home.kill(half);
    await home.live(boot(2));
    await runs.is(ask, "interrupted");
    await runs.is(never, "cancelled");
    await until(
      "auto runs again",
      () => runs.lines().filter((line) => line === "auto").length >= 2,
      () => runs.lines().filter((line) => line === "auto").length,
    );
    expect(
      runs
        .lines()
        .filter((line) => line !== "auto")
        .sort(),
    ).toEqual(["ask", "never"]);
    await Bun.write(home.file("go"), "");
    await home.must("workflow.resume", { id: ask, force: false });
    await runs.is(ask, "done");
    expect((await home.ask("workflow.resume", { id: never, force: false }))?.ok).toBe(false);
    await home.must("workflow.interrupt", { id: auto });
    await runs.is(auto, "interrupted");
    expect(runs.lines().filter((line) => line.startsWith("ask"))).toEqual(["ask", "ask", "ask-2"]);
  },
  MINUTE,
);

test(
  "the report says of runs that were held back why, and what to do",
  async () => {
    const home = newHome();
    const runs = new Runs(home);
    await home.live(boot(1));
    const ask = await runs.begin(flow("ask"));
    const never = await runs.begin(flow("never"));
    await until(
      "both run",
      () => runs.lines().length === 2,
      () => runs.lines().length,
    );
    await powerCut(home);
    await home.live(boot(2));
    const { items } = await home.report();
    const of = (id: string) => items.filter((item) => item.id === id);
    expect(of(ask)).toMatchObject([{ fate: "needs you", next: `holdfast resume ${ask.slice(0, 8)}` }]);
    expect(of(never)).toMatchObject([{ fate: "could not", next: `holdfast resume ${never.slice(0, 8)} --force` }]);
    expect(of(ask)[0]?.reason).toContain("its file says resume: ask");
  },
  MINUTE,
);
