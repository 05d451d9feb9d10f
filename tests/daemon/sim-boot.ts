// One boot of a machine in the simulated world: a daemon's log, checkpoints and restoration, the screen program's
// emulator and a holder's tape, all real code over a disk that forgets unsynced data. Processes and sockets are
// missing.
import { expect } from "bun:test";
import type { ScreenSnapshot } from "../../src/core/terminal/screen.ts";
import type { Terminal } from "../../src/core/terminal/terminal.ts";
import { CheckpointReader } from "../../src/daemon/terminal/checkpoint-reader.ts";
import { CheckpointState } from "../../src/daemon/terminal/checkpoint-state.ts";
import { CheckpointWriter } from "../../src/daemon/terminal/checkpoint-writer.ts";
import type { TerminalHolders } from "../../src/daemon/terminal/holders.ts";
import { LastMoments } from "../../src/daemon/terminal/last-moments.ts";
import { Restorer } from "../../src/daemon/terminal/restorer.ts";
import { TERMINAL_FOLDING, TerminalStore } from "../../src/daemon/terminal/store.ts";
import { Recorder } from "../../src/holder/recorder.ts";
import { claim } from "../../src/holder/records.ts";
import { setAsideBefore } from "../../src/home/held/generations.ts";
import { readHeld } from "../../src/home/held/held-state.ts";
import { writeTerminalSpec } from "../../src/home/held/holder-files.ts";
import { EventLog } from "../../src/log/event-log.ts";
import { TapeReader } from "../../src/log/tape/reader.ts";
import { answer } from "../../src/screen/answer.ts";
import { LiveScreens } from "../../src/screen/live.ts";
import type { SimDisk } from "../sim/disk.ts";
import { type SimWorld, simWorld } from "../sim/world.ts";
import { foldNow } from "./border.ts";

export const HOME = "/h";
export const ID = "0123456789ab4def8123456789abcdef";
export const DIRECTORY = `${HOME}/terminals/${ID}`;
const SIZE = { cols: 40, rows: 12 };
const LIMITS = { segmentBytes: 4096, maxBytes: 65_536 };

export class Boot {
  readonly place: SimWorld & { readonly home: string };
  readonly log: EventLog;
  readonly store: TerminalStore;
  readonly reader: CheckpointReader;
  readonly restorer: Restorer;
  readonly #moments: LastMoments;
  readonly #state: CheckpointState;
  readonly #writer: CheckpointWriter;
  readonly #live: LiveScreens;
  #tape: Recorder | undefined;

  /** Runs after `boots` earlier ones. */
  static async open(disk: SimDisk, boots: number): Promise<Boot> {
    const world = simWorld(1, disk);
    for (let boot = 0; boot < boots; boot += 1) world.processes.reboot();
    const place = { ...world, home: HOME };
    const boot = new Boot(place, await EventLog.open(place, { segmentBytes: 64 << 10, ballastBytes: 0 }));
    boot.#state.seed((await boot.reader.survey()).sessions.values());
    return boot;
  }

  private constructor(place: SimWorld & { readonly home: string }, log: EventLog) {
    this.place = place;
    this.log = log;
    this.store = new TerminalStore(log, place.clock, { publish: () => undefined, perform: () => undefined, onBug });
    expect(foldNow(log, this.store, TERMINAL_FOLDING)).toEqual([]);
    this.#live = new LiveScreens(place);
    this.reader = new CheckpointReader(place, { maxAgeMs: 86_400_000 }, () => undefined);
    this.#writer = new CheckpointWriter(place, () => undefined);
    this.#state = new CheckpointState(
      place,
      { scrollbackBytes: 2048, environment: { allow: [], deny: [] } },
      {
        screens: { snapshot: async ([of]) => new Map([[ID, await this.#ask<ScreenSnapshot>("snapshot", of?.from)]]) },
        terminals: () => this.store.terminals.values(),
        status: async () => undefined,
        late: () => undefined,
        onBug,
      },
    );
    const lastSeen = async () => {
      const last = this.#state.last(ID);
      return last === undefined ? undefined : { session: last.session, doubt: null };
    };
    this.#moments = new LastMoments(
      { lastSeen },
      { farewell: ({ from, message }) => this.#ask<string>("farewell", from, message) },
    );
    const holders = { settled: async () => undefined } as unknown as TerminalHolders;
    const known = (id: string) => this.#moments.known(id);
    this.restorer = new Restorer({ place, store: this.store, holders, shell: "/bin/sh", rules: [], known });
  }

  /** The answers of the screen program. */
  async #ask<T>(op: "snapshot" | "farewell", from: ScreenSnapshot | undefined, message = ""): Promise<T> {
    const asked = {
      directory: DIRECTORY,
      size: SIZE,
      ...(from === undefined ? {} : { from }),
      message,
      maxBytes: 2048,
    };
    const said = await answer(this.#live, this.place.clock, { ...asked, op });
    if (!said.ok) throw new Error(said.error.message);
    return said.value as T;
  }

  get terminal(): Terminal | undefined {
    return this.store.terminals.get(ID);
  }

  async create(): Promise<void> {
    const recipe = { argv: ["sh"], cwd: "/", env: {}, size: SIZE };
    await this.store.submit({ kind: "create", id: ID, name: "one", lane: "main", recipe });
  }

  /** What a recovery does for a terminal whose holder is gone. */
  async restore(): Promise<void> {
    const { terminal } = this;
    if (
      terminal === undefined ||
      readHeld({ ...this.place, directory: DIRECTORY }, terminal.generation).kind === "unclaimed"
    )
      return;
    const wish = { reason: "the machine went down", found: true, way: "plan", asked: false } as const;
    await this.restorer.restore(terminal, wish);
  }

  /** What effects and holder do for a starting terminal. Returns false if this generation was already claimed. */
  async begin(): Promise<boolean> {
    const { terminal } = this;
    if (terminal === undefined) throw new Error("it was created");
    const { generation, recipe, restored } = terminal;
    await setAsideBefore({ ...this.place, directory: DIRECTORY }, generation);
    if (readHeld({ ...this.place, directory: DIRECTORY }, generation).kind !== "unclaimed") return false;
    const preface = restored === undefined ? "" : await this.#moments.farewell(terminal, restored.message);
    const startAt = restored?.offset ?? 0;
    await writeTerminalSpec(this.place, { id: ID, generation, recipe, token: "t", tape: LIMITS, preface, startAt });
    if (!(await claim({ ...this.place, directory: DIRECTORY }, generation))) return false;
    this.#tape = new Recorder(this.place, `${DIRECTORY}/tape`, { ...LIMITS, startAt });
    if (preface !== "") this.#tape.append(Buffer.from(preface));
    const child = this.place.processes.spawn();
    await this.store.submit({ kind: "started", id: ID, child, holder: this.place.processes.pid });
    return true;
  }

  /** Output, not synced yet. */
  print(text: string): void {
    this.#tape?.append(Buffer.from(text));
  }

  async sync(): Promise<void> {
    await this.#tape?.finish();
  }

  async checkpoint(): Promise<void> {
    const saved = await this.#writer.write(await this.#state.sessions());
    expect(saved.ok).toBe(true);
  }

  /** The rest of the tape. */
  tapeText(): string {
    const tape = new TapeReader(this.place.disk, `${DIRECTORY}/tape`);
    let text = "";
    for (let at = 0; ; ) {
      const read = tape.read(at, 1 << 16);
      if (read.kind === "end") return text;
      if (read.kind === "bytes") text += Buffer.from(read.bytes).toString();
      at = read.kind === "bytes" ? at + read.bytes.length : read.to;
    }
  }
}

function onBug(error: unknown): never {
  throw error;
}
