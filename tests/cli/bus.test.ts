// The bus, as a client of a real Holdfast hears it: what the watchdog saw reaches every subscriber.
import { afterEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isFault } from "../../src/base/fault.ts";
import { RpcClient } from "../../src/wire/rpc/client.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { until } from "../until.ts";
import { endAll, Home } from "./terminal-home.ts";

afterEach(endAll);

type Notice = { readonly topic: string; readonly data: Readonly<Record<string, unknown>> };

/** A client that comes back when the daemon does, like a page; or, if it is slow, only after its recovery. */
class Subscriber {
  readonly heard: Notice[] = [];
  readonly #home: Home;
  readonly #isSlow: boolean;
  #client: RpcClient | undefined;

  constructor(home: Home, isSlow: boolean) {
    this.#home = home;
    this.#isSlow = isSlow;
    void this.#stay();
  }

  get subscribed(): boolean {
    return this.#client !== undefined;
  }

  async #stay(): Promise<void> {
    while (!this.#home.ended) {
      const client = await this.#connect();
      await client?.closed;
      this.#client = undefined;
      await Bun.sleep(2); // As often as possible: a recovery takes some tens of milliseconds.
    }
  }

  async #connect(): Promise<RpcClient | undefined> {
    try {
      const token = readFileSync(join(this.#home.path, "run/token"), "utf8").trim();
      const dial = (events: { bytes(bytes: Uint8Array): void; closed(): void }) =>
        realSockets().connect(join(this.#home.path, "run/daemon.sock"), events);
      const client = await RpcClient.connect(dial, token, "test");
      if (!client.ok) return undefined;
      if (this.#isSlow && !(await isLive(client.value))) {
        client.value.close();
        return undefined;
      }
      client.value.onNotice = ({ topic, data }) => void this.heard.push({ topic, data: Object(data) });
      const answer = await client.value.call("subscribe", { topics: ["recovery.crash.*", "recovery.safemode.*"] });
      if (answer.ok) this.#client = client.value;
      return client.value;
    } catch (error) {
      if (isFault(error)) return undefined; // Nobody listens.
      throw error;
    }
  }
}

async function isLive(client: RpcClient): Promise<boolean> {
  const status = await client.call("status", {});
  return status.ok && Object(status.value).recovery.stage === "LIVE";
}

test("WD-6(a) SM-4(a) a subscriber hears of each crash of page, program and daemon, and of safe mode", async () => {
  const home = new Home();
  const program = ["[watch.api]", 'command = ["sleep", "1000"]', ""];
  writeFileSync(join(home.path, "config.toml"), ["[web]", "enabled = true", ...program].join("\n"));
  await home.ok("up");
  const status = await until(
    "everything runs",
    async () => {
      const seen = await home.status();
      return seen.web.pid !== null && seen.programs[0]?.pid ? seen : undefined;
    },
    () => home.status(),
  );
  const [client, slow] = [new Subscriber(home, false), new Subscriber(home, true)];
  await until(
    "both have subscribed",
    () => client.subscribed && slow.subscribed,
    () => [client.heard, slow.heard],
  );
  for (const [name, pid] of [
    ["web", status.web.pid],
    ["api", status.programs[0].pid],
  ]) {
    process.kill(pid, "SIGKILL");
    const crash = { name, pid, exitCode: null, signal: "SIGKILL", reason: "SIGNAL", time: expect.any(String) };
    await until(
      `the crash of ${name}`,
      () => client.heard.some(({ data }) => data["pid"] === pid),
      () => client.heard,
    );
    expect(client.heard.at(-1)).toEqual({ topic: "recovery.crash.detected", data: crash });
  }
  for (let kill = 1; kill <= 3; kill += 1) {
    const { pid } = (await home.status()).daemon;
    process.kill(pid, "SIGKILL");
    const heardBy = ({ heard }: Subscriber) => heard.filter(({ data }) => data["pid"] === pid).length === 1;
    await until(
      "the crash of the daemon",
      () => heardBy(client) && heardBy(slow),
      () => [client.heard, slow.heard],
    );
  }
  const entered = () => client.heard.filter(({ topic }) => topic === "recovery.safemode.entered");
  await until("safe mode", () => entered().length > 0, entered);
  await until(
    "the slow one has heard of it too",
    () => slow.heard.at(-1)?.topic === "recovery.safemode.entered",
    () => slow.heard,
  );
  expect(entered()).toMatchObject([{ data: { active: true, reason: expect.stringContaining("crashed 3 times") } }]);
  for (const { heard } of [client, slow]) {
    const crashes = heard.filter(({ topic }) => topic === "recovery.crash.detected");
    expect(crashes.map(({ data }) => data["name"])).toEqual(["web", "api", "daemon", "daemon", "daemon"]);
  }
});
