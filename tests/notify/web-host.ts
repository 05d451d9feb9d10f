// A web host of a test's own, as the watchdog starts one, and phones that answer through it as service workers do.
import { existsSync, readFileSync } from "node:fs";
import type { Result } from "../../src/base/result.ts";
import { answerOnce } from "../../src/wire/page/answer.ts";
import type { PageWire, PageWireEvents } from "../../src/wire/page/client.ts";
import { SOCKET_PATH } from "../../src/wire/page/messages.ts";
import { freshId } from "../agent/agent-home.ts";
import { ours } from "../ours.ts";
import { PATIENCE_MS } from "../until.ts";

export class WebHostProcess {
  readonly #home: string;
  readonly #env: Readonly<Record<string, string>>;
  #child: Bun.Subprocess | undefined;

  constructor(home: string, env: Readonly<Record<string, string>>) {
    this.#home = home;
    this.#env = env;
  }

  start(): void {
    const stdio: ["ignore", "ignore", "ignore"] = ["ignore", "ignore", "ignore"];
    this.#child = Bun.spawn(ours("src/web/main.ts", this.#home), { env: { ...this.#env }, stdio });
  }

  async kill(): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.#child?.exited;
  }

  /** As a service worker answers: resolves with the home's reply, whatever is killed meanwhile. */
  answer(token: string, prompt: string): Promise<Result<unknown>> {
    const after = (ms: number, fn: () => void) => {
      const timer = setTimeout(fn, ms);
      return () => clearTimeout(timer);
    };
    const connect = (events: PageWireEvents) => this.#connect(events);
    const ports = { connect, token: () => token, after, chance: () => 0.5 };
    return answerOnce(ports, { prompt, answer: freshId(), decision: "allow" }, PATIENCE_MS);
  }

  #url(): string {
    const file = `${this.#home}/run/web.json`;
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).url : "http://127.0.0.1:1/";
  }

  #connect(events: PageWireEvents): PageWire {
    const url = this.#url();
    const socket = new WebSocket(`${url.replace("http", "ws").slice(0, -1)}${SOCKET_PATH}`, {
      headers: { origin: url.slice(0, -1) },
    });
    socket.onopen = () => events.opened();
    socket.onmessage = ({ data }) => events.text(String(data));
    socket.onclose = ({ code, reason }) => events.closed(code, reason);
    return {
      send: (message) => void (socket.readyState === WebSocket.OPEN && socket.send(message)),
      close: () => socket.close(),
    };
  }
}
