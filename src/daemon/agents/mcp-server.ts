// The tools of agents over MCP on loopback HTTP, for agents that take a URL: the same answers as through the shim, under the same tokens.
// MH1. One agent's token opens that agent's tools and nothing else. Who comes through a browser (a foreign Origin, another Host) is refused.
// MH2. Nothing is kept between requests: a client never notices that the daemon behind it is another one. Its session is a name that it was
//      given and brings along; a call repeated in it under the same id gets the same answer.
// MH3. HTTP has no word for "taken": an answer is, when it is handed to the connection. Who must know better uses the shim.
// MH4. It listens from the first agent on, so that a daemon without agents pays nothing; where is in `run/mcp.json`.
import { isFault } from "../../base/fault.ts";
import { joinPath, removeIfThere } from "../../log/file.ts";
import { answerMcp, refusedCall, type ToolAnswer } from "../../wire/agents/mcp.ts";
import { TOOLS } from "../../wire/agents/tools.ts";
import { VERSION } from "../../wire/version.ts";
import type { Disk } from "../../world/disk.ts";
import type { Http, HttpListener, HttpRequest, HttpResponse } from "../../world/http.ts";
import type { Random } from "../../world/random.ts";
import { writeSmall } from "../small-files.ts";
import type { ToolCaller } from "./handlers.ts";

type McpWorld = { readonly disk: Disk; readonly random: Random; readonly http: Http; readonly home: string };

export type McpPorts = {
  /** Undefined for a token of nobody's. */
  caller(token: string): ToolCaller | undefined;
  say(words: string): void;
  broken(error: unknown): void;
};

const ADDRESS = "run/mcp.json";
const PATH = "/mcp";
/** The arguments of a tool are bounded by less (core/agent/limits.ts). */
const MAX_BODY = 1 << 20;
const SESSION = "mcp-session-id";
const TEXT = { "content-type": "text/plain" };
const JSON_TYPE = { "content-type": "application/json", "cache-control": "no-store" };

export class McpServer {
  readonly #world: McpWorld;
  readonly #ports: McpPorts;
  #listener: HttpListener | undefined;

  constructor(world: McpWorld, ports: McpPorts) {
    this.#world = world;
    this.#ports = ports;
  }

  /** MH4 */
  async open(): Promise<void> {
    if (this.#listener !== undefined) return;
    const { disk, http, home } = this.#world;
    try {
      const failed = (error: unknown) => this.#ports.broken(error);
      const listener = http.listen({ port: 0, maxBody: MAX_BODY, failed }, (request) => this.#answer(request));
      this.#listener = listener;
      const address = { v: 1, url: `http://127.0.0.1:${listener.port}${PATH}` };
      await writeSmall(disk, home, ADDRESS, `${JSON.stringify(address)}\n`);
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#ports.say(`no MCP over HTTP: ${error.message}. ${error.hint}`); // Agents have the shim.
    }
  }

  async close(): Promise<void> {
    if (this.#listener === undefined) return;
    removeIfThere(this.#world.disk, joinPath(this.#world.home, ADDRESS));
    await this.#listener.close();
    this.#listener = undefined;
  }

  async #answer(request: HttpRequest): Promise<HttpResponse> {
    if (this.#isForeign(request)) return refuse(403, "This is not for browsers."); // MH1
    if (request.target !== PATH) return refuse(404, "There is nothing here.");
    const token = /^Bearer (\S+)$/i.exec(request.header("authorization") ?? "")?.[1];
    const caller = token === undefined ? undefined : this.#ports.caller(token);
    if (caller === undefined) return refuse(401, "An agent's token is needed.", { "www-authenticate": "Bearer" });
    if (request.method === "DELETE") return { status: 204, headers: {}, body: "" }; // MH2: there is nothing to forget.
    if (request.method !== "POST") return refuse(405, "Only POST is taken here.", { allow: "POST, DELETE" });
    return this.#posted(request, caller);
  }

  /** MH2 */
  async #posted(request: HttpRequest, caller: ToolCaller): Promise<HttpResponse> {
    const session = nameIn(request.header(SESSION)) ?? this.#world.random.bytes(16).toHex();
    const answer = await answerMcp(await request.body(), {
      version: VERSION,
      tools: TOOLS,
      call: (tool, args, id) => this.#called(caller, { call: `${session}-${id}`, tool, args }),
    });
    if (answer === undefined) return { status: 202, headers: { [SESSION]: session }, body: "" };
    return { status: 200, headers: { ...JSON_TYPE, [SESSION]: session }, body: answer };
  }

  async #called(caller: ToolCaller, asked: Parameters<ToolCaller["call"]>[0]): Promise<ToolAnswer> {
    const answer = await caller.call(asked);
    if (!answer.ok) return refusedCall(answer.error);
    void caller.taken(asked.call).catch((error: unknown) => this.#ports.broken(error)); // MH3
    return answer.value;
  }

  #isForeign(request: HttpRequest): boolean {
    const names = ["127.0.0.1", "localhost"].map((name) => `${name}:${this.#listener?.port}`);
    const origin = request.header("origin");
    if (!names.includes(request.header("host") ?? "")) return true;
    return origin !== undefined && !names.some((name) => origin === `http://${name}`);
  }
}

function nameIn(session: string | undefined): string | undefined {
  return session !== undefined && /^[!-~]{1,64}$/.test(session) ? session : undefined;
}

function refuse(status: number, words: string, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return { status, headers: { ...TEXT, ...headers }, body: `${words}\n` };
}
