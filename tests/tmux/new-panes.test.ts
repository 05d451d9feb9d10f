// New panes of a real tmux: what is saved for them is their own, however early tmux lists them.
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TmuxRun } from "../../src/daemon/tmux/client.ts";
import { until } from "../until.ts";
import { adopt, hasTmux, killServer, live, type TmuxSite, tmuxSites } from "./server.ts";

const site = tmuxSites();

/** What the checkpoint has for each window's first pane. */
function savedPanes(on: TmuxSite, id: string | undefined): { name: string; directory: string; command: string[] }[] {
  const file = JSON.parse(readFileSync(join(on.path, "home/tmux", id ?? "", "checkpoint.json"), "utf8"));
  expect(file.multiplexerSessionName).toBe(file.name);
  const windows: { name: string; panes: { directory: string; command: string[] }[] }[] = file.windows;
  return windows.flatMap(({ name, panes: [pane] }) => (pane === undefined ? [] : [{ name, ...pane }]));
}

test.skipIf(!hasTmux)(
  "a window opened at the moment of a round has its directory and its program (needs tmux)",
  async () => {
    const on = site();
    const directory = join(on.path, "deep");
    mkdirSync(directory);
    on.tmux("new-session", "-d", "-s", "work", "-n", "first", "-c", directory);
    let opened = 0;
    /** tmux lists a window in the same turn in which it forks for it. */
    const wrap = (run: TmuxRun): TmuxRun => {
      return (call) => {
        const isLook = call.commands[0]?.[0] === "list-panes";
        if (!isLook) return run(call);
        opened += 1;
        const open = ["new-window", "-d", "-t", "work:", "-n", `new-${opened}`, "-c", directory, "sleep", "1000"];
        return run({ ...call, commands: [open, ...call.commands] });
      };
    };
    const life = await live(on, { wrap });
    const [care] = await adopt(life, on, "work");
    for (let round = 0; round < 20; round += 1) {
      await life.keeper.round();
      const saved = savedPanes(on, care?.id);
      expect(saved.map((pane) => pane.directory)).toEqual(saved.map(() => directory));
      const begun = saved.filter(({ name }) => name !== "first");
      expect(begun.map(({ command }) => command)).toEqual(begun.map(() => ["sleep", "1000"]));
    }
    expect(savedPanes(on, care?.id).length).toBeGreaterThan(20);
  },
);

test.skipIf(!hasTmux)("the command that recreates a pane is not mistaken for its program (needs tmux)", async () => {
  const on = site();
  const bin = join(on.path, "bin");
  mkdirSync(bin);
  const slow = `if [ "$1" = show-options ]; then until [ -e ${on.path}/go ]; do sleep 0.01; done; fi`;
  writeFileSync(join(bin, "tmux"), `#!/bin/sh\n${slow}\nexec ${Bun.which("tmux")} "$@"\n`, { mode: 0o700 });
  on.tmux("new-session", "-d", "-s", "work");
  on.tmux("set-environment", "-g", "PATH", `${bin}:${on.env["PATH"]}`);
  const life = await live(on);
  const [care] = await adopt(life, on, "work");
  await killServer(on);
  await life.keeper.round();
  const command = () => on.tmux("display-message", "-p", "-t", "work:", "#{pane_start_command}");
  expect(command()).toContain("/bin/sh -c");
  await life.keeper.round(); // Its shell asks tmux how it is started, and has no answer yet.
  expect(savedPanes(on, care?.id)).toMatchObject([{ command: [] }]);
  writeFileSync(join(on.path, "go"), "");
  await until(
    "its shell asks",
    () => /[$#] ?$/.test(on.text("work:")),
    () => on.text("work:"),
  );
  await life.keeper.round();
  expect(savedPanes(on, care?.id)).toMatchObject([{ command: [] }]);
});
