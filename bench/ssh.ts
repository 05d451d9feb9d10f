// OpenSSH as a peer: its own server on loopback, with keys and a configuration of its own, and `ssh -R`, by which the
// server's side reaches a socket of the client's side. It is not installed by itself: Debian's package starts a server
// of the system's.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { environment } from "./home.ts";
import { freePort, isTaken } from "./ports.ts";
import { type Bench, makePlace } from "./scratch.ts";
import { until } from "./waiting.ts";

const SSHD = "/usr/sbin/sshd";
const START_MS = 30_000;

export class Ssh {
  readonly #place: string;
  readonly #port: number;
  readonly #children: Bun.Subprocess[] = [];

  /** Undefined if it is unavailable; prints the reason. */
  static find(bench: Bench, names: readonly string[]): Ssh | undefined {
    if (existsSync(SSHD) && Bun.which("ssh") !== null) return new Ssh(bench);
    bench.say(`skipped, because there is no sshd (Debian: apt-get install openssh-server): ${names.join(", ")}`);
    return undefined;
  }

  private constructor(bench: Bench) {
    this.#place = makePlace(bench, "ssh");
    this.#port = freePort();
    for (const name of ["host", "user"]) this.#run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", this.#in(name));
    this.#run("cp", this.#in("user.pub"), this.#in("authorized"));
    const lines = [
      ...[`Port ${this.#port}`, "ListenAddress 127.0.0.1", `HostKey ${this.#in("host")}`, "PidFile none"],
      ...[`AuthorizedKeysFile ${this.#in("authorized")}`, "StrictModes no", "UsePAM no", "PasswordAuthentication no"],
      ...["PermitRootLogin prohibit-password", "AllowTcpForwarding yes"],
    ];
    writeFileSync(this.#in("config"), `${lines.join("\n")}\n`);
  }

  #in(name: string): string {
    return join(this.#place, name);
  }

  #run(...argv: readonly string[]): void {
    const done = Bun.spawnSync([...argv], { env: environment(this.#place), stdio: ["ignore", "ignore", "pipe"] });
    if (done.exitCode !== 0) throw new Error(`${argv.join(" ")}: ${done.stderr}`);
  }

  /** The port on the server's side that leads to this socket on the client's. */
  async forward(socket: string): Promise<number> {
    const port = freePort();
    if (process.getuid?.() === 0 && !existsSync("/run/sshd")) this.#run("mkdir", "-p", "-m", "755", "/run/sshd");
    this.#start(SSHD, "-D", "-e", "-f", this.#in("config"));
    await until("sshd", START_MS, () => isTaken(this.#port));
    const options = ["StrictHostKeyChecking=no", `UserKnownHostsFile=${this.#in("known")}`, "ExitOnForwardFailure=yes"];
    const words = options.flatMap((option) => ["-o", option]);
    const leads = ["-N", "-R", `127.0.0.1:${port}:${socket}`, "-p", `${this.#port}`, "127.0.0.1"];
    this.#start("ssh", "-F", "none", "-i", this.#in("user"), ...words, ...leads);
    await until("the forwarded port", START_MS, () => isTaken(port));
    return port;
  }

  #start(...argv: readonly string[]): void {
    const env = environment(this.#place);
    this.#children.push(Bun.spawn([...argv], { env, cwd: "/", stdio: ["ignore", "ignore", "ignore"] }));
  }

  async end(): Promise<void> {
    for (const child of this.#children.toReversed()) {
      child.kill("SIGKILL");
      await child.exited;
    }
  }
}
