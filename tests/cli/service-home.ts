// A home with a fake systemd beside it (fake-systemctl.ts).
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/files.ts";
import { BUN } from "../ours.ts";
import { Home } from "./terminal-home.ts";

export class ServiceHome extends Home {
  readonly #state = join(this.path, "sd");
  readonly #programs = join(this.path, "bin");

  constructor() {
    super();
    mkdirSync(this.#state);
    mkdirSync(this.#programs);
    for (const name of ["systemctl", "loginctl"]) {
      const fake = join(ROOT, "tests/cli/fake-systemctl.ts");
      this.program(name, `exec "${BUN}" --config=/dev/null "${fake}" "${this.#state}" ${name} "$@"`);
    }
  }

  /** Puts a program on the PATH. */
  program(name: string, script: string): void {
    writeFileSync(join(this.#programs, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(this.#programs, name), 0o755);
  }

  override get env(): Record<string, string> {
    const env = super.env;
    return { ...env, HOLDFAST_HOME: this.state, PATH: `${this.#programs}:${env["PATH"]}`, SSH_AUTH_SOCK: "/tmp/agent" };
  }

  /** Holdfast's home, separate from the user's. */
  get state(): string {
    return join(this.path, "hf");
  }

  get unit(): string {
    return join(this.path, ".config/systemd/user/holdfast.service");
  }

  get unitText(): string | undefined {
    return existsSync(this.unit) ? readFileSync(this.unit, "utf8") : undefined;
  }

  /** The calls to systemd since the last time. */
  calls(): string[] {
    const path = join(this.#state, "calls");
    const lines = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
    writeFileSync(path, "");
    return lines.filter((line) => line !== "" && !line.includes(" show"));
  }

  /** How often systemd started the watchdog. */
  get starts(): number[] {
    const path = join(this.#state, "starts");
    return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").map(Number) : [];
  }

  set broken(words: string) {
    writeFileSync(join(this.#state, "broken"), words);
  }

  refuseLinger(): void {
    writeFileSync(join(this.#state, "no-linger"), "");
  }

  /** `systemctl --user` called from outside Holdfast, for example at boot. */
  async systemctl(...words: readonly string[]): Promise<void> {
    const argv = [join(this.#programs, "systemctl"), "--user", ...words];
    await Bun.spawn(argv, { env: this.env, stdio: ["ignore", "ignore", "inherit"] }).exited;
    this.calls();
  }

  async pids(): Promise<{ daemon: number; watchdog: number }> {
    const { daemon, watchdog } = await this.status();
    return { daemon: daemon.pid, watchdog: watchdog.pid };
  }
}
