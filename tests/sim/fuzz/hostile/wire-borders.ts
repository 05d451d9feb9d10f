// What comes over sockets, pipes and HTTP: requests and answers of the daemon, MCP, the holder's protocol, orders,
// heartbeats, the screen program and the page.
import { own } from "../../../../src/base/own.ts";
import { fitting } from "../../../../src/wire/check.ts";
import { decodeHeartbeat } from "../../../../src/wire/heartbeat.ts";
import { encodeFrame, FrameReader, type RawFrame } from "../../../../src/wire/holder/frames.ts";
import * as holder from "../../../../src/wire/holder/json.ts";
import { ordersIn } from "../../../../src/wire/holder/orders.ts";
import * as protocol from "../../../../src/wire/holder/protocol.ts";
import { decodeLine, LineReader } from "../../../../src/wire/lines.ts";
import { parseHostMessage, parsePageMessage, readStream } from "../../../../src/wire/page/messages.ts";
import { answerMcp } from "../../../../src/wire/provider/mcp.ts";
import { TOOLS } from "../../../../src/wire/provider/tools.ts";
import { RpcClient } from "../../../../src/wire/rpc/client.ts";
import { PARAMS, paramsOf } from "../../../../src/wire/rpc/params.ts";
import { errorLine, parseRequest, REFUSAL, RPC_PROTOCOL } from "../../../../src/wire/rpc/rpc.ts";
import { parseScreenRequest } from "../../../../src/wire/screen.ts";
import { AgentFixture } from "../../../agent/house.ts";
import type { Attacker } from "./attacks.ts";
import { type Border, recorded } from "./border.ts";
import { exampleOf } from "./example.ts";
import { HEARTBEATS, MCP, type Message, ORDERS, PAGES, SCREENS } from "./seeds.ts";

/** A refusal is for people to read. */
const MAX_REFUSAL = 16 << 10;
const METHODS = Object.entries(PARAMS);
const isMethod = (name: string): name is keyof typeof PARAMS => own(PARAMS, name) !== undefined;

function requestOf(attacker: Attacker): Message {
  const [method, shape] = attacker.oneOf(METHODS);
  return { jsonrpc: "2.0", id: 7, method, params: exampleOf(shape) };
}

const REQUESTS: Border = {
  name: "a request to the daemon",
  inputs: 1,
  meet: (attacker) => {
    const reader = new LineReader();
    const bytes = Buffer.concat([attacker.line(requestOf(attacker)), Buffer.from("\n")]);
    for (const line of attacker.pieces(bytes).flatMap((piece) => reader.push(piece) ?? [])) {
      const message = decodeLine(line);
      const request = message && parseRequest(message);
      const params = request && isMethod(request.method) ? paramsOf(request.method, request.params) : undefined;
      if (params === undefined || params.ok) continue;
      const answer = JSON.stringify(errorLine(request?.id ?? null, REFUSAL, params.error));
      if (answer.length > MAX_REFUSAL) throw new Error(`a refusal of ${answer.length} characters`);
    }
  },
};

/** A daemon of another version, or something else behind the socket. */
const ANSWERS: Border = {
  name: "an answer of the daemon",
  inputs: 1,
  meet: async (attacker) => {
    const hello = { jsonrpc: "2.0", id: 1, result: { version: "1", protocol: RPC_PROTOCOL, pid: 1 } };
    const answers = [hello, { ...hello, id: 2 }, { jsonrpc: "2.0", id: 2, error: { code: 1, message: "x", data: {} } }];
    const notice = { jsonrpc: "2.0", method: "notice", params: { topic: "terminal.new", data: {} } };
    const client = await RpcClient.connect(
      async ({ bytes, closed }) => {
        const send = () => {
          bytes(Buffer.concat([attacker.line(attacker.oneOf([...answers, notice])), Buffer.from("\n")]));
          closed();
        };
        return { send, end: () => undefined };
      },
      "token",
      "1",
    );
    if (client.ok) recorded(await client.value.call("status", {}));
  },
};

const MCP_BORDER: Border = {
  name: "a message over MCP",
  inputs: 1,
  meet: async (attacker) => {
    const house = new AgentFixture();
    house.create("a");
    house.create("w", { parent: "a" });
    const call = async (tool: string, args: AgentArguments, request: string) => {
      const done = house.try({ kind: "call", id: "a", call: request, tool, args });
      const found = house.agent("a").calls.find((one) => one.call === request);
      return { ok: done.ok, value: found?.result ?? null };
    };
    const line = Buffer.from(attacker.line(attacker.oneOf(MCP))).toString();
    const answer = await answerMcp(line, { version: "1", tools: TOOLS, call });
    if (answer !== undefined) JSON.parse(answer);
  },
};
type AgentArguments = Parameters<AgentFixture["call"]>[3] & {};

const SHAPES = {
  [protocol.HELLO]: protocol.HELLO_SHAPE,
  [protocol.RESIZE]: protocol.SIZE_SHAPE,
  [protocol.SIGNAL]: protocol.SIGNAL_SHAPE,
  [protocol.WELCOME]: protocol.STATUS_SHAPE,
  [protocol.ENDED]: protocol.EXIT_SHAPE,
  [protocol.REFUSED]: protocol.REFUSAL_SHAPE,
};

/** Every reader of a payload, whatever its tag: the tag is hostile, too. */
function readFrame({ payload }: RawFrame): void {
  const { parseClaim, parseExit, parseHello, parseRefusal, parseSignal, parseSize, parseSpec, parseStatus } = holder;
  for (const parse of [parseClaim, parseExit, parseHello, parseRefusal, parseSignal, parseSize, parseSpec, parseStatus])
    recorded(parse(payload) ?? null);
  recorded([protocol.readInput(payload)?.number ?? 0, protocol.readNumber(payload)?.number ?? 0]);
}

const FRAMES: Border = {
  name: "a frame of the holder's protocol",
  inputs: 2,
  meet: (attacker) => {
    const reader = new FrameReader();
    const frames = Array.from({ length: 2 }, () => {
      const [tag, shape] = attacker.oneOf(Object.entries(SHAPES));
      const frame = encodeFrame(Number(tag), attacker.line(exampleOf(shape)));
      return attacker.oneOf([true, false, false]) ? attacker.bytes(frame) : frame;
    });
    for (const piece of attacker.pieces(Buffer.concat(frames)))
      for (const frame of reader.push(piece) ?? []) readFrame(frame);
  },
};

const SMALL_LINES: Border = {
  name: "an order, a heartbeat, a request for a screen",
  inputs: 3,
  meet: async (attacker) => {
    recorded(decodeHeartbeat(Buffer.from(attacker.line(attacker.oneOf(HEARTBEATS))).toString()) ?? null);
    const screen = decodeLine(Buffer.from(attacker.line(attacker.oneOf(SCREENS))).toString());
    recorded((screen && parseScreenRequest(screen)) ?? null);
    const order = Buffer.concat([attacker.line(attacker.oneOf(ORDERS)), Buffer.from("\n")]);
    const input = async function* () {
      yield* attacker.pieces(order);
    };
    for await (const one of ordersIn(input())) recorded(one);
  },
};

/** Both sides: a page may be older than its host. */
const PAGE_MESSAGES: Border = {
  name: "a message of the page or of its host",
  inputs: 2,
  meet: (attacker) => {
    const line = Buffer.from(attacker.line(attacker.oneOf(PAGES))).toString();
    for (const parse of [parsePageMessage, parseHostMessage]) recorded(parse(line) ?? null);
    recorded(readStream(attacker.bytes(new Uint8Array([0, 0, 0, 1, 2])))?.stream ?? null);
  },
};

/** Every example is valid: otherwise the attacks on it would stop at its first field. */
export function wrongExamples(): string[] {
  const all: readonly (readonly [string, (typeof METHODS)[number][1]])[] = [...METHODS, ...Object.entries(SHAPES)];
  return all.flatMap(([name, shape]) => (fitting(shape, exampleOf(shape)) === undefined ? [name] : []));
}

export const WIRE_BORDERS: readonly Border[] = [REQUESTS, ANSWERS, MCP_BORDER, FRAMES, SMALL_LINES, PAGE_MESSAGES];
