// `holdfast fleet demo`: three hosts and a private PostgreSQL on this machine, one of which dies.
// FD1. Exit 0 only if everything came back as it should, and nothing was done twice.
// FD2. Whatever happens – an error, Ctrl-C, a closed window – all that was started is ended, and its directory removed;
//      unless it is to be kept. Then it says how it is used, and how it is ended.
// FD3. Only a directory that a demonstration has made is ended and removed.
import { exitCodeOf } from "../../base/exit-code.ts";
import { isFault } from "../../base/fault.ts";
import { baseName, joinPath } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { readWhole, removeTree } from "../../log/file/file.ts";
import type { FleetDemoFlags } from "../../wire/drill.ts";
import type { EndSignal } from "../../world/console.ts";
import { Findings } from "../findings.ts";
import { until } from "../going.ts";
import { newDirectory, stoppable } from "../site.ts";
import { type DemoProgress, FleetDemo, seconds } from "./demo.ts";
import { type PostgresWorld, postgresPrograms } from "./private-postgres.ts";

const PREFIX = "hff";
/** A home that was taken over has a longer path than that of a drill, and sockets below it. */
const MAX_PLACE = 20;
/** FD3 */
const MARK = "demo.json";
const NAME = new RegExp(`^${PREFIX}-[0-9a-f]{8}$`);
const SWEEP_MS = 60_000;

/** Returns the exit code, or what prevents it. */
export async function fleetDemo(world: PostgresWorld, flags: FleetDemoFlags): Promise<Result<number>> {
  if (flags.end !== undefined) return endKept(world, flags.end);
  const told = world.console.told(); // FD2: before anything is started.
  const bin = postgresPrograms(world, flags.postgres);
  if (!bin.ok) return bin;
  const directory = newDirectory(world, PREFIX, MAX_PLACE);
  const { clock, stop } = stoppable(world.clock);
  const progress = progressOf(world, flags.json === true);
  const demo = new FleetDemo({ ...world, clock }, directory, new Findings(), progress);
  let run: Result<undefined> | undefined;
  let signal: EndSignal | undefined;
  let isKept = false;
  try {
    await writeAtomic(world.disk, joinPath(directory, MARK), Buffer.from('{"v":1}\n'));
    const running = demo.run(bin.value);
    running.catch(() => undefined); // The race reports it; after Ctrl-C, errors come from our kills.
    const ended = await Promise.race([running, told]);
    if (typeof ended === "string") signal = ended;
    else run = ended;
    isKept = flags.keep === true && run?.ok === true;
  } finally {
    stop();
    if (!isKept) await sweep(world, demo);
  }
  if (signal !== undefined) return ok(exitCodeOf({ code: null, signal }));
  if (run?.ok === false) return run;
  if (isKept) for (const host of demo.hosts) await host.writeEnvironment();
  await print(world, demo, { kept: isKept ? directory : undefined, json: flags.json === true });
  return ok(demo.findings.none ? 0 : 1); // FD1
}

/** FD2. What was just being started appears later, so it is repeated. Returns whether nothing is left. */
async function sweep(world: PostgresWorld, demo: FleetDemo): Promise<boolean> {
  const { clock, disk } = world;
  const swept = await until(clock, SWEEP_MS, async () => {
    try {
      if (!(await demo.end(clock))) return undefined;
      removeTree(disk, demo.directory);
      return true;
    } catch (error) {
      if (!isFault(error)) throw error;
      return undefined;
    }
  });
  if (swept === undefined) {
    const text = `not everything could be ended or removed: see ${demo.directory}`;
    await world.console.err.write(visible(`holdfast: ${text}\n`));
  }
  return swept === true;
}

/** FD3 */
async function endKept(world: PostgresWorld, given: string): Promise<Result<number>> {
  const directory = world.console.absolute(given);
  const mark = readWhole(world.disk, joinPath(directory, MARK));
  if (mark === undefined || !NAME.test(baseName(directory))) {
    const hint = "Give the directory that `holdfast fleet demo --keep` has printed.";
    return refused("demo-directory", `${directory} is not the directory of a demonstration.`, hint);
  }
  const demo = new FleetDemo(world, directory, new Findings(), progressOf(world, true));
  return ok((await sweep(world, demo)) ? 0 : 1);
}

/** What happens is shown as it happens; with `--json`, to a person only. */
function progressOf({ console, clock }: PostgresWorld, json: boolean): DemoProgress {
  const began = clock.elapsed();
  const tell = async (text: string) => {
    if (!json) await console.out.write(visible(`${text}\n`));
    else if (console.err.tty) await console.err.write(visible(`${text}\n`));
  };
  return { phase: (words) => tell(`[${seconds(clock.elapsed() - began)}] ${words}`), tell };
}

type How = { readonly kept: string | undefined; readonly json: boolean };

async function print({ console }: PostgresWorld, demo: FleetDemo, { kept, json }: How): Promise<void> {
  if (json) return console.out.write(`${visibleLine(JSON.stringify(jsonOf(demo, kept)))}\n`);
  await console.out.write(visible(`${linesOf(demo, kept).join("\n")}\n`));
}

function jsonOf({ hosts, killed, takeover, found, follows, findings }: FleetDemo, kept: string | undefined): object {
  const { lost, doubled, violations } = findings;
  return {
    ...{ hosts: hosts.map(({ name }) => name), killed: killed ?? null, takeover: takeover ?? null },
    ...{ found: found ?? null, follows, lost, doubled, violations, kept: kept ?? null },
  };
}

function linesOf({ takeover, found, findings, hosts, directory }: FleetDemo, kept: string | undefined): string[] {
  const { lost, doubled, violations } = findings;
  const [first] = hosts;
  const times = takeover && `taken after ${seconds(takeover.takenMs)}, live after ${seconds(takeover.liveMs)}`;
  const back = found && `${found.screens} of ${found.terminals} screens as they were; the running step ${found.run}`;
  const prompt = found && `the permission prompt ${found.samePrompt ? "with its id" : "asked again"}, answered once`;
  return [
    "",
    ...(takeover === undefined ? [] : [`${first.name}'s home is on ${takeover.by}: ${times}`]),
    ...(found === undefined ? [] : [`${back}; ${prompt}`]),
    `lost ${lost}, done twice ${doubled}`,
    ...violations.map((words) => `✗ ${words}`),
    ...(kept === undefined ? ["all of it is ended and removed"] : keptLines(directory, takeover?.by, takeover?.home)),
  ];
}

function keptLines(directory: string, by = "bob", home = ""): string[] {
  return [
    `it goes on in ${directory}. To be ${by}, in a shell of its own:`,
    `  . ${joinPath(directory, by)}/environment`,
    "  holdfast fleet ls; holdfast fleet events",
    ...(home === "" ? [] : [`  holdfast ls --home ${home}`]),
    `to end it:  holdfast fleet demo --end ${directory}`,
  ];
}
