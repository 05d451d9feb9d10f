// The relay as people run it: `holdfast relay serve` and its commands, with kill -9 between what it confirms.
import { afterEach, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { ours } from "../ours.ts";
import { until } from "../until.ts";
import { certificates } from "./certificates.ts";
import { askDesk, type EnrolledIdentity, enrolledAt, newDirectory, PlayedHome } from "./relay-site.ts";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const BROWSERS = ["--http", "127.0.0.1:0"];

class RelayCommand {
  readonly home = newDirectory(closers);

  /** Until it answers; returns the pid of the relay itself. */
  async serve(): Promise<number> {
    const flags = ["--home", this.home, "--domain", "relay.test", "--host", "localhost", "--listen", "127.0.0.1:0"];
    const child = Bun.spawn(ours("src/cli/main.ts", "relay", "serve", ...flags, ...BROWSERS), {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let words = "";
    void child.stderr.pipeTo(
      new WritableStream({
        write: (bytes) => {
          words += Buffer.from(bytes).toString();
        },
      }),
    );
    closers.push(async () => {
      child.kill("SIGTERM");
      await child.exited;
    });
    await until(
      "it listens",
      () => words.includes("homes connect to port"),
      () => words,
    );
    return (await askDesk(this.home, { method: "status" })).pid;
  }

  /** Kills it with -9, and starts the next one. */
  async crash(pid: number): Promise<number> {
    process.kill(pid, "SIGKILL");
    const isDown = () => this.run("status").then(({ code }) => code !== 0);
    await until("it is gone", isDown, () => pid);
    return this.serve();
  }

  /** In order, after `last`. */
  async stop(pid: number, last: () => Promise<unknown>): Promise<void> {
    await last();
    process.kill(pid, "SIGTERM");
    await until(
      "it is gone",
      () => this.run("status").then(({ code }) => code !== 0),
      () => pid,
    );
  }

  /** Why it does not start. */
  async refusal(home = this.home, browsers: readonly string[] = BROWSERS): Promise<string> {
    const flags = ["--home", home, "--domain", "relay.test", "--listen", "127.0.0.1:0", ...browsers];
    const argv = ours("src/cli/main.ts", "relay", "serve", ...flags);
    const child = Bun.spawn(argv, { stdio: ["ignore", "ignore", "pipe"] });
    const words = await child.stderr.text();
    expect(await child.exited).not.toBe(0);
    return words;
  }

  async run(command: string, ...args: readonly string[]) {
    const child = Bun.spawn(ours("src/cli/main.ts", "relay", command, ...args, "--home", this.home, "--json"), {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, err, code] = [await child.stdout.text(), await child.stderr.text(), await child.exited];
    return { out, err, code };
  }

  async json(command: string, ...args: readonly string[]) {
    const { out, err, code } = await this.run(command, ...args);
    if (code !== 0) throw new Error(err);
    return JSON.parse(out);
  }

  async dial(identity: EnrolledIdentity): Promise<PlayedHome> {
    const { port } = (await this.json("status")).tunnel;
    const home = new PlayedHome({ host: "localhost", port, authority: { pem: identity.authority }, identity });
    closers.push(() => home.close());
    return home;
  }
}

test("kill -9 loses no token, no enrolment, no renewal and no revocation", async () => {
  const relay = new RelayCommand();
  let pid = await relay.serve();
  const { token } = await relay.json("token", "--name", "Büro");
  pid = await relay.crash(pid);
  const identity = await enrolledAt((await relay.json("status")).tunnel.port, token, "x");
  pid = await relay.crash(pid);
  const home = await relay.dial(identity);
  expect(await home.heard("welcome")).toMatchObject({ mode: "full", url: expect.stringMatching(/\.relay\.test\/$/) });
  const { key, request } = await certificates.newRequest();
  home.say({ type: "renew", request });
  const { certificate } = await home.heard("certificate");
  pid = await relay.crash(pid);
  const renewed = await relay.dial({ ...identity, key, certificate });
  expect((await renewed.heard("welcome")).mode).toBe("full");
  const revoked = await relay.json("revoke", identity.id);
  expect(revoked).toMatchObject({ id: identity.id, name: "Büro", connected: false });
  pid = await relay.crash(pid);
  for (const one of [identity, { ...identity, key, certificate }])
    expect((await (await relay.dial(one)).heard("refused")).reason).toBe("revoked");
  const events = (await relay.json("log")).map(({ event }: { event: string }) => event);
  expect(events).toEqual(
    ["token.made", "home.enrolled", "certificate.issued", "home.revoked"].map((name) => `relay.${name}`),
  );
  expect((await relay.json("ls"))[0].revokedAt).toBe(revoked.revokedAt);
});

test("commands say that no relay runs; a second one does not start on the same home, nor on other files", async () => {
  const relay = new RelayCommand();
  for (const command of ["status", "ls", "token", "log"]) {
    const { err, code } = await relay.run(command);
    expect([JSON.parse(err).code, code]).toEqual(["relay.down", 1]);
  }
  await relay.serve();
  expect(statSync(relay.home).mode & 0o777).toBe(0o700);
  expect(statSync(`${relay.home}/authority.json`).mode & 0o777).toBe(0o600);
  expect(statSync(`${relay.home}/relay.sock`).mode & 0o777).toBe(0o600);
  expect(await relay.refusal()).toContain("is held by");
  const strange = newDirectory(closers);
  await Bun.write(`${strange}/mine`, "");
  expect(await relay.refusal(strange)).toContain("not a relay's");
  expect(await relay.refusal(relay.home, ["--http", "0.0.0.0:0"])).toContain("only served on loopback");
  expect(await relay.refusal(relay.home, [])).toContain("not clear");
  expect((await relay.run("revoke", "nobody")).code).toBe(4);
});

test("AU2 RS2 a relay whose authority or records cannot be read does not start, and replaces nothing", async () => {
  const relay = new RelayCommand();
  for (const _ of [1, 2, 3]) await relay.stop(await relay.serve(), () => relay.json("token"));
  const [authority, records] = [`${relay.home}/authority.json`, `${relay.home}/relay/records/events.jsonl`];
  const [before, lines] = [await Bun.file(authority).text(), await Bun.file(records).text()];
  await Bun.write(authority, before.slice(0, 50));
  expect(await relay.refusal()).toContain("cannot be used");
  expect(await Bun.file(authority).text()).toBe(before.slice(0, 50));
  await Bun.write(authority, before);
  await Bun.write(records, lines.replace('"operator"', '"operators"'));
  expect(await relay.refusal()).toContain("records cannot be read");
  await Bun.write(records, lines);
  await relay.serve();
  expect(await relay.json("log")).toHaveLength(3);
});

test("AU3 relay status warns of an authority that ends within a year, and of no other", async () => {
  const relay = new RelayCommand();
  const words = () => Bun.spawn(ours("src/cli/main.ts", "relay", "status", "--home", relay.home)).stdout.text();
  await relay.stop(await relay.serve(), async () => expect(await words()).not.toContain("the authority ends"));
  const life = { notBefore: Date.now() - 1000, notAfter: Date.now() + 360 * 86_400_000 };
  const made = await certificates.newAuthority("holdfast relay", life);
  await Bun.write(`${relay.home}/authority.json`, JSON.stringify({ v: 1, ...made }));
  await relay.serve();
  expect(await words()).toContain("the authority ends");
});
