// What `holdfast bench` times, the empty script first: commands from their start to their end, and `attach` until the
// program's earlier output is in the window.
import { joinPath } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { realChildren } from "../../world/real/children.ts";
import { within } from "../../world/wait.ts";
import { askProgram } from "../brief.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";

export type Place = { readonly directory: string; readonly empty: string };
/** `timed` resolves with milliseconds; with undefined if it did not work. */
export type Contestant = { readonly name: string; readonly timed: () => Promise<number | undefined> };

type Words = readonly [string, ...string[]];

const ENTRY = "/src/cli/main.ts";
const LIMIT_MS = 30_000;
const MARK = "@painted@";
const PROGRAM = ["sh", "-c", `echo ${MARK}; exec cat`] as const;
const SIZE = { cols: 80, rows: 24 } as const;

/** As people start it; a program in one file is its own launcher. */
function launcher({ self }: DaemonCommandWorld): Words {
  const [first, ...rest] = self.command("src/cli/main.ts");
  const root = rest.find((word) => word.endsWith(ENTRY))?.slice(0, -ENTRY.length);
  return root === undefined ? [first, ...rest] : [`${root}/holdfast`];
}

function emptyWords({ self }: DaemonCommandWorld, { empty }: Place): Words {
  const [first, ...rest] = self.command("src/cli/main.ts");
  return [first, ...rest.map((word) => (word.endsWith(ENTRY) ? empty : word))];
}

function environmentOf({ self }: DaemonCommandWorld, { directory }: Place): Record<string, string> {
  const { PATH = "/usr/bin:/bin" } = self.environment();
  const home = joinPath(directory, "home");
  const config = joinPath(directory, "none.toml");
  return {
    PATH,
    HOME: directory,
    SHELL: "/bin/sh",
    TERM: "xterm-256color",
    HOLDFAST_HOME: home,
    HOLDFAST_CONFIG: config,
  };
}

/** Opens a terminal for `attach`; returns what ends it all. */
export async function prepared(world: DaemonCommandWorld, place: Place): Promise<Result<() => Promise<void>>> {
  const ours = launcher(world);
  const run = (...words: readonly string[]) => runMs(world, place, [...ours, ...words]);
  const end = async () => void (await run("down", "--kill"));
  if ((await run("up")) !== undefined && (await run("new", "-d", "here", "--", ...PROGRAM)) !== undefined)
    return ok(end);
  await end();
  return refused("failed", "A home for the measurement could not be started.", "holdfast doctor");
}

export function contestants(world: DaemonCommandWorld, place: Place): readonly Contestant[] {
  const ours = launcher(world);
  const run = (...words: readonly string[]) => runMs(world, place, [...ours, ...words]);
  const fresh = async () => {
    const ms = await run("new", "-d", "fresh", "--", "sleep", "100000");
    return (await run("rm", "--force", "fresh")) === undefined ? undefined : ms;
  };
  return [
    { name: "an empty script", timed: () => runMs(world, place, emptyWords(world, place)) },
    { name: "holdfast --version", timed: () => run("--version") },
    { name: "holdfast ls", timed: () => run("ls") },
    { name: "holdfast attach", timed: () => paintedMs(world, place, [...ours, "attach", "here"]) },
    { name: "holdfast new -d", timed: fresh },
  ];
}

async function runMs(world: DaemonCommandWorld, place: Place, argv: Words): Promise<number | undefined> {
  const began = world.clock.elapsed();
  const ended = await askProgram(world, { argv, env: environmentOf(world, place), ms: LIMIT_MS });
  return ended.kind === "ended" && ended.code === 0 ? world.clock.elapsed() - began : undefined;
}

async function paintedMs(world: DaemonCommandWorld, place: Place, argv: Words): Promise<number | undefined> {
  const { clock } = world;
  const painted = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<undefined>();
  const began = clock.elapsed();
  let seen = "";
  const output = (bytes: Uint8Array) => {
    seen += new TextDecoder("latin1").decode(bytes);
    if (seen.includes(MARK)) painted.resolve(clock.elapsed() - began);
  };
  const window = realChildren().pty({ argv, cwd: "/", env: environmentOf(world, place) }, SIZE, {
    output,
    ended: () => ended.resolve(undefined),
  });
  const ms = await within(clock, LIMIT_MS, Promise.race([painted.promise, ended.promise]));
  window.signal("SIGKILL");
  await within(clock, LIMIT_MS, ended.promise);
  return ms;
}
