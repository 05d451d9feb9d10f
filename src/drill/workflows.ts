// Workflows in a drill: runs of each mode follow one another all the time, during the kills.
// WF1. An acknowledged run finishes by itself, whatever was killed; in safe mode it waits, and continues afterwards.
// WF2. Each of its steps has written its line exactly once, and the values of the steps have arrived.
import { pause } from "../world/wait.ts";
import type { Findings } from "./findings.ts";
import { beginRun, type FlowRun, type FlowText, linesOf, MODES, type Mode, OVER, shown, writeFlows } from "./flows.ts";
import { type Going, until } from "./going.ts";
import type { Site } from "./site.ts";

/** A step takes about as long as a recovery, so that kills hit before, during and after steps. */
const TEXT: FlowText = { gate: "sleep 0.2", more: { standard: "", iterative: "", "map-reduce": "" } };
const LOOK_MS = 50;
/** A run takes some seconds; on a busy machine, and with repeated kills of the daemon, many. */
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

  /** As found at the end. */
  get sums(): { readonly runs: number; readonly effects: number } {
    return { runs: this.#runs.length, effects: this.#effects };
  }

  /** Works until it is asked to stop and the last runs have ended (WF1). */
  async work(going: Going): Promise<void> {
    await writeFlows(this.#site, "drill", TEXT);
    await Promise.all(MODES.map((mode) => this.#keepRunning(mode, going)));
  }

  async #keepRunning(mode: Mode, going: Going): Promise<void> {
    while (going.on) {
      const run = await beginRun(this.#site, "drill", mode);
      if (run === undefined) return this.#findings.violate(`no daemon accepted a ${mode} workflow`);
      this.#runs.push(run);
      while (going.on && !(await this.#isOver(run))) await pause(this.#site.world.clock, LOOK_MS);
    }
  }

  async #isOver(run: FlowRun): Promise<boolean> {
    return OVER.includes((await shown(this.#site, run))?.state ?? "");
  }

  /** After the last kill. */
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
      this.#findings.lose(1, `${name} was acknowledged, but does not end`); // WF1
    else if (last.state !== "done") this.#findings.violate(`${name} is ${last.state}: ${last.error?.message ?? ""}`);
    const lines = linesOf(this.#site, run);
    this.#effects += lines.length;
    compareLines(name, lines, run.expected, this.#findings); // WF2
  }
}

/** Every expected line exactly once, and no other. */
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
