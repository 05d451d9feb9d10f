// A person who works in tmux, and has put sessions under Holdfast's care.
// TP1. What is asked for while nothing fails is not refused.
// TP2. A save is acknowledged by the answer to an adoption: the session is kept, saved, and without trouble.
import type { Result } from "../../../../src/base/result.ts";
import type { ListedTmux } from "../../../../src/wire/rpc/rpc.ts";
import type { SimRandom } from "../../random.ts";
import type { Client } from "../client.ts";
import type { HoldfastMachine } from "../machine.ts";
import { Cares, type KnownTmux } from "./cares.ts";
import { type SimTmux, TMUX_SOCKET } from "./client.ts";
import { command } from "./commands.ts";
import type { Pane } from "./pane.ts";
import type { Session, TmuxServer, Window } from "./server.ts";

/** Directories of the person; tmux would expand a `#`. */
export const DIRECTORIES = ["/u/a", "/u/a/b", "/u/c#d"];
const SIZE = { cols: 80, rows: 24 };
const MAX_SESSIONS = 3;
const MAX_WINDOWS = 3;
const ENVIRONMENT = { HOME: "/u", SHELL: "/bin/sh", PATH: "/bin", API_TOKEN: "secret" };
const SELF = { argv: ["tmux", "new", "-d"], env: ENVIRONMENT };

export class TmuxPerson {
  readonly cares: Cares;
  readonly #machine: HoldfastMachine;
  readonly #tmux: SimTmux;
  readonly #random: SimRandom;
  #count = 0;

  constructor(machine: HoldfastMachine, tmux: SimTmux, random: SimRandom) {
    this.#machine = machine;
    this.#tmux = tmux;
    this.#random = random;
    this.cares = new Cares(tmux, () => this.#isHarmed);
    for (const directory of DIRECTORIES) machine.disk.plant(`${directory}/file`, Buffer.from(""));
  }

  /** Whether a call of the daemon or of tmux has failed in this life, or may. */
  get #isHarmed(): boolean {
    return this.#machine.harm.isDone || this.#tmux.isTroubled;
  }

  async wish(client: Client): Promise<void> {
    const mine = this.cares.all.filter(({ release }) => release === "no");
    const living = mine.filter(({ session, isCompared }) => session !== undefined && isCompared);
    const gone = mine.filter(({ session, id }) => session === undefined && id !== undefined);
    const dice = this.#random.int(20);
    const [one] = this.#some(living);
    const [lost] = this.#some(gone);
    if (one === undefined || (dice < 3 && living.length < MAX_SESSIONS)) await this.#adopt(client, this.#newSession());
    else if (dice < 11) this.#change(one);
    else if (dice < 14) await this.#adopt(client, one);
    else if (dice < 15) this.cares.close(one);
    else if (dice < 16) await this.#release(client, this.#random.pick([one, lost ?? one]));
    else if (dice < 17) this.#endServer();
    else if (lost !== undefined) await this.#recreate(client, lost);
    else this.#change(one);
  }

  #some<T>(from: readonly T[]): T[] {
    return from.length === 0 ? [] : from.slice(this.#random.int(from.length)).slice(0, 1);
  }

  #next(letter: string): string {
    this.#count += 1;
    return `${letter}-${this.#count}`;
  }

  #newSession(): KnownTmux {
    const { random } = this.#machine;
    const server = this.#tmux.server ?? this.#tmux.begin(SELF);
    const session = server.newSession(this.#next("work"), SIZE, this.#place());
    while (session.windows.length < MAX_WINDOWS && random.chance(0.4)) this.#newWindow(server, session);
    return this.cares.add(session, random.chance(0.8) ? "auto" : "ask");
  }

  #newWindow(server: TmuxServer, session: Session): void {
    const last = session.windows.at(-1)?.index ?? 0;
    server.newWindow(session, last + 1 + this.#random.int(2), this.#place());
  }

  #place() {
    return { cwd: this.#random.pick(DIRECTORIES), argv: [] };
  }

  /** TP1, TP2 */
  async #adopt(client: Client, known: KnownTmux): Promise<void> {
    const { session } = known;
    const name = session?.name ?? known.name;
    if (known.adoption === "no") known.adoption = "asked";
    const params = { path: this.#random.chance(0.5) ? TMUX_SOCKET : null, name: null, directory: null, all: false };
    const answer = await client.call("tmux.adopt", { ...params, sessions: [name], policy: known.policy });
    if (!answer.ok) return this.#refused(known, session, answer);
    const taken = answer.value.find((one) => one.name === name);
    if (taken === undefined) throw new Error(`${name} was adopted as ${JSON.stringify(answer.value)}`);
    known.adoption = "acknowledged";
    known.id = taken.id;
    const { state, savedAt, trouble } = taken;
    const isThere = session !== undefined && known.session === session; // Otherwise it was made again meanwhile.
    if (isThere && state.kind === "kept" && savedAt !== null && trouble === null) this.cares.saved(known);
    else if (isThere && !this.#isHarmed) throw new Error(`${known.name} was adopted, and is not saved: ${trouble}`);
  }

  #refused(known: KnownTmux, session: Session | undefined, answer: Result<readonly ListedTmux[]>): void {
    if (answer.ok || this.#isHarmed || known.session !== session) return;
    throw new Error(`${known.name} cannot be adopted: ${answer.error.message}`);
  }

  async #release(client: Client, known: KnownTmux): Promise<void> {
    if (known.id === undefined || known.release !== "no") return;
    known.release = "asked";
    const { state, recreated } = await client.ask("tmux.release", { session: known.id });
    known.release = "acknowledged";
    if (state.kind === "kept") known.notesAtRelease = recreated?.notes; // CA2 of cares.ts
    known.wasReleasedAlive = known.session !== undefined;
  }

  /** A session that came back meanwhile is refused. */
  async #recreate(client: Client, known: KnownTmux): Promise<void> {
    if (known.id === undefined) return;
    known.isWanted = true;
    await client.call("tmux.recreate", { session: known.id });
  }

  #endServer(): void {
    if (this.#random.chance(0.5)) this.#tmux.server?.exit();
    else this.#tmux.kill();
  }

  #change(known: KnownTmux): void {
    const { session } = known;
    const { server } = this.#tmux;
    if (session === undefined || server === undefined) return;
    const window = this.#random.pick(session.windows);
    const pane = this.#random.pick(window.panes);
    const dice = this.#random.int(10);
    if (dice < 5) this.#work(pane);
    else if (dice < 6) this.#split(server, { session, window, pane });
    else if (dice < 7 && session.windows.length < MAX_WINDOWS) this.#newWindow(server, session);
    else this.#arrange(server, { session, window, pane });
    this.cares.changed(known);
  }

  /** In a pane whose program runs. */
  #work(pane: Pane): void {
    if (pane.state === "beginning" || pane.state === "dead") return;
    const dice = this.#random.int(5);
    if (dice < 2) pane.print(`${this.#next("out")}\n`);
    else if (dice < 3) pane.goTo(this.#random.pick(DIRECTORIES));
    else if (dice < 4) pane.run(pane.command.length > 0 ? [] : ["vim", this.#next("file")]);
    else pane.die();
  }

  #split(server: TmuxServer, spot: { session: Session; window: Window; pane: Pane }): void {
    if (spot.window.panes.length < MAX_WINDOWS) server.split(spot, SIZE, this.#place());
  }

  #arrange(server: TmuxServer, { session, window, pane }: { session: Session; window: Window; pane: Pane }): void {
    const at = ["-t", `@${window.id}`];
    const words = this.#random.pick([
      ["select-pane", "-t", `%${pane.id}`, "-T", `${this.#next("title")} ##1`],
      ["select-pane", "-t", `%${pane.id}`],
      ["resize-pane", "-Z", "-t", `%${pane.id}`],
      ["rename-window", ...at, "--", this.#next("window")],
      ["select-layout", ...at, "even-horizontal"],
      ["select-window", "-t", `$${session.id}:${window.index}`],
    ]);
    command(server, words);
  }
}
