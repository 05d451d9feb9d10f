// The operator: opens, renames, ends and removes terminals through the daemon, whatever its state, and keeps the
// ledger.
// O1. Nothing is requested twice: a request without a reply stays unknown (ledger.ts, G1).
// O2. An acknowledged terminal is known to every later daemon.
import type { Method, Methods } from "../wire/rpc/rpc.ts";
import { ask, type DaemonAnswer } from "./ask.ts";
import { Attached } from "./attached.ts";
import type { Dice } from "./dice.ts";
import type { Findings } from "./findings.ts";
import type { Going } from "./going.ts";
import { Entry, type Ledger } from "./ledger.ts";
import { programWords, TICK_VARIABLE } from "./program.ts";
import { DRILL_VARIABLE, type Site } from "./site.ts";

/** A few terminals come and go beside the steady ones; each is a holder, the program and its counter. */
const MAX_VISITORS = 6;
const PAUSE_MS = [80, 400] as const;
const SIZE = { cols: 80, rows: 24 };

export class Operator {
  readonly #site: Site;
  readonly #ledger: Ledger;
  readonly #findings: Findings;
  readonly #dice: Dice;
  readonly #tickS: number;

  /** `tickS`: how long the programs pause. */
  constructor(site: Site, ledger: Ledger, findings: Findings, habits: { readonly dice: Dice; readonly tickS: number }) {
    this.#site = site;
    this.#ledger = ledger;
    this.#findings = findings;
    this.#dice = habits.dice;
    this.#tickS = habits.tickS;
  }

  /** Does something now and then. */
  work(going: Going): Promise<void> {
    return going.repeat(
      () => this.#act(),
      () => this.#dice.between(...PAUSE_MS),
    );
  }

  /** Resolves when it is acknowledged and a client is attached; undefined if it is not. */
  async open(steady: boolean): Promise<Entry | undefined> {
    const name = this.#ledger.nextName();
    const asked = await this.#ask("terminal.new", this.#wish(name, steady));
    if (asked.kind === "unknown") this.#ledger.perhaps.add(name);
    if (asked.kind !== "done") return this.#unexpected(asked, "new");
    const { id } = asked.value;
    const entry = new Entry(id, name, new Attached(this.#site, id, name, this.#findings), steady);
    this.#ledger.entries.push(entry);
    const found = await entry.attached.attach();
    if (!found && entry.fate === "runs")
      this.#findings.lose(1, `${name} was acknowledged, but no holder answers for it`);
    return entry;
  }

  #wish(name: string, steady: boolean): Methods["terminal.new"]["params"] {
    const { home, world } = this.#site;
    const { PATH: path = "/usr/bin:/bin" } = world.self.environment();
    const env = { PATH: path, [DRILL_VARIABLE]: home, [TICK_VARIABLE]: this.#tickS.toFixed(1) };
    return { name, lane: "drill", argv: programWords(!steady), cwd: home, env, ...SIZE };
  }

  async #act(): Promise<void> {
    const visitors = this.#ledger.running.filter(({ steady }) => !steady);
    if (visitors.length < MAX_VISITORS && this.#dice.chance(0.3)) await this.open(false);
    else if (visitors.length > 2 && this.#dice.chance(0.3)) await this.end(this.#dice.pick(visitors));
    else if (this.#dice.chance(0.2)) await this.#remove(this.#dice.pick(this.#ledger.with("ended")));
    else await this.#rename(this.#dice.pick(this.#ledger.running));
  }

  async #rename(entry: Entry | undefined): Promise<void> {
    if (entry === undefined) return;
    const name = this.#ledger.nextName();
    const asked = await this.#ask("terminal.rename", { id: entry.id, name });
    if (asked.kind === "done") entry.named(name);
    else if (asked.kind === "unknown") entry.perhapsNamed(name);
    else this.#unexpected(asked, `rename ${entry.name}`);
  }

  async end(entry: Entry | undefined): Promise<void> {
    if (entry === undefined) return;
    const before = entry.fate;
    entry.fate = "doomed"; // From now on it may end.
    const asked = await this.#ask("terminal.signal", { id: entry.id, signal: "SIGTERM" });
    if (asked.kind === "done") entry.fate = "ended";
    else if (asked.kind !== "unknown") entry.fate = before;
    if (asked.kind !== "done" && asked.kind !== "unknown") this.#unexpected(asked, `end ${entry.name}`);
  }

  async #remove(entry: Entry | undefined): Promise<void> {
    if (entry === undefined) return;
    entry.fate = "perhaps removed";
    const asked = await this.#ask("terminal.remove", { id: entry.id });
    if (asked.kind === "done") entry.fate = "removed";
    if (asked.kind === "refused" || asked.kind === "nobody") entry.fate = "ended";
    if (asked.kind !== "done" && asked.kind !== "unknown") this.#unexpected(asked, `remove ${entry.name}`);
  }

  async #ask<M extends Method>(method: M, params: Methods[M]["params"]): Promise<DaemonAnswer<Methods[M]["result"]>> {
    const asked = await ask(this.#site, method, params);
    if (asked.kind === "done") this.#ledger.acknowledged();
    return asked;
  }

  #unexpected(asked: DaemonAnswer<unknown>, what: string): undefined {
    if (asked.kind === "silent") this.#findings.violate(`the daemon did not answer: ${what}`);
    if (asked.kind !== "refused" || EXPECTED.includes(asked.refusal.code)) return;
    if (asked.refusal.code === "unknown")
      this.#findings.lose(1, `${what}: ${asked.refusal.message}`); // O2
    else this.#findings.violate(`${what}: ${asked.refusal.message}`);
  }
}

/** It is recovering; or the program has not ended yet, or has already. */
const EXPECTED = ["not-live", "still-running", "not-running"];
