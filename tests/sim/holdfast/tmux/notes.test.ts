// A tmux session that is made again lacks something, and the daemon does not hear that it is whole: it is found later.
import { expect, test } from "bun:test";
import { HoldfastMachine } from "../machine.ts";
import { Site } from "../site.ts";
import { SimTmux, TMUX_SOCKET } from "./client.ts";

const SELF = { argv: ["tmux", "new", "-d"], env: { HOME: "/u", SHELL: "/bin/sh", PATH: "/bin" } };
const ADOPT = {
  path: TMUX_SOCKET,
  name: null,
  directory: null,
  all: false,
  sessions: ["work"],
  policy: "auto",
} as const;
const NOTES = [expect.stringMatching(/^as it was at /), expect.stringContaining("window 0 did not get its titles")];

/** The notes of a session whose titles could not be set, if this happens to the call that makes it whole. */
async function notesAfter(happens: "daemon dies" | "unheard") {
  const machine = new HoldfastMachine(1);
  const tmux = new SimTmux(machine, 0);
  machine.tmux = tmux;
  const site = new Site(machine);
  await site.live();
  tmux.begin(SELF).newSession("work", { cols: 80, rows: 24 }, { cwd: "/u", argv: [] });
  await site.ask("tmux.adopt", ADOPT);
  let [last, isWhole] = ["", false];
  machine.moment = (what) => {
    last = what;
    if (what !== "tmux has carried out rename-session") return;
    if (!isWhole && happens === "daemon dies") site.daemon.born.life.end();
    isWhole = true;
  };
  tmux.trouble = () => {
    const before = last;
    last = "";
    if (before === "tmux has carried out select-layout") return "fails"; // The call that sets titles follows it.
    return before === "tmux has carried out select-window" && happens === "unheard" ? "unheard" : undefined;
  };
  tmux.kill();
  const whole = async () => {
    while (!isWhole) await site.client.sleep(50);
  };
  await machine.during(whole());
  if (happens === "daemon dies") await site.again();
  const back = async () => {
    for (;;) {
      const [care] = await site.client.ask("tmux.list", {});
      if (care?.state.kind === "kept" && care.recreated !== undefined) return care.recreated.notes;
      await site.client.sleep(50);
    }
  };
  return machine.during(back());
}

test.each(["daemon dies", "unheard"] as const)("B3 what a session lacks is named in the end (%s)", async (happens) => {
  expect(await notesAfter(happens)).toEqual(NOTES);
});
