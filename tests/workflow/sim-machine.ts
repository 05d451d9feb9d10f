// A whole machine in memory for workflows: a disk that forgets what was not synced, a process table, sockets, the real holders of attempts, and
// programs that leave a mark which nothing takes back. The daemon on it is the real one's part for workflows (sim-daemon.ts).
// SM1. A daemon that dies alone leaves the disk's cache, the holders and their programs as they are; a machine that goes down, none of them.
// SM2. Every call that changes the disk, every start of a holder and every effect is a moment at which either may happen.
// SM3. The same seed, workflow and plan give the same life: nothing in here waits for anything real.
import { isFault } from "../../src/base/fault.ts";
import { Holder, type HolderWorld } from "../../src/holder/holder.ts";
import { claim } from "../../src/holder/records.ts";
import { SocketKeeper } from "../../src/holder/socket-keeper.ts";
import { readWhole } from "../../src/log/file.ts";
import { parseSpec } from "../../src/wire/holder-json.ts";
import { decodeLine } from "../../src/wire/lines.ts";
import type { Children, Command, Ending, PipeChild, PipeEvents, ToldChild } from "../../src/world/children.ts";
import { isAlive, type Processes, type ProcessIdentity } from "../../src/world/process.ts";
import { SimClock } from "../sim/clock.ts";
import { SimDisk } from "../sim/disk.ts";
import { Crashed } from "../sim/faults.ts";
import { Life, type Moment, mortalClock, mortalDisk } from "../sim/mortal.ts";
import { SimProcesses } from "../sim/processes.ts";
import { SimRandom } from "../sim/random.ts";
import { SimSockets } from "../sim/sockets.ts";
import type { Chooser } from "../sim/survive.ts";

export const HOME = "/h";
/** Starting a process takes a moment, and so does everything that a program does. */
const START_MS = 2;
const ACT_MS = 15;
const SYNC_MS = 1;

/** What a program did: which step of which item and iteration, in which try, in which attempt. */
export type Mark = { readonly mark: string; readonly attempt: string };

/** A process: its life, and its place in the table. */
export type Born = { readonly life: Life; readonly who: ProcessIdentity; nudge(): void };

export class Machine {
  readonly clock = new SimClock();
  readonly random: SimRandom;
  readonly marks: Mark[] = [];
  /** What a program that lists the items of a map says, by the directory it runs in. */
  readonly lists = new Map<string, string>();
  disk = new SimDisk();
  trouble: Error | undefined;
  /** SM2 */
  moment: Moment = () => undefined;
  #table = new SimProcesses();
  #sockets = new SimSockets();
  #living = new Map<number, Born>();

  constructor(seed: number) {
    this.random = new SimRandom(seed);
    this.#slowDown();
  }

  /** The log's syncs take a while, as on a real disk: whoever acts before they are done is seen. */
  #slowDown(): void {
    this.disk.gate = ({ path }) =>
      path.endsWith(".wal") ? new Promise((synced) => this.clock.after(SYNC_MS, synced)) : Promise.resolve();
  }

  /** Whoever is killed in the middle of something has said all that it will. */
  crashedOr(error: unknown): void {
    if (!(error instanceof Crashed)) this.failed(error);
  }

  /** Something broke that nobody broke on purpose. */
  failed(error: unknown): void {
    this.trouble ??= error instanceof Error ? error : new Error(String(error));
  }

  /** Somebody is started. */
  born(nudge: () => void = () => undefined, variables: Readonly<Record<string, string>> = {}): Born {
    const who = this.#table.spawn(undefined, { variables });
    const born = { life: new Life(), who, nudge };
    this.#living.set(who.pid, born);
    born.life.onEnd(() => {
      this.#living.delete(who.pid);
      if (this.#table.alive(who)) this.#table.exit(who.pid);
    });
    return born;
  }

  /** What a process reaches of the machine. */
  doors({ life, who }: Born) {
    return {
      disk: mortalDisk(this.disk, life, (what) => this.moment(what)),
      clock: mortalClock(this.clock, life),
      processes: this.#processes(who.pid),
      sockets: this.#sockets.door(life),
      children: this.#children(life),
      random: this.random,
      home: HOME,
    };
  }

  /** The power goes: of the disk there is left what `choose` leaves. */
  powerCut(choose: Chooser): void {
    for (const { life } of [...this.#living.values()]) life.end();
    this.disk = this.disk.powerCut(choose);
    this.#slowDown();
    this.#table.reboot();
    this.#sockets = new SimSockets();
  }

  #processes(pid: number): Processes {
    const table = this.#table;
    return {
      pid,
      startTime: (of) => table.startTime(of),
      bootId: () => table.bootId(),
      alive: (who) => isAlive(table, who),
      isTaken: (of) => table.isTaken(of),
      waitsForDisk: (of) => table.waitsForDisk(of),
      list: () => table.list(),
      variable: (of, name) => table.variable(of, name),
      foreground: (of) => table.foreground(of),
      ticks: () => table.ticks(),
      kill: (who, signal) => {
        const born = isAlive(table, who) ? this.#living.get(who.pid) : undefined;
        if (signal === "SIGHUP") born?.nudge();
        else born?.life.end();
        return born !== undefined;
      },
    };
  }

  #children(life: Life): Children {
    return {
      detached: (command) => this.#startHolder(life, command),
      told: (_, ended) => this.#startOrdered(life, ended),
      pipes: (command, events) => this.#startProgram(command, events),
      pty: absent,
      watched: absent,
    };
  }

  #startHolder(starter: Life, { argv }: Command): number {
    starter.mustLive();
    this.moment("the holder starts");
    starter.mustLive();
    const kept: { keeper?: SocketKeeper } = {};
    const born = this.born(() => void kept.keeper?.look());
    const hold = async (): Promise<void> => {
      await this.#hold(born, argv.at(-1) ?? "", kept);
      kept.keeper?.close();
      born.life.end();
    };
    mortalClock(this.clock, born.life).after(START_MS, () => void hold().catch((error) => this.crashedOr(error)));
    return born.who.pid;
  }

  /** A holder that takes one order after the other, and leaves when whoever gives them does. */
  #startOrdered(starter: Life, ended: () => void): ToldChild {
    starter.mustLive();
    this.moment("the holder starts");
    starter.mustLive();
    const kept: { keeper?: SocketKeeper } = {};
    const born = this.born(() => void kept.keeper?.look());
    const { promise: leaving, resolve: leave } = Promise.withResolvers<undefined>();
    const orders: PromiseWithResolvers<string>[] = [Promise.withResolvers()];
    const work = async (): Promise<void> => {
      for (;;) {
        const directory = await Promise.race([orders[0]?.promise, leaving]);
        if (directory === undefined) break;
        orders.shift();
        await this.#hold(born, directory, kept);
        kept.keeper?.close();
      }
      born.life.end();
    };
    starter.onEnd(() => leave(undefined));
    born.life.onEnd(() => {
      if (!starter.dead) ended();
    });
    mortalClock(this.clock, born.life).after(START_MS, () => void work().catch((error) => this.crashedOr(error)));
    return {
      pid: born.who.pid,
      tell: (bytes) => {
        orders.at(-1)?.resolve(String(decodeLine(new TextDecoder().decode(bytes))?.["directory"]));
        orders.push(Promise.withResolvers());
      },
      letGo: () => leave(undefined),
    };
  }

  /** As src/holder/main.ts does it. */
  async #hold(born: Born, directory: string, kept: { keeper?: SocketKeeper }): Promise<void> {
    const world: HolderWorld = { ...this.doors(born), rest: () => undefined };
    const spec = parseSpec(readWhole(world.disk, `${directory}/holder.json`) ?? new Uint8Array(0));
    if (!spec.ok) return;
    const holder = new Holder(world, spec.value, directory);
    try {
      kept.keeper = await SocketKeeper.open(world, spec.value.socket, (connection) => holder.accept(connection));
    } catch (error) {
      if (isFault(error, "EADDRINUSE")) return;
      throw error;
    }
    if (await claim({ ...world, directory }, spec.value.generation)) await holder.run(() => kept.keeper?.touch());
  }

  /** Leaves its mark, says something, and ends; each after a moment, so that anything may happen in between. */
  #startProgram(command: Command, events: PipeEvents): PipeChild {
    const { env } = command;
    const born = this.born(undefined, env);
    const clock = mortalClock(this.clock, born.life);
    const heard: Uint8Array[] = [];
    const end = (ending: Ending) => {
      if (born.life.dead) return;
      born.life.end();
      events.ended(ending);
    };
    const act = () => {
      const done = doingOf(command, Buffer.concat(heard).toString(), this.lists);
      this.moment("the effect");
      if (born.life.dead) return;
      this.marks.push({ mark: done.mark, attempt: env["HOLDFAST_ATTEMPT"] ?? "" });
      this.moment("the effect is there");
      clock.after(ACT_MS, () => {
        void events.output(Buffer.from(done.output), "stdout");
        end({ kind: "exited", code: done.code });
      });
    };
    let begun = false;
    const acts = () => {
      if (!begun) clock.after(ACT_MS + ((env["HOLDFAST_KEY"]?.length ?? 0) % 3), act);
      begun = true; // What has ended does not end again.
    };
    if (!isAgent(command)) acts();
    return {
      pid: born.who.pid,
      write: async (bytes) => void heard.push(new Uint8Array(bytes)),
      closeInput: () => {
        if (isAgent(command)) acts(); // It has its prompt now, and all of it.
      },
      signal: (signal) => {
        end({ kind: "signalled", signal });
        return true;
      },
    };
  }
}

function isAgent({ argv }: Command): boolean {
  return argv[0] === "agent";
}

/** What a program does depends on its words, its values and its try alone: `work ok`, `work fail`, `work fail-2` (the first two times). */
function doingOf({ argv, env, cwd }: Command, prompt: string, lists: ReadonlyMap<string, string>) {
  const [, word = "ok"] = /\bwork (\S+)/.exec(argv.join(" ")) ?? [];
  const failures = word === "fail" ? Number.POSITIVE_INFINITY : Number(/^fail-(\d+)$/.exec(word)?.[1] ?? 0);
  const said = `${env["HOLDFAST_STEP"]}(${env["HOLDFAST_VALUE_1"] ?? prompt})\n`;
  return {
    mark: `${env["HOLDFAST_KEY"]}#${env["HOLDFAST_TRY"]}`,
    code: Number(env["HOLDFAST_TRY"]) <= failures ? 1 : 0,
    output: env["HOLDFAST_STEP"] === "map.input" ? (lists.get(cwd) ?? "") : said,
  };
}

function absent(): never {
  throw new Error("no step starts such a thing");
}
