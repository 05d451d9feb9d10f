// The end of a drill, after the last kill: everything that was acknowledged must exist, once, and nothing else.
// V1. First everything in flight arrives: after a typist's last line nothing more can come.
// V2. A program whose holder lives is still the same: same pid, same start time.
// V3. The daemon's view of a terminal is what it acknowledged.
import type { ListedTerminal } from "../wire/rpc/rpc.ts";
import { ask } from "./ask.ts";
import { compareEchoes, compareWithTape } from "./bytes.ts";
import type { Findings } from "./findings.ts";
import { until } from "./going.ts";
import type { Entry, Ledger } from "./ledger.ts";
import { orphansAmong, processesOf, straysAmong } from "./processes.ts";
import type { Site } from "./site.ts";

/** All of this takes milliseconds if everything is fine. */
const PATIENCE_MS = 10_000;
const LAST_LINE = "end";

export class Verifier {
  readonly #site: Site;
  readonly #ledger: Ledger;
  readonly #findings: Findings;

  constructor(site: Site, ledger: Ledger, findings: Findings) {
    this.#site = site;
    this.#ledger = ledger;
    this.#findings = findings;
  }

  async verify(): Promise<void> {
    await Promise.all(this.#ledger.running.map((entry) => this.#finish(entry))); // V1
    for (const entry of this.#ledger.entries) this.#compare(entry);
    await this.#compareList();
    await this.#compareProcesses();
  }

  /** V1 */
  async #finish(entry: Entry): Promise<void> {
    const { attached } = entry;
    const ready = await this.#soon(() => attached.copy.ready && attached.open === 0);
    if (!ready) return this.#findings.violate(`${entry.name}: typed lines are never confirmed`);
    attached.type(LAST_LINE);
    const echoed = await this.#soon(() => attached.copy.echoes.has(LAST_LINE) && attached.open === 0);
    if (!echoed) this.#findings.violate(`${entry.name}: its program no longer answers`);
  }

  async #soon(fact: () => boolean): Promise<boolean> {
    return (await until(this.#site.world.clock, PATIENCE_MS, () => (fact() ? true : undefined))) === true;
  }

  #compare(entry: Entry): void {
    const { attached, name, fate } = entry;
    const { disk, processes } = this.#site.world;
    compareEchoes(entry, this.#findings);
    compareWithTape(disk, entry, this.#findings);
    const untold = (attached.exit?.offset ?? attached.copy.end) - attached.copy.end; // V1
    if (untold !== 0) this.#findings.lose(Math.abs(untold), `${name}: it ended ${untold} bytes after what was shown`);
    if (fate !== "runs") return;
    const same = attached.child !== undefined && processes.alive(attached.child);
    if (!same) this.#findings.lose(1, `${name}: its program ${attached.child?.pid ?? ""} is gone`); // V2
  }

  /** V3. The last requests may take a moment to take effect. */
  async #compareList(): Promise<void> {
    let wrong: readonly string[] = ["no daemon lists the terminals"];
    await until(this.#site.world.clock, PATIENCE_MS, async () => {
      const asked = await ask(this.#site, "terminal.list", {});
      if (asked.kind === "done") wrong = this.#wrongIn(asked.value);
      return wrong.length === 0 ? true : undefined;
    });
    for (const words of wrong) this.#findings.lose(1, words);
  }

  #wrongIn(listed: readonly ListedTerminal[]): string[] {
    const known = this.#ledger.entries.flatMap((entry) => wrongWith(entry, listed) ?? []);
    const strangers = listed.filter((terminal) => this.#ledger.entryOf(terminal) === undefined);
    const unasked = strangers.filter(({ name }) => !this.#ledger.perhaps.has(name));
    const names = listed.map(({ name }) => name);
    const twice = names.filter((name, at) => names.indexOf(name) !== at);
    return [
      ...known,
      ...unasked.map(({ name }) => `${name} was never requested`),
      ...twice.map((name) => `there are two terminals named ${name}`),
    ];
  }

  /** Orphans that recovery has to stop, and losers of a race, get a moment to end. */
  async #compareProcesses(): Promise<void> {
    const clean = await this.#soon(() => this.#leftover().length === 0);
    if (clean) return;
    const found = processesOf(this.#site);
    const [orphans, strays] = [orphansAmong(found), straysAmong(this.#site, found)];
    if (orphans.length > 0) this.#findings.orphan(orphans.length, `programs without a holder: ${pidsOf(orphans)}`);
    if (strays.length > 0) this.#findings.violate(`processes of ours that hold no lock: ${pidsOf(strays)}`);
  }

  #leftover() {
    const found = processesOf(this.#site);
    return [...orphansAmong(found), ...straysAmong(this.#site, found)];
  }
}

export function pidsOf(processes: readonly { readonly pid: number }[]): string {
  return processes.map(({ pid }) => pid).join(", ");
}

/** What is wrong with the daemon's view of this terminal; undefined if it is right. */
function wrongWith(entry: Entry, listed: readonly ListedTerminal[]): string | undefined {
  const { fate, attached, name } = entry;
  const found = listed.find(({ id }) => id === entry.id);
  if (found === undefined) return fate === "removed" || fate === "perhaps removed" ? undefined : `${name} is gone`;
  if (fate === "removed") return `${name} was removed, but exists again`;
  if (!entry.mayBeCalled(found.name)) return `${name} is called ${found.name}`;
  const { state } = found;
  if (fate === "ended" && state.kind !== "ended") return `${name} was ended, but is ${state.kind}`;
  if (fate === "holder killed" && state.kind !== "uncertain" && found.restored === undefined)
    return `${name} lost its holder, but is ${state.kind}`;
  if (fate !== "runs") return undefined;
  const { child } = attached;
  const same = state.kind === "running" && state.pid === child?.pid && state.startTime === child.startTime; // V2
  return same ? undefined : `${name} ran as ${child?.pid}, but is ${state.kind === "running" ? state.pid : state.kind}`;
}
