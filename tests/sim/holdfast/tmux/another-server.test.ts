// A session is made again, and in the middle of it tmux's server is replaced by another one, with a session of the
// user: its session, windows and panes have the numbers of ours.
import { expect, test } from "bun:test";
import { HoldfastMachine } from "../machine.ts";
import { Site } from "../site.ts";
import { SimTmux, TMUX_SOCKET } from "./client.ts";
import type { Session, TmuxServer } from "./server.ts";

const SELF = { argv: ["tmux", "new", "-d"], env: { HOME: "/u", SHELL: "/bin/sh", PATH: "/bin" } };
const ADOPT = {
  path: TMUX_SOCKET,
  name: null,
  directory: null,
  all: false,
  sessions: ["work"],
  policy: "auto",
} as const;
const SIZE = { cols: 80, rows: 24 };
const WHERE = { cwd: "/u", argv: [] };
/** One for each window, pane and typed command at least. */
const MIN_CALLS = 12;

/** Two windows, and three panes. */
function furnished(server: TmuxServer, name: string): Session {
  const session = server.newSession(name, SIZE, WHERE);
  const { current: window } = session;
  server.split({ window, pane: window.current }, SIZE, WHERE);
  server.newWindow(session, 1, WHERE);
  return session;
}

function looksOf({ windows, current }: Session) {
  return windows.map(({ index, name, automatic, shape, zoomed, panes }, at) => ({
    ...{ index, name, automatic, shape, zoomed, isInFront: windows[at] === current },
    panes: panes.map(({ title, typed }) => ({ title, typed })),
  }));
}

/** What became of the user's session after this call of the re-creation; undefined if there are fewer calls. */
async function changedAt(replaceAt: number) {
  const machine = new HoldfastMachine(1);
  const tmux = new SimTmux(machine, 0);
  machine.tmux = tmux;
  const site = new Site(machine);
  await site.live();
  const work = furnished(tmux.begin(SELF), "work");
  await machine.during(site.client.sleep(100));
  work.current.current.run(["vim", "file"]);
  await site.ask("tmux.adopt", ADOPT);
  let calls = 0;
  let user: { readonly session: Session; readonly before: ReturnType<typeof looksOf> } | undefined;
  machine.moment = (what) => {
    if (user !== undefined || !/^tmux (?!has|list-)/.test(what)) return;
    calls += 1;
    if (calls !== replaceAt) return;
    tmux.kill();
    const session = furnished(tmux.begin(SELF), "mine");
    user = { session, before: looksOf(session) };
  };
  tmux.kill();
  const back = async () => {
    for (;;) {
      const [care] = await site.client.ask("tmux.list", {});
      if (care?.state.kind === "kept" && care.recreated !== undefined && care.trouble === null) return;
      await site.client.sleep(500);
    }
  };
  await machine.during(back());
  return user && { before: user.before, after: looksOf(user.session), names: tmux.server?.sessions.map((s) => s.name) };
}

test("B1 a session of the user on a server that has taken the place of ours is left as it is, at every call", async () => {
  let at = 1;
  for (let found = await changedAt(at); found !== undefined; at += 1, found = await changedAt(at))
    expect([at, found.after, found.names]).toEqual([at, found.before, ["mine", "work"]]);
  expect(at).toBeGreaterThan(MIN_CALLS);
});
