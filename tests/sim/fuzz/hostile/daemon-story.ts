// A story of the whole daemon in the simulated world, in which one agent, one run, one terminal and one client are
// hostile, and others are not.
// DS1. Whatever the hostile ones do: the daemon lives, the next one becomes LIVE, and everybody else is as before.
// DS2. A hostile agent can be terminated, unless its log was damaged on disk: then nothing is written to it.
// DS3. Files of the hostile ones, and small files of the home, are replaced while no daemon runs: the same holds.
import { expect } from "bun:test";
import { holderSocket, readSpec, terminalFiles } from "../../../../src/home/held/holder-files.ts";
import { DAEMON_SOCKET, TOKEN } from "../../../../src/home/layout.ts";
import { encodeFrame } from "../../../../src/wire/holder/frames.ts";
import { HELLO, INPUT, jsonFrame, PROTOCOL, SIZE_SHAPE } from "../../../../src/wire/holder/protocol.ts";
import { PARAMS } from "../../../../src/wire/rpc/params.ts";
import { RPC_PROTOCOL } from "../../../../src/wire/rpc/rpc.ts";
import type { SimDisk } from "../../disk.ts";
import { flows } from "../../holdfast/operator.ts";
import { idOf } from "../../holdfast/script.ts";
import { Site } from "../../holdfast/site.ts";
import { HOME } from "../../machine.ts";
import { SimRandom } from "../../random.ts";
import { Attacker } from "./attacks.ts";
import { exampleOf } from "./example.ts";
import { OUTPUTS, WORKFLOWS } from "./file-seeds.ts";
import { type HomeFiles, harm } from "./harm.ts";
import { HOSTILE, HostileMachine } from "./hostile-machine.ts";
import { ACP, CLAUDE, COMMAND, type Message, SCRIPTED } from "./seeds.ts";

const [GOOD, BAD, RUN] = [idOf(1), idOf(2), idOf(3)];
const TERMINAL = { lane: "main", argv: ["/bin/sh"], cwd: "/u", env: {}, cols: 80, rows: 24 };
const PROVIDERS: readonly (readonly [string, readonly Message[]])[] = [
  ...[["claude", CLAUDE] as const, ["acp", ACP] as const, ["scripted", SCRIPTED] as const, ["turns", COMMAND] as const],
];
const LINES = 12;
const FLOW = `steps:\n  - shell: ${HOSTILE}\n    capture: { x: json }\n  - shell: work \${x}\n`;
/** So many files are replaced. */
const FILES = 3;

export class HostileStory {
  readonly #machine: HostileMachine;
  readonly #site: Site;
  readonly #attacker: Attacker;
  /** The pid of the terminal that is not hostile. */
  #pid = 0;
  #turns = 1;
  #runs = 0;
  inputs = 0;

  constructor(seed: number) {
    this.#machine = new HostileMachine(seed);
    for (const [path, text] of flows()) this.#machine.disk.plant(path, Buffer.from(text));
    this.#machine.disk.plant("/u/hostile.yml", Buffer.from(FLOW));
    this.#machine.disk.plant("/u/items.json", Buffer.from("[1,2]"));
    this.#attacker = new Attacker(new SimRandom(seed));
    this.#site = new Site(this.#machine);
  }

  async tell(): Promise<void> {
    await this.#site.live();
    const victim = await this.#begin();
    await this.#attackFiles();
    await this.#attackDaemon();
    await this.#attackHolder(victim);
    await this.#site.machine.during(this.#site.client.sleep(30_000));
    expect(this.#machine.printed).toBeGreaterThan(1); // The agent and the step.
    await this.#othersGoOn();
    await this.#site.again();
    await this.#othersGoOn();
    await this.#leave();
    this.inputs += harm(filesOf(this.#machine.disk), this.#attacker, [BAD, RUN, victim], FILES); // DS3
    await this.#site.again();
    await this.#othersGoOn();
    await this.#terminate();
    await this.#site.again();
    await this.#othersGoOn();
  }

  /** Returns the hostile terminal. */
  async #begin(): Promise<string> {
    const site = this.#site;
    const calm = await site.ask("terminal.new", { ...TERMINAL, name: "calm" });
    const { id } = await site.ask("terminal.new", { ...TERMINAL, name: "victim" });
    await site.agent(GOOD);
    await site.is(GOOD, "idle", 1);
    this.#pid = this.#machine.witness.running.get(calm.id)?.who.pid ?? 0;
    const [provider, seeds] = this.#attacker.oneOf(PROVIDERS);
    for (let line = 0; line < LINES; line += 1)
      this.#machine.output.push(this.#attacker.line(this.#attacker.oneOf(seeds)), Buffer.from("\n"));
    this.inputs += LINES;
    await site.agent(BAD, provider, provider === "turns" ? [] : [HOSTILE]);
    return id;
  }

  /** A workflow file, and the output of a step. */
  async #attackFiles(): Promise<void> {
    const { disk } = this.#machine;
    disk.plant("/u/bad.yml", this.#attacker.file(this.#attacker.oneOf(WORKFLOWS)));
    const wish = { cwd: "/u", texts: {}, values: {}, env: {} };
    await this.#site.machine.during(
      this.#site.client.call("workflow.run", { ...wish, id: idOf(4), path: "/u/bad.yml" }),
    );
    await this.#site.machine.during(this.#site.client.sleep(1_000)); // The agent has printed its lines.
    this.#machine.output.splice(0, LINES * 2, this.#attacker.line(this.#attacker.oneOf(OUTPUTS)));
    await this.#site.ask("workflow.run", { ...wish, id: RUN, path: "/u/hostile.yml" });
    this.inputs += 2;
  }

  /** A client with our token, and one without. */
  async #attackDaemon(): Promise<void> {
    const attacker = this.#attacker;
    const token = Buffer.from(this.#machine.disk.peek(`${HOME}/${TOKEN}`) ?? []).toString();
    const hello = { jsonrpc: "2.0", id: 1, method: "hello", params: { token, version: "1", protocol: RPC_PROTOCOL } };
    for (const known of [true, false]) {
      const [method, shape] = attacker.oneOf(Object.entries(PARAMS));
      const line = attacker.line({ jsonrpc: "2.0", id: 2, method, params: exampleOf(shape) });
      const first = known ? Buffer.from(`${JSON.stringify(hello)}\n`) : attacker.line(hello);
      await this.#send(`${HOME}/${DAEMON_SOCKET}`, [first, line, Buffer.from("\n")]);
      this.inputs += 1;
    }
  }

  /** With the token of a terminal, and without. */
  async #attackHolder(id: string): Promise<void> {
    const { disk } = this.#machine.doors(this.#site.client.me);
    const token = readSpec(terminalFiles(disk, HOME, id))?.token ?? "";
    for (const known of [token, "another"]) {
      const hello = jsonFrame(HELLO, { v: PROTOCOL, token: known, writer: "w", from: 0 });
      const frame = encodeFrame(
        this.#attacker.oneOf([1, 2, 3, 4, 5, 6, 7, 99]),
        this.#attacker.line(exampleOf(SIZE_SHAPE)),
      );
      const input = this.#attacker.bytes(encodeFrame(INPUT, Buffer.alloc(12, 0xff)));
      await this.#send(holderSocket(HOME, id), [hello, frame, input]);
      this.inputs += 2;
    }
  }

  async #send(path: string, pieces: readonly Uint8Array[]): Promise<void> {
    const site = this.#site;
    const { sockets } = this.#machine.doors(site.client.me);
    const connected = sockets.connect(path, { bytes: () => undefined, closed: () => undefined });
    const connection = await site.machine.during(connected);
    for (const piece of pieces) connection.send(piece);
    await site.machine.during(site.client.sleep(500));
    connection.destroy();
  }

  /** DS1 */
  async #othersGoOn(): Promise<void> {
    const site = this.#site;
    expect([site.daemon.code, site.daemon.born.life.dead]).toEqual([undefined, false]);
    expect((await site.ask("status", {})).recovery.stage).toBe("LIVE");
    const terminals = await site.ask("terminal.list", {});
    const calm = terminals.find(({ name }) => name === "calm")?.state;
    expect(calm).toMatchObject({ kind: "running", pid: this.#pid });
    this.#turns += 1;
    await site.send(GOOD, 100 + this.#turns);
    await site.is(GOOD, "idle", this.#turns);
    await this.#runGoesOn();
  }

  async #runGoesOn(): Promise<void> {
    const site = this.#site;
    this.#runs += 1;
    const id = idOf(50 + this.#runs);
    await site.ask("workflow.run", { id, path: "/u/flow-1.yml", cwd: "/u", texts: {}, values: {}, env: {} });
    const look = async () => {
      for (;;) {
        const found = (await site.client.ask("workflow.list", {})).find((run) => run.id === id);
        if (found?.state === "done") return;
        await site.client.sleep(50);
      }
    };
    await site.machine.during(look());
  }

  /** DS2 */
  async #terminate(): Promise<void> {
    const site = this.#site;
    const ended = await site.machine.during(site.client.call("agent.terminate", { id: BAD, reason: "" }));
    if (!ended.ok && !["unknown", "log.frozen"].includes(ended.error.code))
      throw new Error(`it cannot be terminated: ${ended.error.message}`);
  }

  async #leave(): Promise<void> {
    const { daemon, machine } = this.#site;
    daemon.stop();
    await this.#site.machine.during(
      (async () => {
        while (!daemon.born.life.dead) await new Promise<void>((wake) => machine.clock.after(50, wake));
      })(),
    );
  }
}

function filesOf(disk: SimDisk): HomeFiles {
  const below = (directory: string): string[] =>
    disk.list(`${HOME}${directory}`).flatMap((name) => {
      const path = `${directory}/${name}`;
      return disk.stat(`${HOME}${path}`)?.kind === "directory" ? below(path) : [path.slice(1)];
    });
  return {
    all: () => below(""),
    read: (path) => disk.peek(`${HOME}/${path}`),
    write: (path, bytes) => disk.plant(`${HOME}/${path}`, bytes),
  };
}
