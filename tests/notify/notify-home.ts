// A home with a real daemon, agents that ask, a push service of our own, and browsers that are subscribed to it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Result } from "../../src/base/result.ts";
import { RpcClient } from "../../src/wire/rpc/client.ts";
import type { Method, Methods } from "../../src/wire/rpc/rpc.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { AGENT_PATIENCE_MS, AgentHome } from "../agent/agent-home.ts";
import type { Running } from "../daemon/home.ts";
import { BUN } from "../ours.ts";
import { until } from "../until.ts";
import type { Browser, PushServer } from "./push-server.ts";

export class NotifyHome extends AgentHome {
  readonly push: PushServer;
  readonly #tokens = new Map<string, string>();

  constructor(push: PushServer, config = "") {
    super();
    this.push = push;
    const path = this.file(".config/holdfast/config.toml");
    const before = readFileSync(path, "utf8").replace("[agents]", "[agents]\nslots = 32");
    writeFileSync(path, `${before}[push]\nallow = ["${push.host}"]\n${config}`);
  }

  override start(env: Readonly<Record<string, string>> = {}): Running {
    return super.start({ NODE_EXTRA_CA_CERTS: this.push.certificate, ...env });
  }

  /** A browser that may use the page, under this name. */
  async letIn(name: string): Promise<void> {
    const { link } = await this.must("device.link", {});
    this.#tokens.set(name, (await this.must("device.redeem", { link, name })).token);
  }

  /** Of a browser that was let in. */
  token(name: string): string {
    return this.#tokens.get(name) ?? "";
  }

  /** Asks as this browser. */
  async as<M extends Method>(
    name: string,
    method: M,
    params: Methods[M]["params"],
  ): Promise<Result<Methods[M]["result"]>> {
    const dial = (events: { bytes(bytes: Uint8Array): void; closed(): void }) =>
      realSockets().connect(this.file("run/daemon.sock"), events);
    const client = await RpcClient.connect(dial, this.token(name), "test");
    if (!client.ok) throw new Error(client.error.message);
    const answer = await client.value.call(method, params);
    client.value.close();
    return answer;
  }

  /** A browser that is called. */
  async subscribed(name: string): Promise<Browser> {
    await this.letIn(name);
    const done = await this.as(name, "push.subscribe", this.push.subscribe(name));
    if (!done.ok) throw new Error(done.error.message);
    return this.push.browser(name);
  }

  /** Waits until a browser shows this for a prompt. */
  shows(browser: Browser, prompt: string, kind: "question" | "end") {
    return until(
      `${kind} of ${prompt}`,
      () => (browser.shown.get(prompt)?.kind === kind ? browser.shown.get(prompt) : undefined),
      () => ({ shown: [...browser.shown], wrong: this.push.wrong, said: this.daemon.said() }),
      AGENT_PATIENCE_MS,
    );
  }

  /** A `[notify] command` that writes what it gets to a file. */
  static recorder(file: string): string {
    const script = `require("fs").appendFileSync(${JSON.stringify(file)}, require("fs").readFileSync(0, "utf8"))`;
    return `[notify]\ncommand = ${JSON.stringify([BUN, "-e", script])}\n`;
  }
}

export function linesIn(file: string): Record<string, unknown>[] {
  if (!existsSync(file)) writeFileSync(file, "");
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}
