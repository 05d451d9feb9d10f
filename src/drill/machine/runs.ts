// Workflows in a machine drill: before the crash, a run of each mode is in the middle of its steps, each of which has
// written
// its line and waits at a gate. Afterwards the running steps are uncertain; if the file says so they run again,
// otherwise a
// person decides, and here that is us.
// MR1. Before a decision, ended steps are not run again, and steps that had not started do not start.
// MR2. Without consent, a step that needs a decision has written its line once, however often the machine crashed.
// MR3. With consent every run finishes: no line is missing, none exists more often than allowed, and the values of the
//      steps have arrived.
import { joinPath } from "../../base/path.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { ask } from "../ask.ts";
import type { Findings } from "../findings.ts";
import {
  beginRun,
  directoryOf,
  type FlowRun,
  type FlowText,
  ITEMS,
  linesOf,
  MODES,
  type Mode,
  OVER,
  shown,
  writeFlows,
} from "../flows.ts";
import { until } from "../going.ts";
import type { Site } from "../site.ts";

/** Programs start, and runs end, within a second; the machine may be busy. */
const SOON_MS = 30_000;
/** This many steps of each wait at the gate: all items of a map, since it would continue with undecided ones. */
const AT_THE_GATE: Readonly<Record<Mode, number>> = { standard: 1, iterative: 1, "map-reduce": ITEMS.length };
const POLICY: Readonly<Record<Mode, string>> = { standard: "", iterative: "idempotent: true", "map-reduce": "" };

export class MachineRuns {
  readonly #site: Site;
  readonly #findings: Findings;
  #round = 0;
  #runs: readonly FlowRun[] = [];
  #ended = 0;
  #uncertain = 0;

  constructor(site: Site, findings: Findings) {
    this.#site = site;
    this.#findings = findings;
  }

  /** `uncertain`: how many steps needed a decision. */
  get sums(): { readonly runs: number; readonly uncertain: number } {
    return { runs: this.#ended, uncertain: this.#uncertain };
  }

  /** Starts a run of each mode, and waits until all are at the gate. */
  async begin(): Promise<void> {
    this.#round += 1;
    const name = `machine-${this.#round}`;
    const text: FlowText = { gate: `until [ -e ${this.#gate()} ]; do sleep 0.1; done`, more: POLICY };
    await writeFlows(this.#site, name, text);
    const begun = await Promise.all(MODES.map((mode) => beginRun(this.#site, name, mode)));
    this.#runs = begun.flatMap((run) => run ?? []);
    if (this.#runs.length < MODES.length)
      this.#findings.violate("a workflow was not started, although the daemon was live");
    const waiting = () => this.#runs.every((run) => linesOf(this.#site, run).length >= AT_THE_GATE[run.mode]);
    const there = await until(this.#site.world.clock, SOON_MS, () => waiting() || undefined);
    if (there === undefined) this.#findings.violate("the steps of a workflow did not start");
  }

  #gate(): string {
    return joinPath(directoryOf(this.#site), `go-${this.#round}`);
  }

  /** After this many machine crashes. */
  async check(crashes: number): Promise<void> {
    for (const run of this.#runs) await this.#checkFate(run, crashes);
    this.#site.world.disk.makeDirectory(this.#gate());
    for (const run of this.#runs) await this.#checkEnd(run, crashes);
    this.#runs = [];
  }

  async #checkFate(run: FlowRun, crashes: number): Promise<void> {
    const asks = POLICY[run.mode] === "";
    const settled = (now: ListedRun | undefined) => now?.state === (asks ? "uncertain" : "running");
    const now = await until(this.#site.world.clock, SOON_MS, async () => {
      const seen = await shown(this.#site, run);
      return settled(seen) ? seen : undefined;
    });
    if (now === undefined) this.#findings.violate(`${nameOf(run)}: it is not ${asks ? "uncertain" : "run again"}`);
    const most = asks ? 1 : 1 + crashes;
    const lines = linesOf(this.#site, run);
    const begun = new Set(lines);
    // MR1
    if (begun.size !== AT_THE_GATE[run.mode]) this.#findings.violate(`${nameOf(run)}: it left ${lines.join(", ")}`);
    this.#compare(run, lines, [...begun], most); // MR2
    for (const { attempt } of now?.needs ?? []) await this.#consent(run, attempt);
  }

  async #consent(run: FlowRun, attempt: string): Promise<void> {
    this.#uncertain += 1;
    const said = await ask(this.#site, "workflow.resolve", { id: run.id, attempt, verdict: "rerun" });
    if (said.kind !== "done") this.#findings.violate(`${nameOf(run)}: the decision about ${attempt} was not accepted`);
  }

  /** MR3 */
  async #checkEnd(run: FlowRun, crashes: number): Promise<void> {
    const ended = await until(this.#site.world.clock, SOON_MS, async () => {
      const now = await shown(this.#site, run);
      return OVER.includes(now?.state ?? "") ? now : undefined;
    });
    if (ended?.state === "done") this.#ended += 1;
    else this.#findings.lose(1, `${nameOf(run)}: it does not finish, but is ${ended?.state ?? "open"}`);
    const lines = linesOf(this.#site, run);
    const strange = lines.filter((line) => !run.expected.includes(line));
    if (strange.length > 0) this.#findings.violate(`${nameOf(run)}: it left ${strange.join(", ")}`);
    const [first, rest] = [run.expected.slice(0, AT_THE_GATE[run.mode]), run.expected.slice(AT_THE_GATE[run.mode])];
    this.#compare(run, lines, first, 1 + Math.max(1, crashes));
    this.#compare(run, lines, rest, 1);
  }

  #compare(run: FlowRun, lines: readonly string[], expected: readonly string[], most: number): void {
    for (const line of expected) {
      const times = lines.filter((other) => other === line).length;
      if (times === 0) this.#findings.lose(1, `${nameOf(run)}: ${line} was never done`);
      if (times > most)
        this.#findings.double(times - most, `${nameOf(run)}: ${line} was done ${times} times, without consent`);
    }
  }
}

function nameOf({ id, mode }: FlowRun): string {
  return `workflow ${id.slice(0, 8)} (${mode})`;
}
