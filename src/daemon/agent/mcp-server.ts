// The tools of agents as MCP over loopback HTTP, for agents that accept a URL: same answers and tokens as the shim's.
// MH1. An agent's token gives access to that agent's tools and nothing else. Requests from a browser (a foreign Origin,
//      another Host) are refused.
// MH2. Nothing that a client needs is kept between requests, so it never notices a restart of the daemon. Its session
//      is only a name that it was given and sends along; a call repeated in it under the same id gets the same answer.
// MH3. HTTP has no acknowledgement: an answer counts as received with the next sign of its caller (handed-calls.ts). If
//      the daemon dies before that, its contents are sent again: never lost, perhaps twice. The shim delivers exactly
//      once.
// MH4. It listens once there is an agent, so that a daemon without agents pays nothing; the address is in
//      `run/mcp.json`, and put back if it is removed. The next daemon reuses the port if it is free, because running
//      agents have the address.
// MH5. An error while a request is answered ends that request (HT2 of world/http.ts), not the daemon.
// MH6. One agent cannot take all of it: the requests in progress are limited, in all and of each agent. Those without a
//      token are answered at once, and silent connections are closed soon (world/real/http.ts).

import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import { placeOf } from "../../base/thrown.ts";
import { MCP_ADDRESS } from "../../home/layout.ts";
import { writeSmall } from "../../home/small-file.ts";
import { readWhole } from "../../log/file/file.ts";
import { readObject, textAt } from "../../wire/provider/json-line.ts";
import { answerMcp, refusedCall } from "../../wire/provider/mcp.ts";
import { TOOLS } from "../../wire/provider/tools.ts";
import { VERSION } from "../../wire/version.ts";
import type { Disk } from "../../world/disk.ts";
import type { Http, HttpListener, HttpRequest, HttpResponse } from "../../world/http.ts";
import type { Random } from "../../world/random.ts";
import type { ToolCaller } from "./handlers.ts";

type McpWorld = { readonly disk: Disk; readonly random: Random; readonly http: Http; readonly home: string };

export type McpPorts = {
  /** Undefined for an unknown token. */
  caller(token: string): ToolCaller | undefined;
  say(words: string): void;
};

const PATH = "/mcp";
/** More than the arguments of a tool may have (core/agent/limits.ts). */
const MAX_BODY = 1 << 20;
/** MH6. More than the tool calls of a turn that are made at once; each ends when it is durable. */
const MAX_REQUESTS = 128;
const MAX_OF_AGENT = 32;
const SESSION = "mcp-session-id";
const TEXT = { "content-type": "text/plain" };
const JSON_TYPE = { "content-type": "application/json", "cache-control": "no-store" };

export class McpServer {
  readonly #world: McpWorld;
  readonly #ports: McpPorts;
  /** The agents whose requests are in progress, once for each. */
  readonly #busy: string[] = [];
  #listener: HttpListener | undefined;

  constructor(world: McpWorld, ports: McpPorts) {
    this.#world = world;
    this.#ports = ports;
  }

  /** MH4 */
  async open(): Promise<void> {
    if (this.#listener !== undefined) return;
    const { http } = this.#world;
    try {
      const failed = (error: unknown) => this.#ports.say(`a request over HTTP failed: ${placeOf(error)}`); // MH5
      const listen = (port: number) =>
        http.listen({ port, maxBody: MAX_BODY, failed }, (request) => this.#answer(request));
      const listener = this.#listenAgain(listen) ?? listen(0);
      this.#listener = listener;
      await this.#writeAddress(listener);
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#ports.say(`no MCP over HTTP: ${error.message}. ${error.hint}`); // Agents have the shim.
    }
  }

  async #writeAddress({ port }: HttpListener): Promise<void> {
    const address = { v: 1, url: `http://127.0.0.1:${port}${PATH}` };
    await writeSmall(this.#world.disk, this.#world.home, MCP_ADDRESS, `${JSON.stringify(address)}\n`);
  }

  /** MH4. Returns whether the address had to be put back. */
  async keep(): Promise<boolean> {
    const { disk, home } = this.#world;
    if (this.#listener === undefined || disk.stat(joinPath(home, MCP_ADDRESS)) !== undefined) return false;
    await this.#writeAddress(this.#listener);
    return true;
  }

  /** MH4 */
  #listenAgain(listen: (port: number) => HttpListener): HttpListener | undefined {
    const bytes = readWhole(this.#world.disk, joinPath(this.#world.home, MCP_ADDRESS));
    const port = /^http:\/\/127\.0\.0\.1:(\d+)\//.exec(urlIn(bytes))?.[1];
    try {
      return port === undefined ? undefined : listen(Number(port));
    } catch (error) {
      if (isFault(error, "EADDRINUSE", "EACCES")) return undefined;
      throw error;
    }
  }

  /** The address stays on disk: running agents have it, and the next daemon reads it. */
  async close(): Promise<void> {
    await this.#listener?.close();
    this.#listener = undefined;
  }

  async #answer(request: HttpRequest): Promise<HttpResponse> {
    if (this.#isForeign(request)) return refuse(403, "This is not for browsers."); // MH1
    if (request.target !== PATH) return refuse(404, "There is nothing here.");
    const token = /^Bearer (\S+)$/i.exec(request.header("authorization") ?? "")?.[1];
    const caller = token === undefined ? undefined : this.#ports.caller(token);
    if (caller === undefined) return refuse(401, "An agent's token is needed.", { "www-authenticate": "Bearer" });
    if (request.method !== "POST" && request.method !== "DELETE")
      return refuse(405, "Only POST is accepted here.", { allow: "POST, DELETE" });
    return this.#inTurn(caller, () =>
      request.method === "POST" ? this.#posted(request, caller) : this.#left(request, caller),
    );
  }

  /** MH6 */
  async #inTurn({ id }: ToolCaller, answer: () => Promise<HttpResponse>): Promise<HttpResponse> {
    const same = this.#busy.filter((other) => other === id);
    if (this.#busy.length >= MAX_REQUESTS || same.length >= MAX_OF_AGENT)
      return refuse(429, "Too many requests at once.", { "retry-after": "1" });
    this.#busy.push(id);
    try {
      return await answer();
    } finally {
      this.#busy.splice(this.#busy.indexOf(id), 1);
    }
  }

  /** There is nothing to forget (MH2), but a client that leaves has received its answers (MH3). */
  async #left(request: HttpRequest, caller: ToolCaller): Promise<HttpResponse> {
    const session = nameIn(request.header(SESSION));
    if (session !== undefined) await caller.goesOn(session, undefined);
    return { status: 204, headers: {}, body: "" };
  }

  /** MH2 */
  async #posted(request: HttpRequest, caller: ToolCaller): Promise<HttpResponse> {
    const session = nameIn(request.header(SESSION)) ?? this.#world.random.bytes(16).toHex();
    let call: string | undefined;
    const answer = await answerMcp(await request.body(), {
      version: VERSION,
      tools: TOOLS,
      call: async (tool, args, id) => {
        call = `${session}-${id}`;
        await caller.goesOn(session, call); // MH3
        const answered = await caller.call({ call, tool, args, via: "http" });
        return answered.ok ? answered.value : refusedCall(answered.error);
      },
    });
    if (call === undefined) await caller.goesOn(session, undefined);
    else caller.handed(session, call);
    if (answer === undefined) return { status: 202, headers: { [SESSION]: session }, body: "" };
    return { status: 200, headers: { ...JSON_TYPE, [SESSION]: session }, body: answer };
  }

  #isForeign(request: HttpRequest): boolean {
    const names = ["127.0.0.1", "localhost"].map((name) => `${name}:${this.#listener?.port}`);
    const origin = request.header("origin");
    if (!names.includes(request.header("host") ?? "")) return true;
    return origin !== undefined && !names.some((name) => origin === `http://${name}`);
  }
}

function urlIn(bytes: Uint8Array | undefined): string {
  const address = bytes === undefined ? undefined : readObject(new TextDecoder().decode(bytes));
  return address === undefined ? "" : (textAt(address, "url") ?? "");
}

function nameIn(session: string | undefined): string | undefined {
  return session !== undefined && /^[!-~]{1,64}$/.test(session) ? session : undefined;
}

function refuse(status: number, words: string, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return { status, headers: { ...TEXT, ...headers }, body: `${words}\n` };
}
