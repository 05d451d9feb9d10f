// One server of tmux ends in order while its session is looked at; the one on which it is made again is killed at once.
// The gate tries a sample of the kills, others for each commit.
import { expect, test } from "bun:test";
import { sampleOf } from "../../fuzz/profile.ts";
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
/** More than a look takes, and more than it takes until the end of a server is noticed. */
const [LOOKS, ENDS] = [16, 8];
/** Of the kills that follow each end. */
const GATE_ONE_IN = 4;

async function stateAfter(exitAt: number, killAt: number) {
  const machine = new HoldfastMachine(1);
  const tmux = new SimTmux(machine, 0);
  machine.tmux = tmux;
  const site = new Site(machine);
  await site.live();
  const first = tmux.begin(SELF);
  first.newSession("work", { cols: 80, rows: 24 }, { cwd: "/u", argv: [] });
  await site.ask("tmux.adopt", ADOPT);
  let [looks, ends] = [0, -1];
  machine.moment = (what) => {
    looks += 1;
    if (looks === exitAt) first.exit();
    if (ends >= 0) ends += 1;
    if (what === "tmux has carried out rename-session" && ends < 0) ends = 0;
    if (ends === killAt) tmux.kill();
  };
  await machine.during(site.client.call("tmux.adopt", ADOPT));
  const look = async () => {
    for (;;) {
      const [care] = await site.client.ask("tmux.list", {});
      if (care?.state.kind === "ended" || (tmux.server?.sessions[0]?.name === "work" && ends > killAt)) return care;
      if (ends < 0 && looks > 10_000) return undefined;
      await site.client.sleep(50);
    }
  };
  return (await machine.during(look()))?.state.kind;
}

test("K6 a server that is killed after the one before it ended in order takes no session along", async () => {
  const ended: (readonly number[])[] = [];
  for (let exitAt = 1; exitAt <= LOOKS; exitAt += 1)
    for (const killAt of sampleOf([...Array(ENDS).keys()], GATE_ONE_IN, exitAt))
      if ((await stateAfter(exitAt, killAt)) === "ended") ended.push([exitAt, killAt]);
  expect(ended).toEqual([]);
});
