// A session is made again, and in the middle of it another server takes the place of ours, with a real tmux.
import { expect, test } from "bun:test";
import type { TmuxRun } from "../../src/daemon/tmux/client.ts";
import { adopt, hasTmux, killServer, live, type TmuxSite, tmuxSites } from "./server.ts";

const site = tmuxSites();
const LIMIT_MS = 180_000;

/** Two windows, three panes and one more. */
function furnish(on: TmuxSite): void {
  on.tmux("new-session", "-d", "-s", "work", "-n", "edit", "-x", "120", "-y", "40");
  on.tmux("split-window", "-h", "-t", "work:0");
  on.tmux("split-window", "-v", "-t", "work:0.1");
  on.tmux("select-pane", "-t", "work:0.0", "-T", "a title");
  on.tmux("new-window", "-t", "work:4", "-n", "logs", "sleep", "1000");
}

/** A server of the user, whose windows and panes have the numbers of ours; returns what it has. */
async function replaceServer(on: TmuxSite): Promise<string> {
  await killServer(on);
  on.tmux("new-session", "-d", "-s", "somebody's", "-n", "own", "-x", "120", "-y", "40", "cat");
  on.tmux("split-window", "-d", "-t", "=somebody's:0", "cat");
  on.tmux("new-window", "-d", "-t", "=somebody's:1", "-n", "other", "cat");
  return ofSomebody(on);
}

function ofSomebody(on: TmuxSite): string {
  const format =
    "#{window_index} #{window_name} #{window_active} #{window_layout} #{pane_id} #{pane_active} #{pane_title}";
  const panes = on.tmux("list-panes", "-s", "-t", "=somebody's", "-F", format);
  return `${panes}${["%0", "%1", "%2"].map((pane) => on.text(pane)).join("\n")}`;
}

test.skipIf(!hasTmux)(
  "B1 a user's session on a server that started in the middle, with the numbers of ours, is left as it is (needs tmux)",
  async () => {
    const on = site();
    furnish(on);
    let [calls, before] = [0, ""];
    const wrap = (run: TmuxRun): TmuxRun => {
      return async (call) => {
        if (call.commands[0]?.[0] === "list-panes") return run(call);
        calls -= 1;
        if (calls === 0) before = await replaceServer(on);
        return run(call);
      };
    };
    const life = await live(on, { wrap });
    await adopt(life, on, "work");
    let at = 2; // The first call starts the server.
    for (; ; at += 1) {
      await killServer(on);
      calls = at;
      await life.keeper.round();
      calls = 0;
      await life.keeper.round(); // It notices at once, or in the next round.
      if (!on.names().includes("somebody's")) break; // It is built by fewer calls.
      expect([at, on.names(), ofSomebody(on)]).toEqual([at, ["somebody's", "work"], before]);
    }
    expect(at).toBeGreaterThan(10);
  },
  LIMIT_MS,
);
