// A simulated machine with the engine of held programs, the real holder, and a program that the test controls.

import { Fault } from "../../src/base/fault.ts";
import { ok, type Result } from "../../src/base/result.ts";
import type { HeldNews, HeldRecord } from "../../src/daemon/held/held-adapter.ts";
import { HeldPrograms } from "../../src/daemon/held/held-programs.ts";
import { type HolderConnection, plainConnection } from "../../src/daemon/held/holder-connections.ts";
import { pipeEnding } from "../../src/daemon/held/pipe-ending.ts";
import { readHeld } from "../../src/home/held/held-state.ts";
import { ONLY_GENERATION, pipeSpec, writeSpec } from "../../src/home/held/holder-files.ts";
import type { Command, PipeChild, PipeEvents } from "../../src/world/children.ts";
import { HOME, Machine } from "./machine.ts";

export const NAME = "one";
export const DIRECTORY = `${HOME}/programs/${NAME}`;
export const PLACE = { directory: DIRECTORY, generation: ONLY_GENERATION, socket: `${HOME}/run/${NAME}.sock` };
const STEP_MS = 5;

export class Site extends Machine {
  readonly told: string[] = [];
  readonly programs: PipeEvents[] = [];
  /** What was reported of it when it ran. */
  running: HeldRecord | undefined;
  /** The next starts of the program fail with these. */
  readonly refusals: string[] = [];
  readonly daemon = this.born();
  readonly world = this.doors(this.daemon);
  readonly held: HeldPrograms<HolderConnection>;
  isWanted = true;
  isStarting = false;
  isWatched = false;
  /** How often it was looked for a holder that starts. */
  looks = 0;
  launches = 0;
  dismissed = 0;
  launch = (): Promise<Result<void>> => this.#launch();
  /** The records are written when this resolves. */
  recording: Promise<void> = Promise.resolve();

  constructor() {
    super(1);
    this.disk.makeDirectory(HOME);
    this.held = new HeldPrograms(this.world, {
      place: (name) => (name === NAME ? PLACE : undefined),
      connection: (_, peer) => plainConnection(peer),
      isWanted: () => this.isWanted,
      isStarting: () => this.isStarting,
      isWatched: () => this.isWatched,
      relaunch: () => {
        this.looks += 1;
      },
      dismiss: () => {
        this.isStarting = false;
        this.dismissed += 1;
        for (const { life } of this.holders) life.end();
      },
      launch: () => {
        this.launches += 1;
        return this.launch();
      },
      ending: pipeEnding,
      stopRest: async () => void this.told.push(`rest stopped while ${this.#onDisk()}`),
      report: async (_, news) => {
        if (news.kind === "running") this.running = news;
        this.told.push(`${newsText(news)} while ${this.#onDisk()}`);
        await this.recording;
      },
      onBug: (error) => this.failed(error),
    });
  }

  #onDisk(): string {
    const { disk, processes } = this.world;
    return readHeld({ disk, processes, directory: DIRECTORY }, ONLY_GENERATION).kind;
  }

  async #launch(): Promise<Result<void>> {
    const tape = { segmentBytes: 4096, maxBytes: 65_536 };
    const names = { id: NAME, token: "t", socket: PLACE.socket, tape };
    await writeSpec(this.world, DIRECTORY, pipeSpec({ ...names, argv: ["work"], cwd: "/", env: {} }));
    this.world.children.detached({ argv: ["holder", DIRECTORY], cwd: "/", env: {} });
    return ok(undefined);
  }

  protected override startProgram(_: Command, events: PipeEvents): PipeChild {
    const code = this.refusals.shift();
    if (code !== undefined) throw new Fault({ code, operation: "start", path: "work" });
    const { life, who } = this.born();
    this.programs.push({
      ...events,
      ended: (ending) => {
        life.end();
        events.ended(ending);
      },
    });
    return { pid: who.pid, write: async () => undefined, closeInput: () => undefined, signal: () => true };
  }

  async pass(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += STEP_MS) {
      await this.clock.settle();
      this.clock.advance(STEP_MS);
    }
    await this.clock.settle();
    if (this.trouble !== undefined) throw this.trouble;
  }
}

function newsText(news: HeldNews): string {
  if (news.kind === "ended") return `ended with ${news.code}`;
  return news.kind === "running" ? "running" : `${news.kind}: ${news.reason}`;
}
