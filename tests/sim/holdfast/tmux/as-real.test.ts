// The simulated tmux answers as the real one does, to the command lines that the daemon uses (needs tmux).
// AR1. Only numbers that no two machines share are left out: pids, times, and where the cursor is.
import { expect, test } from "bun:test";
import { listFormat, parseEnvironment, parseList } from "../../../../src/wire/tmux-list.ts";
import { hasTmux, tmuxSites } from "../../../tmux/server.ts";
import { HoldfastMachine } from "../machine.ts";
import { SimTmux, TMUX_SOCKET } from "./client.ts";

const site = tmuxSites();
const WORD = "0123456789ab";
const IDS = "#{session_id} #{window_id} #{pane_id} #{window_index}";
const PROGRAM = ["--", "/bin/sh", "-c", "sleep 1000", "/screen"];
const TARGET = ["-t", "=half"];

/** In order; each line is the commands of one client. */
const LINES: readonly (readonly (readonly string[])[])[] = [
  [["list-panes", "-a", "-F", "#{pid}"]],
  [["new-session", "-d", "-s", "half", "-x", "80", "-y", "24", "-P", "-F", IDS, "-c", "/usr", ...PROGRAM]],
  [["new-session", "-d", "-s", "half", ...PROGRAM]],
  [["move-window", "-s", "@0", "-t", "$0:3"]],
  [["new-window", "-d", "-t", "$0:5", "-P", "-F", IDS, "-c", "/usr/bin", ...PROGRAM]],
  [["new-window", "-d", "-t", "$0:5", "-P", "-F", IDS, "-c", "/usr/bin", ...PROGRAM]],
  [
    ["split-window", "-d", "-P", "-F", IDS, "-t", "%1", "-c", "/", ...PROGRAM],
    ["select-layout", "-t", "@1", "tiled"],
  ],
  [["display-message", "-p", "-t", "%1", "#{window_layout}"]],
  [["select-layout", "-t", "@1", "even-horizontal"]],
  [["display-message", "-p", "-t", "%2", "#{window_layout}"]],
  [["select-layout", "-t", "@1", "4f8a,80x24,0,0[80x11,0,0,1,80x12,0,12,2]"]],
  [["rename-window", "-t", "@1", "--", "a ##b"]],
  [
    ["select-pane", "-t", "%0", "-T", "first"],
    ["select-pane", "-t", "%1", "-T", "##title"],
    ["select-pane", "-t", "%2", "-T", "other"],
    ["select-pane", "-t", "%2"],
    ["resize-pane", "-Z", "-t", "%2"],
  ],
  [["set-option", "-w", "-t", "@0", "automatic-rename", "off"]],
  [["select-window", "-t", "$0:5"]],
  [["select-window", "-t", "$0:9"]],
  [["display-message", "-p", "-t", "%7", "x"]],
  [["display-message", "-p", "-t", "=half:@1.%2", "#{pane_id}"]],
  [["display-message", "-p", "-t", "=nobody:@1.%2", "#{pane_id}"]],
  [["rename-window", "-t", "=half:@0", "--", "first"]],
  [["rename-window", "-t", "=half:@9", "--", "x"]],
  [["rename-window", "-t", "@9", "--", "x"]],
  [["select-pane", "-t", "=half:@0.%2"]],
  [["select-pane", "-t", "=half:@9.%2"]],
  [["select-pane", "-t", "=nobody:@1.%2"]],
  [["select-pane", "-t", "%9"]],
  [["select-window", "-t", "=half:3"]],
  [["select-window", "-t", "=nobody:3"]],
  [["move-window", "-s", "=half:@0", "-t", "=half:7"]],
  [["new-window", "-d", "-t", "=nobody:8", ...PROGRAM]],
  [["rename-session", "-t", "=nobody", "x"]],
  [
    ["set-option", ...["-t", "=half:"], "@holdfast", "some-id"],
    ["rename-session", ...TARGET, "--", "a ##b"],
  ],
  [["list-sessions", "-F", "#{session_name}|#{@holdfast}|#{session_path}"]],
  [["select-layout", "-t", "@0", "c195,80x24,0,0,7"]],
  [["kill-session", ...TARGET]],
];

class Simulated {
  readonly #machine = new HoldfastMachine(1);
  readonly #tmux = new SimTmux(this.#machine, 0);

  /** Exit code, and what it prints. */
  async run(words: readonly string[], env: Record<string, string>): Promise<readonly [number, string]> {
    const said: string[] = [];
    const { promise, resolve } = Promise.withResolvers<number>();
    const ended = (ending: { kind: string; code?: number }) => resolve(ending.code ?? -1);
    const command = { argv: ["tmux", "-u", "-S", TMUX_SOCKET, ...words] as const, cwd: "/", env };
    const output = (bytes: Uint8Array) => void said.push(Buffer.from(bytes).toString());
    this.#tmux.start(command, { output, ended }, this.#machine.born().life);
    const code = await this.#machine.during(promise);
    return [code, said.join("").replaceAll(TMUX_SOCKET, "SOCKET")];
  }
}

test.skipIf(!hasTmux)("the simulated tmux answers every command as the real one does (needs tmux)", async () => {
  const on = site();
  const simulated = new Simulated();
  const real = (words: readonly string[]) => {
    const { exitCode, stdout, stderr } = on.try(...words);
    return [exitCode, `${stdout}${stderr}`.replaceAll(on.socket, "SOCKET")] as const;
  };
  for (const commands of LINES) {
    const words = commands.flatMap((one, at) => (at > 0 ? [";", ...one] : one));
    expect([words, ...(await simulated.run(words, on.env))]).toEqual([words, ...real(words)]);
  }
  const words = ["list-panes", "-a", "-F", listFormat(WORD)];
  const panes = [await simulated.run(words, {}), real(words)].map(
    ([, text]) =>
      parseList(text, WORD)?.map(({ serverPid, pid, activity, cursor, history, directory, ...same }) => same), // AR1
  );
  expect(panes[0]).toEqual(panes[1]);
  expect(panes[0]?.length).toBe(3);
  const [mine, theirs] = [
    await simulated.run(["show-environment", "-g", "-s"], {}),
    real(["show-environment", "-g", "-s"]),
  ];
  expect(parseEnvironment(mine[1])).toEqual(on.env);
  expect(parseEnvironment(theirs[1])).toMatchObject(on.env);
});
