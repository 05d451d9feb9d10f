// A home that is up, for many faults one after the other: its programs, and whether everything works.
// FS1. Everything works if the home is live and watched, the page answers, and what is asked for is acknowledged and
//      comes true (wishes.ts).
// FS2. The bystander's program is never touched: it has the same pid as long as its holder lives.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DAEMON_LOCK, HOLDER_PROGRAMS, RUN_LOG, WATCHDOG_LOCK, WEB_LOCK } from "../../../src/home/layout.ts";
import { logPath } from "../../../src/home/run-log.ts";
import { holderOf } from "../../../src/home/running.ts";
import { SETTINGS_VARIABLE } from "../../../src/wire/heartbeat.ts";
import type { Method, Methods } from "../../../src/wire/rpc/rpc.ts";
import { realDisk } from "../../../src/world/real/disk.ts";
import { AgentHome } from "../../agent/agent-home.ts";
import { isGone, killIfThere, processes, readProc } from "../../daemon/home.ts";
import { BUN, COUNTING } from "../../ours.ts";
import { withPage } from "../../small-home.ts";
import { until } from "../../until.ts";
import { type Answer, command, EARLY } from "./command.ts";
import type { Program } from "./table.ts";
import { TYPED, WISHES, Wishes } from "./wishes.ts";

/** A watchdog that is as patient as strace is slow, and does not take faults for a crash loop; whoever starts it. */
const SETTINGS = { heartbeatMs: 500, killAfterMs: 60_000, graceMs: 1_000, crashes: 100_000 };
const CONFIG = "[daemon]\nheartbeat_ms = 500\nunresponsive_kill_s = 60\n[crash_loop]\ncrashes = 100000\n";
/** It prints without end, so that its holder has something to write; and writes what is typed into a file. */
const PRINTS = "i=0; while :; do i=$((i+1)); echo line $i; sleep 0.1; done";
const READS = 'while read -r line; do echo "$line" >> "$0"; done';
/** How long a program must have been live, so that its next end does not count as one of many (A2 of pace.ts). */
const STEADY_MS = 1_500;
const RESTART = "holdfast down && holdfast up";
const PATH = "/usr/local/bin:/usr/bin:/bin";

/** A daemon that does not answer for this long does not count as one. */
const ANSWER_MS = 5_000;

class SweepHome extends AgentHome {
  override ask<M extends Method>(method: M, params: Methods[M]["params"]) {
    return Promise.race([super.ask(method, params), Bun.sleep(ANSWER_MS).then(() => undefined)]);
  }
}

export class FaultSite {
  readonly home = new SweepHome();
  readonly scratch = mkdtempSync(join(tmpdir(), "holdfast-sweep-"));
  readonly wishes: Wishes;
  /** Whether a round was accepted whole and has not come true yet. */
  #isAsked = false;
  #bystander = { id: "", pid: 0, holder: 0 };
  /** A terminal whose holder may fail. */
  victim = "";
  /** The daemon that was last seen live, and since when. */
  #live = { pid: 0, since: 0 };

  constructor() {
    withPage(join(this.home.path, ".config/holdfast/config.toml"), CONFIG);
    this.wishes = new Wishes(this.home);
  }

  /** As `up`: `up` is wanted, and there is a watchdog. */
  startWatchdog(): void {
    writeFileSync(this.home.file("recovery/wanted.json"), '{"v":1,"wanted":"up"}\n');
    const env = { PATH, HOME: this.home.path, [SETTINGS_VARIABLE]: JSON.stringify(SETTINGS) };
    const log = logPath(this.home.path);
    mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
    const words = [BUN, "--config=/dev/null", "--no-env-file", "--no-install", ...COUNTING, "--preload", EARLY];
    const argv = [...words, join(import.meta.dir, "../../../src/watchdog/main.ts"), this.home.path];
    appendFileSync(log, "");
    const out = Bun.spawn(["sh", "-c", 'exec "$0" "$@" 2>>"$SAID"', ...argv], {
      cwd: "/",
      env: { ...env, SAID: log },
      stdio: ["ignore", "ignore", "ignore"],
    });
    out.unref();
  }

  /** What watchdog and daemon wrote. */
  said(): string {
    return this.home.text(RUN_LOG);
  }

  pidOf(program: "daemon" | "watchdog" | "web"): number | undefined {
    const lock = { daemon: DAEMON_LOCK, watchdog: WATCHDOG_LOCK, web: WEB_LOCK }[program];
    return holderOf({ disk: realDisk(), processes }, this.home.file(lock))?.pid;
  }

  async isLive(): Promise<boolean> {
    const status = await this.home.ask("status", {});
    if (status?.ok !== true || status.value.recovery.stage !== "LIVE") return false;
    const { pid } = status.value.daemon;
    if (pid !== this.#live.pid) this.#live = { pid, since: performance.now() };
    return this.pidOf("watchdog") !== undefined;
  }

  /** Kills the daemon. One that dies again and again is started later and later, unless it was live for a second. */
  async killDaemon(): Promise<void> {
    const liveMs = async () => ((await this.isLive()) ? performance.now() - this.#live.since : 0);
    await until("the daemon has been live for a second", async () => (await liveMs()) > STEADY_MS, liveMs);
    killIfThere(this.#live.pid);
  }

  live(): Promise<boolean> {
    return until(
      "it is live, and watched",
      () => this.isLive(),
      () => this.said().slice(-1500),
    );
  }

  async begin(): Promise<void> {
    this.startWatchdog();
    await this.live();
    const bin = this.home.file(HOLDER_PROGRAMS);
    const made = () => existsSync(bin) && readdirSync(bin).filter((name) => name.endsWith(".js")).length === 2;
    await until("the holders' programs are built", made, () => this.said());
    for (const name of readdirSync(bin)) {
      const path = join(bin, name);
      writeFileSync(path, readFileSync(path, "utf8").replace("__dirname) {", `$&require(${JSON.stringify(EARLY)});`));
    }
    const id = await this.home.open("bystander", this.#program());
    const { pid, holder } = await this.home.is(id, "running");
    this.#bystander = { id, pid, holder };
    this.victim = await this.home.open("victim", this.#program());
    await this.home.is(this.victim, "running");
    this.wishes.agent = await this.home.agent("worker", {
      settings: { recovery_prompt: `>> append ${this.home.file("heard")} resumed` },
    });
    await until(
      "everything works",
      () => this.isWell(),
      () => this.seen(),
    );
  }

  /** FS1 */
  async isWell(): Promise<boolean> {
    if (!(await this.isLive()) || !(await this.hasPage())) return false;
    if (!this.#isAsked) {
      this.#isAsked = true;
      if ((await this.wishes.ask(this.#bystander.id)) < WISHES) this.#isAsked = false;
    }
    if (!this.#isAsked || (await this.wishes.open()).length > 0) return false;
    const wrong = (await this.#unrecorded()).at(0) ?? (await this.bystanders());
    const status = await this.home.ask("status", {});
    if (wrong !== undefined || status?.ok !== true || status.value.disk) return false;
    this.#isAsked = false;
    return true;
  }

  /** The running terminals whose output is not recorded. */
  async #unrecorded(): Promise<string[]> {
    const listed = await this.home.ask("terminal.list", {});
    const all = listed?.ok === true ? listed.value : [];
    return all.flatMap(({ id, state, trouble }) => (state.kind === "running" && trouble !== undefined ? [id] : []));
  }

  /** A tape whose sync failed is not used again: only the end of its terminal ends that trouble. */
  async #endUnrecorded(): Promise<void> {
    if (!(await this.#unrecorded()).includes(this.victim)) return;
    this.#endLater(this.victim);
    this.victim = await this.home.open(`victim${this.wishes.next()}`, this.#program());
  }

  #program(): string[] {
    return ["sh", "-c", `{ ${PRINTS}; } & ${READS}`, this.home.file(TYPED)];
  }

  #endLater(id: string): void {
    this.wishes.promise(`${id} is removed`, async () => {
      await this.home.ask("terminal.signal", { id, signal: "SIGKILL" });
      return (await this.home.ask("terminal.remove", { id }))?.ok === true;
    });
  }

  async hasPage(): Promise<boolean> {
    const status = await this.home.ask("status", {});
    const url = status?.ok === true ? status.value.web.url : null;
    if (url === null || this.pidOf("web") === undefined) return false;
    try {
      return (await fetch(url)).status === 200;
    } catch {
      return false;
    }
  }

  /** What is wrong, if `status` and `doctor` fail and give the next command. */
  async diagnosis(): Promise<string | undefined> {
    const status = await this.cli("status");
    if (status.code === 0 || !/"(?:hint|next)":"[^"]/.test(status.out + status.err)) return undefined;
    const doctor = await this.cli("doctor");
    if (doctor.code === 0 || !/"status":"problem"[^}]*"next":"[^"]/.test(doctor.out)) return undefined;
    const said = /"disk":\{.*?\}|"troubles":\[.*?\]/g;
    return `${(status.out + status.err).match(said)?.join(" ")}, doctor: ${problemsIn(doctor.out)}`;
  }

  async isCalm(): Promise<boolean> {
    return (await this.cli("status")).code === 0 && (await this.cli("doctor")).code === 0;
  }

  /** What `status` and `doctor` say is to be done. */
  async repair(): Promise<void> {
    const status = await this.home.ask("status", {});
    if (status?.ok !== true) return;
    if (status.value.recovery.stage.endsWith("_FAILED")) await this.cli("recovery", "retry");
    if (status.value.safeMode.active) await this.cli("safe-mode", "exit");
    if (status.value.troubles?.some(({ what }) => what.includes(RESTART))) {
      await command(this.home.path, "down");
      this.startWatchdog();
    }
    for (const { next } of status.value.troubles ?? []) await this.#resume(next);
    await this.#endUnrecorded();
    await this.#restore();
  }

  /** Runs of which a step was not started, because the disk failed again and again. */
  async #resume(next: string): Promise<void> {
    const words = /^holdfast (resume .*)/.exec(next)?.[1];
    if (words !== undefined) await this.cli(...words.split(" "), "--detach");
  }

  /** Terminals that were never started, because the disk failed again and again. */
  async #restore(): Promise<void> {
    const listed = await this.home.ask("terminal.list", { brief: true });
    for (const { id, state } of listed?.ok === true ? listed.value : []) {
      if (state.kind !== "uncertain" || state.child !== undefined) continue;
      this.wishes.mayBeLost = true; // Then it is a shell.
      await this.home.ask("terminal.restore", { id, way: "plan" });
    }
  }

  startIfGone(): void {
    if (this.pidOf("watchdog") === undefined && this.pidOf("daemon") === undefined) this.startWatchdog();
  }

  async seen(): Promise<unknown> {
    const status = await this.cli("status");
    const doctor = await this.cli("doctor");
    const problems = problemsIn(doctor.out);
    const [page, open, bystander] = [
      await this.hasPage(),
      await this.wishes.open(),
      await this.bystanders().catch(String),
    ];
    const listed = await this.home.ask("terminal.list", { brief: true });
    const states =
      listed?.ok === true ? listed.value.map(({ name, state, trouble }) => ({ name, state, trouble })) : [];
    return JSON.stringify({ states, page, open, bystander, status, doctor: doctor.code, problems });
  }

  /** The pid of a program that runs. */
  async working(program: Program): Promise<number> {
    if (program === "screen") await this.draw(false);
    if (program === "holder") await this.#newVictim();
    return until(
      `there is a ${program}`,
      async () => this.#pid(program),
      () => this.said().slice(-500),
    );
  }

  /** One whose holder was killed is a shell now, and prints nothing. */
  async #newVictim(): Promise<void> {
    const before = await this.home.listed(this.victim);
    if (before.generation > 1) this.victim = await this.home.open(`victim${this.wishes.next()}`, this.#program());
    await this.home.is(this.victim, "running");
  }

  async #pid(program: Program): Promise<number | undefined> {
    if (program === "screen") return this.home.ours().find((pid) => isScreen(pid));
    if (program !== "holder") return this.pidOf(program);
    const { state } = await this.home.listed(this.victim);
    return state.kind === "running" ? state.holder : undefined;
  }

  /** Has a screen drawn: the holder of a terminal is killed, and its program started again. */
  async draw(newScreen: boolean): Promise<void> {
    for (const pid of newScreen ? this.home.ours().filter(isScreen) : []) killIfThere(pid);
    const id = await this.home.open(`drawn${this.wishes.next()}`, ["sh", "-c", "echo drawn; exec sleep 1000"]);
    const tape = this.home.file(`terminals/${id}/tape`);
    const isWritten = () => existsSync(tape) && readdirSync(tape).some((name) => statSync(join(tape, name)).size > 0);
    await until("it has printed", isWritten, () => tape);
    killIfThere((await this.home.is(id, "running")).holder);
    const isBack = async () => (await this.home.listed(id)).generation > 1;
    await until("it is started again", isBack, () => this.home.listed(id));
    this.#endLater(id);
  }

  /** FS2. Returns what is wrong. */
  async bystanders(): Promise<string | undefined> {
    const { id, pid, holder } = this.#bystander;
    const { state } = await this.home.listed(id);
    if (!isGone(holder))
      return state.kind === "running" && state.pid === pid ? undefined : `bystander: ${JSON.stringify(state)}`;
    if (state.kind !== "running") return `bystander: ${JSON.stringify(state)}`;
    this.#bystander = { id, pid: state.pid, holder: state.holder };
    return undefined;
  }

  cli(...words: readonly string[]): Promise<Answer> {
    return command(this.home.path, ...words, "--json");
  }

  close(): void {
    rmSync(this.scratch, { recursive: true, force: true });
  }
}

function problemsIn(doctor: string): string | undefined {
  return doctor.match(/\{"name":"[^"]*","status":"(?:problem|warning)"[^}]*\}/g)?.join(" ");
}

function isScreen(pid: number): boolean {
  return readProc(pid, "cmdline").includes("src/screen/main.ts");
}
