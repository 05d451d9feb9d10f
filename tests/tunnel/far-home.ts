// A relay and a home of a test's own, as people run them: `holdfast relay serve`, and a home that is enrolled there.
import { existsSync } from "node:fs";
import { isFault } from "../../src/base/fault.ts";
import { ACTOR } from "../agent/agent-home.ts";
import { ours } from "../ours.ts";
import { PageHome } from "../page/browser.ts";
import { until } from "../until.ts";
import { askDesk, type Closers, newDirectory } from "./relay-site.ts";

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  listener.stop(true);
  return listener.port;
}

/** `prefix`: of the command that starts it; `flags`: behind it. `address`: where homes find it. */
type Where = { readonly prefix?: readonly string[]; readonly flags?: readonly string[]; readonly address?: string };

/** `holdfast relay serve`, always on the same ports: homes and browsers find the next one. */
export class RelayProcess {
  readonly home: string;
  readonly port = freePort();
  readonly web = freePort();
  readonly #closers: Closers;
  readonly #heartbeat: string;
  readonly #prefix: readonly string[];
  readonly #flags: readonly string[];
  readonly #address: string;

  constructor(closers: Closers, heartbeat = "1s", { prefix = [], flags = [], address = "127.0.0.1" }: Where = {}) {
    this.#prefix = prefix;
    this.#flags = flags;
    this.#address = address;
    this.#closers = closers;
    this.#heartbeat = heartbeat;
    this.home = newDirectory(closers);
  }

  /** By which homes reach it. */
  get host(): string {
    return this.#address === "127.0.0.1" ? "localhost" : this.#address;
  }

  async serve(): Promise<void> {
    const where = [
      "--listen",
      `${this.#address}:${this.port}`,
      "--http",
      `127.0.0.1:${this.web}`,
      "--heartbeat",
      this.#heartbeat,
    ];
    const names = ["--home", this.home, "--domain", `relay.localhost:${this.web}`, "--host", this.host];
    const serve = ours("src/cli/main.ts", "relay", "serve", ...names, ...where, ...this.#flags);
    const child = Bun.spawn([...this.#prefix, ...serve], { stdio: ["ignore", "ignore", "ignore"] });
    this.#closers.push(async () => {
      child.kill("SIGTERM");
      await child.exited;
    });
    await until(
      "the relay answers",
      () => this.isUp(),
      () => this.home,
    );
  }

  async isUp(): Promise<boolean> {
    try {
      return (await this.pid()) > 0;
    } catch (error) {
      if (isFault(error) || String(error).includes("no answer")) return false; // It is not there yet.
      throw error;
    }
  }

  async pid(): Promise<number> {
    return (await askDesk(this.home, { method: "status" })).pid;
  }

  /** With -9. */
  async kill(): Promise<void> {
    const pid = await this.pid();
    process.kill(pid, "SIGKILL");
    await until(
      "the relay is gone",
      () => !existsSync(`/proc/${pid}`),
      () => pid,
    );
  }

  /** Kills it, and starts the next one: only then, because there is one for each home. */
  async crash(): Promise<void> {
    await this.kill();
    await this.serve();
  }

  async token(): Promise<string> {
    return (await askDesk(this.home, { method: "token", name: null, lifeMs: 600_000 })).token;
  }
}

export class FarHome extends PageHome {
  /** `port`: on the way to the relay. */
  async enrol(relay: RelayProcess, port = relay.port): Promise<void> {
    await this.ok("up");
    await this.ok("tunnel", "enroll", `${relay.host}:${port}`, await relay.token());
    await this.connected();
  }

  async tunnel() {
    return JSON.parse((await this.run("tunnel", "status", "--json")).out);
  }

  async connected(): Promise<void> {
    await until(
      "the home is connected",
      async () => (await this.tunnel()).state === "Connected",
      () => this.tunnel(),
    );
  }

  async newAgent(name: string, ...flags: readonly string[]): Promise<void> {
    await this.ok("agent", "new", name, "--provider", "scripted", ...flags, "--", ...ACTOR);
  }

  /** An agent that asks for a tool. */
  async asks(name: string, command = "make"): Promise<void> {
    await this.ok("agent", "send", name, `>> ask Bash ${command}`);
  }

  async askedBy(name: string, command: string): Promise<void> {
    await this.newAgent(name);
    await this.asks(name, command);
  }
}
