// `holdfast logs RUN [--step STEP]`: the output of a run's steps: stdout to our stdout, stderr to our stderr.
// SL1. All attempts in order, of all steps or of one, a single one, or those of one item; if there are several, each is
//      announced on stderr.
// SL2. If the files of an attempt are gone, the output that the log has kept is shown, with a note.
//      So it is if retention has removed the beginning of the log.
// SL3. For an attempt that an agent works on, the agent's turns are shown like in `agent log`.
// SL4. --follow continues with new output, also of new attempts, until the run stops or Ctrl-C.

import { endedText } from "../../base/exit-code.ts";
import { localTime } from "../../base/local-time.ts";
import { ok, refused } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import { attemptNumber, sessionOf } from "../../core/workflow/run.ts";
import { AttemptTape, wholeText } from "../../home/held/attempt-tape.ts";
import { attemptPathNow } from "../../log/session/places.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import type { Output } from "../../world/console.ts";
import { pause } from "../../world/wait.ts";
import { EXIT, type Exit } from "../command-world.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { steadyView } from "../log/view.ts";
import { look } from "../look.ts";
import { Printer, say } from "../print.ts";
import { AgentTurns } from "./agent-turns.ts";
import { findRun, isUnderWay } from "./rows.ts";
import { attemptsIn, type FoundAttempts, isMeant, type StepAttempt, type Which } from "./step-attempts.ts";

export type StepLogsFlags = DataFlags & {
  readonly step?: string;
  readonly attempt?: number;
  readonly item?: number;
  readonly follow?: boolean;
};

/** The pause between two looks at the output: short enough to look immediate. */
const LOOK_MS = 150;

const TRIMMED = "older attempts are not shown: the retention settings have removed the beginning of the log";

/** What is shown, of which run. */
type Watch = { readonly home: string; readonly run: ListedRun; readonly which: Which };

export async function stepLogs(world: DaemonCommandWorld, flags: StepLogsFlags, key?: string): Promise<Exit> {
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  const run = await look(world, { home: home.value, json: flags.json }, async (client) => {
    if (key !== undefined) return findRun(world, client, key, { newest: true });
    const running = await findRun(world, client, undefined, { meant: "running" });
    return running.ok ? running : findRun(world, client, undefined); // The only one that is running, or at all.
  });
  if (!run.ok) return run;
  const watch = {
    home: home.value,
    run: run.value,
    which: { step: flags.step, attempt: flags.attempt, item: flags.item },
  };
  const { attempts, isTrimmed } = await attemptsOf(world, watch);
  if (isTrimmed && !flags.json) await say(world.console, TRIMMED); // SL2
  if (attempts.length === 0 && !(flags.follow && isUnderWay(run.value.state))) return nothing(watch);
  if (flags.json) await printJson(world, watch, attempts);
  else await print(world, watch, attempts, flags.follow === true);
  return ok(EXIT.ok);
}

async function attemptsOf(world: DaemonCommandWorld, { home, run, which }: Watch): Promise<FoundAttempts> {
  return attemptsIn(await steadyView(world, home), sessionOf(run), which);
}

function nothing({ run, which }: Watch): Exit {
  const { step, attempt, item } = which;
  if (step === undefined && item === undefined && attempt === undefined)
    return refused("unknown", `No step of ${run.name} has run a program yet.`, "`holdfast workflows` shows its state.");
  const of = `${item === undefined ? "" : ` of item ${item}`}${attempt === undefined ? "" : ` with number ${attempt}`}`;
  const hint = "Use the step's id as shown by `run` and `checkpoints show`; set steps have no output.";
  return refused(
    "unknown",
    `${run.name} has no attempt at ${step === undefined ? "any step" : `a step ${step}`}${of}.`,
    hint,
  );
}

async function printJson(
  world: DaemonCommandWorld,
  { home, run }: Watch,
  attempts: readonly StepAttempt[],
): Promise<void> {
  const rows = attempts.map(({ end, ...one }) => {
    const directory = attemptPathNow(world.disk, home, run.repo, one.attempt);
    const output = wholeText(world.disk, directory, "stdout") ?? end?.output ?? "";
    const { output: _kept, ...ended } = end ?? { output: "", code: null, signal: null, error: null, at: null };
    return { ...one, ...ended, output, stderr: wholeText(world.disk, directory, "stderr") ?? "" };
  });
  await world.console.out.write(`${visibleLine(JSON.stringify(rows))}\n`);
}

async function print(
  world: DaemonCommandWorld,
  watch: Watch,
  attempts: readonly StepAttempt[],
  follow: boolean,
): Promise<void> {
  const shown = new Shown(world, watch, follow || attempts.length > 1);
  for (const attempt of attempts)
    await (follow && attempt.end === undefined ? shown.more(attempt) : shown.finish(attempt));
  if (!follow) return;
  await followStep(world, watch, shown);
  for (const attempt of (await attemptsOf(world, watch)).attempts) await shown.finish(attempt);
}

/** SL4. The daemon lists the running attempts; attempts between two looks are found in the log at the end. */
async function followStep(world: DaemonCommandWorld, { home, run, which }: Watch, shown: Shown): Promise<void> {
  const stopped = world.console.interrupted().then(() => "stopped" as const);
  for (;;) {
    const now = await look(world, { home, json: true }, (client) =>
      client.call("workflow.show", { id: run.id, from: run.ended }),
    );
    if (!now.ok) return;
    for (const { attempt, step, item, startedAt, agent } of now.value.attempts) {
      const number = attemptNumber(attempt);
      const one = { attempt, number, step, item, try: 0, startedAt, agent, end: undefined };
      if (isMeant(one, which)) await shown.more(one);
    }
    await shown.all();
    if (!isUnderWay(now.value.state)) return;
    if ((await Promise.race([stopped, pause(world.clock, LOOK_MS)])) === "stopped") return;
  }
}

type Tapes = { readonly stdout: AttemptTape; readonly stderr: AttemptTape };

/** What has been printed so far. */
class Shown {
  readonly #world: DaemonCommandWorld;
  readonly #watch: Watch;
  readonly #announce: boolean;
  readonly #tapes = new Map<string, Tapes>();
  readonly #turns = new Map<string, AgentTurns>();
  readonly #finished = new Set<string>();

  constructor(world: DaemonCommandWorld, watch: Watch, announce: boolean) {
    this.#world = world;
    this.#watch = watch;
    this.#announce = announce;
  }

  /** With the step's name, if several are shown. */
  #head(attempt: StepAttempt): string {
    const step = this.#watch.which.step === undefined ? `${attempt.step}, ` : "";
    return `${step}${headText(this.#world.console, attempt)}`;
  }

  /** Prints what is new in an attempt's output. */
  async more(attempt: StepAttempt): Promise<void> {
    if (attempt.agent !== null) return this.#moreOf(attempt, attempt.agent);
    const { disk, console } = this.#world;
    const directory = attemptPathNow(disk, this.#watch.home, this.#watch.run.repo, attempt.attempt);
    let tapes = this.#tapes.get(attempt.attempt);
    if (tapes === undefined) {
      if (this.#announce) await say(console, `${this.#head(attempt)}:`); // SL1
      const read = (stream: "stdout" | "stderr") => new AttemptTape(disk, directory, stream);
      tapes = { stdout: read("stdout"), stderr: read("stderr") };
      this.#tapes.set(attempt.attempt, tapes);
      const gone = attempt.end !== undefined && disk.stat(directory) === undefined;
      if (gone) await this.#kept(attempt.end.output);
    }
    await this.#print(tapes);
  }

  /** SL3 */
  async #moreOf(attempt: StepAttempt, agent: string): Promise<void> {
    const { console } = this.#world;
    const turns = this.#turns.get(attempt.attempt) ?? new AgentTurns(this.#world, this.#watch.home, agent);
    if (!this.#turns.has(attempt.attempt) && this.#announce) await say(console, `${this.#head(attempt)}:`); // SL1
    this.#turns.set(attempt.attempt, turns);
    await turns.print(console, attempt.end !== undefined);
  }

  async all(): Promise<void> {
    for (const tapes of this.#tapes.values()) await this.#print(tapes);
  }

  /** Prints the rest of it, and how it ended. */
  async finish(attempt: StepAttempt): Promise<void> {
    if (this.#finished.has(attempt.attempt)) return;
    this.#finished.add(attempt.attempt);
    await this.more(attempt);
    const { console } = this.#world;
    const tapes = this.#tapes.get(attempt.attempt);
    if (tapes !== undefined && tapes.stdout.last !== "") await console.out.write(`${visible(tapes.stdout.last)}\n`);
    if (tapes !== undefined && tapes.stderr.last !== "") await console.err.write(`${visible(tapes.stderr.last)}\n`);
    if (this.#announce && attempt.end !== undefined)
      await say(console, `attempt ${attempt.number} ${endText(attempt.end)}.`);
  }

  /** SL2 */
  async #kept(output: string): Promise<void> {
    const { console } = this.#world;
    await say(console, "its files are gone, by the retention settings; the log has this part of its output:");
    await console.out.write(visible(output));
  }

  async #print({ stdout, stderr }: Tapes): Promise<void> {
    const { out, err } = this.#world.console;
    await printLines(out, stdout.lines());
    await printLines(err, stderr.lines());
  }
}

async function printLines(output: Output, lines: Iterable<string>): Promise<void> {
  const printer = new Printer(output);
  for (const line of lines) await printer.add(`${visible(line)}\n`);
  await printer.flush();
}

function headText(console: DaemonCommandWorld["console"], { number, try: time, item, startedAt }: StepAttempt): string {
  const of = item === null ? "" : `, item ${item}`;
  return `attempt ${number}${time > 1 ? `, try ${time}` : ""}${of}, started at ${localTime(console, startedAt)}`;
}

function endText({ code, signal, error }: NonNullable<StepAttempt["end"]>): string {
  return error === null ? endedText({ code, signal }) : `has no known end: ${error}`;
}
