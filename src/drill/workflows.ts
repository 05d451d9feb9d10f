// Workflows in a drill: a run of each mode goes on all the time, one after the other, while everybody is killed.
// WF1. A run that was acknowledged ends by itself, whoever was killed meanwhile; in safe mode it waits, and goes on when that is left.
// WF2. Each of its steps has left its line exactly once, and what the steps handed on has arrived.
import { pause } from "../world/wait.ts";
import type { Findings } from "./findings.ts";
import { beginRun, type FlowRun, type FlowText, linesOf, MODES, type Mode, OVER, shown, writeFlows } from "./flows.ts";
import { type Going, until } from "./going.ts";
import type { Site } from "./site.ts";

/** A step takes about as long as a recovery: so it is killed before, in and after steps. */
const TEXT: FlowText = { gate: "sleep 0.2", more: { standard: "", iterative: "", "map-reduce": "" } };
const LOOK_MS = 50;
/** A run takes some seconds; on a busy machine, and with a daemon killed in it again and again, many. */
const END_MS = 60_000;

export class Workflows {
  readonly #site: Site;
  readonly #findings: Findings;
  readonly #runs: FlowRun[] = [];
  #effects = 0;

  constructor(site: Site, findings: Findings) {
    this.#site = site;
    this.#findings = findings;
  }

  /** As they were found in the end. */
  get sums(): { readonly runs: number; readonly effects: number } {
    return { runs: this.#runs.length, effects: this.#effects };
  }

  /** From now on; resolves when it is to stop and the last runs have ended (WF1). */
  async work(going: Going): Promise<void> {
    await writeFlows(this.#site, "drill", TEXT);
    await Promise.all(MODES.map((mode) => this.#keepRunning(mode, going)));
  }

  async #keepRunning(mode: Mode, going: Going): Promise<void> {
    while (going.on) {
      const run = await beginRun(this.#site, "drill", mode);
      if (run === undefined) return this.#findings.violate(`no daemon took a ${mode} workflow`);
      this.#runs.push(run);
      while (going.on && !(await this.#isOver(run))) await pause(this.#site.world.clock, LOOK_MS);
    }
  }

  async #isOver(run: FlowRun): Promise<boolean> {
    return OVER.includes((await shown(this.#site, run))?.state ?? "");
  }

  /** When nobody is killed any more. */
  async verify(): Promise<void> {
    for (const run of this.#runs) await this.#verifyRun(run);
  }

  async #verifyRun(run: FlowRun): Promise<void> {
    const name = `workflow ${run.id.slice(0, 8)} (${run.mode})`;
    const last = await until(this.#site.world.clock, END_MS, async () => {
      const now = await shown(this.#site, run);
      return OVER.includes(now?.state ?? "") ? now : undefined;
    });
    if (last === undefined)
      this.#findings.lose(1, `${name} was acknowledged, and does not end`); // WF1
    else if (last.state !== "done") this.#findings.violate(`${name} is ${last.state}: ${last.error?.message ?? ""}`);
    const lines = linesOf(this.#site, run);
    this.#effects += lines.length;
    compareLines(name, lines, run.expected, this.#findings); // WF2
  }
}

/** Every line that must be there, once, and no other. */
export function compareLines(
  name: string,
  lines: readonly string[],
  expected: readonly string[],
  findings: Findings,
): void {
  for (const line of expected) {
    const times = lines.filter((other) => other === line).length;
    if (times === 0) findings.lose(1, `${name}: ${line} was never done`);
    if (times > 1) findings.double(times - 1, `${name}: ${line} was done ${times} times`);
  }
  const strange = lines.filter((line) => !expected.includes(line));
  if (strange.length > 0) findings.violate(`${name}: it left ${strange.join(", ")}`);
}
