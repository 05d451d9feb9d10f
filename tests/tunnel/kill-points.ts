// "Prompt → answer → delivered" from afar, by the page's own code, with kill -9 of relay, web host, daemon or device
// while a message is between two of them. Each point is made certain: the message waits in a proxy on the way, or in
// the socket of a receiver that is stopped.
import { afterAll, expect } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newDevice } from "../../bench/far-device.ts";
import { processesOf } from "../../bench/processes.ts";
import { endAll } from "../cli/terminal-home.ts";
import { ours } from "../ours.ts";
import { until } from "../until.ts";
import { FarHome, RelayProcess } from "./far-home.ts";
import { HoldingProxy } from "./holding-proxy.ts";
import { newDirectory } from "./relay-site.ts";

const closers: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(endAll);

/** Longer than a kill takes: what is held is not missed before. */
const HEARTBEAT = "30s";
/** An answer and a notice are longer, a heartbeat is shorter. */
const MIN_MESSAGE = 150;

export const VICTIMS = ["relay", "web", "daemon", "device"] as const;
export type Victim = (typeof VICTIMS)[number];
type Seen = { readonly open?: Readonly<Record<string, string>>; readonly passed?: boolean };

/** Everything that a prompt passes through. */
class Scene {
  readonly relay = new RelayProcess(closers, HEARTBEAT);
  readonly home = new FarHome("[crash_loop]\ncrashes = 1000\n");
  readonly #file = join(newDirectory(closers), "device.json");
  readonly #stopped = new Set<number>();
  readonly #ids = new Map<string, string>();
  seen: Seen[] = [];
  #device: Bun.Subprocess<"pipe", "pipe", "inherit"> | undefined;
  #toRelay: HoldingProxy | undefined;
  #toHome: HoldingProxy | undefined;

  static async start(): Promise<Scene> {
    const scene = new Scene();
    const { relay, home } = scene;
    await relay.serve();
    scene.#toRelay = await HoldingProxy.start(relay.web);
    scene.#toHome = await HoldingProxy.start(relay.port);
    closers.push(
      () => scene.#toRelay?.close(),
      () => scene.#toHome?.close(),
    );
    await home.enrol(relay, scene.#toHome.port);
    writeFileSync(scene.#file, JSON.stringify(newDevice((await home.json("pair", "--rights", "answer")).url)));
    scene.startDevice();
    return scene;
  }

  /** Between device and relay: `up` is the way to the relay. */
  get toRelay(): HoldingProxy {
    return this.#toRelay as HoldingProxy;
  }

  /** Between home and relay: `up` is the way to the relay. */
  get toHome(): HoldingProxy {
    return this.#toHome as HoldingProxy;
  }

  startDevice(): void {
    const argv = ours("tests/tunnel/device-process.ts", this.#file, `${this.toRelay.port}`);
    const device = Bun.spawn(argv, { stdio: ["pipe", "pipe", "inherit"] });
    closers.push(() => device.kill("SIGKILL"));
    this.#device = device;
    this.seen = [];
    void this.#listen(device);
  }

  async #listen(device: Bun.Subprocess<"pipe", "pipe", "inherit">): Promise<void> {
    let rest = "";
    for await (const text of device.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      if (this.#device === device) this.seen.push(...lines.map((line) => JSON.parse(line)));
    }
  }

  tell(line: string): void {
    this.#device?.stdin.write(`${line}\n`);
    this.#device?.stdin.flush();
  }

  async isUp(): Promise<void> {
    this.seen = [];
    const isHeard = () => {
      if (this.seen.length === 0) this.tell("look");
      return this.seen.length > 0;
    };
    await until("the device is up", isHeard, () => this.seen);
  }

  /** The prompt of this agent as the device sees it waiting now; undefined if it does not. */
  waiting(agent: string): string | undefined {
    return this.seen.findLast(({ open }) => open !== undefined)?.open?.[agent];
  }

  async shown(agent: string): Promise<string> {
    return until(
      `the device shows the prompt of ${agent}`,
      () => this.waiting(agent),
      () => this.seen.slice(-3),
    );
  }

  /** The host has passed on what the device asked for before. */
  async passed(): Promise<void> {
    await until(
      "the host has passed it on",
      () => this.seen.some(({ passed }) => passed === true),
      () => this.seen.slice(-3),
    );
  }

  async isAnswered(agent: string): Promise<void> {
    const log = () => this.home.ok("agent", "log", agent);
    await until("the answer is in the log", async () => (await log()).includes(": allow, by"), log);
  }

  async isHeld(proxy: HoldingProxy): Promise<void> {
    await until(
      "the message is held",
      () => proxy.waiting >= MIN_MESSAGE,
      () => proxy.waiting,
    );
  }

  async pidOf(part: "web" | "daemon"): Promise<number> {
    const find = async () => (await this.home.pids())[part] ?? undefined;
    return until(`the ${part} runs`, find, () => part);
  }

  stop(...pids: readonly number[]): void {
    for (const pid of pids) {
      process.kill(pid, "SIGSTOP");
      this.#stopped.add(pid);
    }
  }

  /** What holds the agents' processes. */
  holders(): number[] {
    const place = join(this.home.path, "agents/");
    const isOne = (words: readonly string[]) => words.some((word) => word.startsWith(place));
    const found = processesOf(this.home.path).filter(({ words }) => isOne(words));
    if (found.length === 0) throw new Error("no agent has a holder");
    return found.map(({ pid }) => pid);
  }

  /** Asked for once: later, the daemon may be stopped. */
  async #placeOf(agent: string): Promise<string> {
    const id = this.#ids.get(agent) ?? (await this.home.json("agent", "inspect", agent)).id;
    this.#ids.set(agent, id);
    return join(this.home.path, "agents", id.replaceAll("-", ""), "processes/1");
  }

  /** The agent's own process: the child of its holder. */
  async programOf(agent: string): Promise<number> {
    const place = await this.#placeOf(agent);
    const all = processesOf(this.home.path);
    const holder = all.find(({ words }) => words.includes(place))?.pid;
    const program = all.find(({ pid }) => readFileSync(`/proc/${pid}/status`, "utf8").includes(`PPid:\t${holder}\n`));
    if (program === undefined) throw new Error(`${agent} has no process`);
    return program.pid;
  }

  /** The holder has recorded it: what the program has said, or what was given to it. */
  async isRecorded(agent: string, tape: "tape" | "input-tape", words: string): Promise<void> {
    const place = join(await this.#placeOf(agent), tape);
    const names = () => (existsSync(place) ? readdirSync(place) : []);
    const text = () => names().map((name) => readFileSync(join(place, name), "latin1"));
    const isThere = () => text().some((one) => one.includes(words));
    await until(`the ${tape} of ${agent} has ${words}`, isThere, text);
  }

  goOn(): void {
    for (const pid of this.#stopped) signal(pid, "SIGCONT");
    this.#stopped.clear();
  }

  /** Turned off and on, the home dials at once: after many kills it would wait for a minute. */
  async #nextRelay(): Promise<void> {
    await this.relay.serve();
    await this.home.ok("tunnel", "off");
    const now = () => this.home.tunnel();
    const isOff = async () => {
      const { state, dialAt } = await now();
      return state === "Disconnected" && dialAt === null;
    };
    await until("the tunnel is off", isOff, now);
    await this.home.ok("tunnel", "on");
  }

  async kill(victim: Victim, pids: { readonly web: number; readonly daemon: number }): Promise<void> {
    if (victim === "relay") await this.relay.kill();
    else if (victim === "device") {
      this.#device?.kill("SIGKILL");
      await this.#device?.exited;
    } else signal(pids[victim], "SIGKILL");
    this.goOn();
    for (const proxy of [this.toRelay, this.toHome]) proxy.release();
    if (victim === "relay") await this.#nextRelay();
    if (victim === "device") this.startDevice();
  }
}

/** It may have been killed. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

type Pids = { readonly web: number; readonly daemon: number };
type Point = {
  readonly name: string;
  reach(scene: Scene, agent: string, ask: () => Promise<void>, pids: Pids): Promise<void>;
};

async function answered(scene: Scene, agent: string, ask: () => Promise<void>, before: () => void): Promise<void> {
  await ask();
  const prompt = await scene.shown(agent);
  before();
  scene.tell(prompt);
}

/** The holder has the answer; the program, which is stopped, does not. Returns the program. */
async function taken(scene: Scene, agent: string, ask: () => Promise<void>): Promise<number> {
  await ask();
  const prompt = await scene.shown(agent);
  const program = await scene.programOf(agent);
  scene.stop(program);
  scene.tell(prompt);
  await scene.isRecorded(agent, "input-tape", '"allow"');
  return program;
}

/** In the order of the messages. */
const POINTS: readonly Point[] = [
  {
    name: "the prompt from holder to daemon",
    reach: async (scene, agent, _, { daemon }) => {
      const file = join(scene.home.path, agent);
      await scene.home.ok("agent", "send", agent, `>> wait ${file}\n>> ask Bash make`);
      await scene.isRecorded(agent, "input-tape", "ask Bash make");
      scene.stop(daemon);
      writeFileSync(file, "");
      await scene.isRecorded(agent, "tape", '"ask"');
    },
  },
  {
    name: "the prompt from daemon to web host",
    reach: async (scene, agent, ask, { web }) => {
      scene.stop(web);
      await ask();
      await until(
        "the prompt is there",
        async () => (await scene.home.ok("prompts", "--json")).includes(agent),
        () => agent,
      );
    },
  },
  {
    name: "the prompt from web host to relay",
    reach: async (scene, _, ask) => {
      scene.toHome.hold("up");
      await ask();
      await scene.isHeld(scene.toHome);
    },
  },
  {
    name: "the prompt from relay to device",
    reach: async (scene, _, ask) => {
      scene.toRelay.hold("down");
      await ask();
      await scene.isHeld(scene.toRelay);
    },
  },
  {
    name: "the answer from device to relay",
    reach: async (scene, agent, ask) => {
      await answered(scene, agent, ask, () => scene.toRelay.hold("up"));
      await scene.isHeld(scene.toRelay);
    },
  },
  {
    name: "the answer from relay to web host",
    reach: async (scene, agent, ask) => {
      await answered(scene, agent, ask, () => scene.toHome.hold("down"));
      await scene.isHeld(scene.toHome);
    },
  },
  {
    name: "the answer from web host to daemon",
    reach: async (scene, agent, ask, { daemon }) => {
      await answered(scene, agent, ask, () => scene.stop(daemon));
      await scene.passed();
    },
  },
  {
    name: "the answer from daemon to holder",
    reach: async (scene, agent, ask) => {
      await answered(scene, agent, ask, () => scene.stop(...scene.holders()));
      await scene.isAnswered(agent);
    },
  },
  {
    name: "the answer from holder to the agent's program",
    reach: async (scene, agent, ask) => {
      await taken(scene, agent, ask);
    },
  },
  {
    name: "what the agent says then, from holder to daemon",
    reach: async (scene, agent, ask, { daemon }) => {
      const program = await taken(scene, agent, ask);
      scene.stop(daemon);
      signal(program, "SIGCONT");
      await scene.isRecorded(agent, "tape", '"allow"');
    },
  },
  {
    name: "the result from daemon to web host",
    reach: async (scene, agent, ask, { daemon, web }) => {
      await answered(scene, agent, ask, () => scene.stop(daemon));
      await scene.passed();
      scene.stop(web);
      signal(daemon, "SIGCONT");
      await scene.isAnswered(agent);
    },
  },
  {
    name: "the result from web host to relay",
    reach: async (scene, agent, ask) => {
      await answered(scene, agent, ask, () => scene.toHome.hold("up"));
      await scene.isAnswered(agent);
      await scene.isHeld(scene.toHome);
    },
  },
  {
    name: "the result from relay to device",
    reach: async (scene, agent, ask) => {
      await answered(scene, agent, ask, () => scene.toRelay.hold("down"));
      await scene.isAnswered(agent);
      await scene.isHeld(scene.toRelay);
    },
  },
];

/** As a person does who sees it waiting still, until it has arrived. */
async function delivered(scene: Scene, agent: string): Promise<string> {
  const log = () => scene.home.ok("agent", "log", agent);
  await until(
    `${agent} has its answer`,
    async () => {
      const now = await log();
      if (now.includes("> allow")) return true;
      scene.tell("look");
      const prompt = scene.waiting(agent);
      if (prompt !== undefined) scene.tell(prompt);
      return false;
    },
    async () => [await log(), scene.seen.slice(-3)],
  );
  return log();
}

export const MESSAGES: readonly string[] = POINTS.map(({ name }) => name);

let started: Promise<Scene> | undefined;

/** A prompt is delivered exactly once, or shown as waiting, if this part is killed while this message is on its way. */
export async function killedAt(victim: Victim, message: string): Promise<void> {
  started ??= Scene.start();
  const scene = await started;
  const at = MESSAGES.indexOf(message);
  const agent = `${victim}-${at}`;
  await scene.home.newAgent(agent);
  await scene.home.connected();
  const pids = { web: await scene.pidOf("web"), daemon: await scene.pidOf("daemon") };
  await scene.isUp();
  await POINTS[at]?.reach(scene, agent, () => scene.home.asks(agent), pids);
  await scene.kill(victim, pids);
  const log = await delivered(scene, agent);
  expect([log.match(/: allow, by/g)?.length, log.match(/> allow/g)?.length]).toEqual([1, 1]);
}
