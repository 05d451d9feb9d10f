// The output of agents: hostile lines of each provider through the daemon's decoder, the codec and the fold of agents.
// CB1. The same agent comes out of its events when they are read from a log.
// CB2. What is more than a transaction of the log takes fails the turn (E4 of daemon/agent/engine.ts), and that fits.
import { expect } from "bun:test";
import { storedOf } from "../../../../src/core/agent/checkpoint.ts";
import type { AgentCommand } from "../../../../src/core/agent/commands.ts";
import { heardPieces } from "../../../../src/core/agent/conversation.ts";
import { decideAgent } from "../../../../src/core/agent/decide.ts";
import { factsOf, inputsFrom } from "../../../../src/core/agent/effects.ts";
import type { Codec, ProviderEvent, ProviderName } from "../../../../src/core/agent/provider.ts";
import { Decoder } from "../../../../src/daemon/agent/decoder.ts";
import { acp } from "../../../../src/wire/provider/acp.ts";
import { claude } from "../../../../src/wire/provider/claude.ts";
import { command } from "../../../../src/wire/provider/command.ts";
import { AnswerReader, requestOf } from "../../../../src/wire/provider/openai.ts";
import { refusalOf } from "../../../../src/wire/provider/openai-error.ts";
import { scripted } from "../../../../src/wire/provider/scripted.ts";
import { TOOLS } from "../../../../src/wire/provider/tools.ts";
import { AgentFixture, planFor } from "../../../agent/house.ts";
import type { Attacker } from "./attacks.ts";
import { type Border, recorded } from "./border.ts";
import { ACP, CLAUDE, COMMAND, type Message, OPENAI, REFUSALS, SCRIPTED } from "./seeds.ts";

const ID = "a";
const LINES = 16;
/** CB2: what a transaction takes (log/wal/wal.ts), less the heads of its entries. */
const MAX_TRANSACTION = (1 << 20) - (64 << 10);

const TOO_MUCH: ProviderEvent = { kind: "failed", reason: "too much", retryable: false };

/** An agent of this provider in its first turn. */
class Victim {
  readonly house = new AgentFixture();
  readonly #codec: Codec | undefined;

  constructor(provider: ProviderName, codec?: Codec) {
    this.#codec = codec;
    const plan = planFor(provider);
    const recipe = { ...plan.recipe, options: { session_path: "$.session_id", output_path: "$.result" } };
    const wish = { id: ID, name: ID, parent: undefined, instructions: "go", settings: {} };
    this.house.do({ ...wish, kind: "create", plan: { ...plan, recipe } });
    if (codec !== undefined) this.house.start(ID);
  }

  get facts() {
    return { ...factsOf(this.house.agent(ID)), tools: null };
  }

  /** What its process prints, in pieces. */
  prints(pieces: readonly Uint8Array[]): void {
    const codec = this.#codec ?? scripted;
    const decoder = new Decoder(codec, { generation: 1, from: 0, skipped: new Set() });
    for (const piece of pieces) {
      decoder.push(decoder.end, piece);
      for (let batch = decoder.next(this.facts); batch !== undefined; batch = decoder.next(this.facts))
        this.hears(batch.offset, batch.events, batch.replies);
    }
    const last = decoder.last(this.facts);
    if (last !== undefined) this.hears(last.offset, last.events, last.replies);
  }

  hears(offset: number, events: readonly ProviderEvent[], replies: readonly string[] = []): void {
    for (const reply of replies) JSON.parse(reply);
    const { generation } = this.house.agent(ID);
    this.decides({ kind: "read", id: ID, generation, offset, events });
    this.#answers();
  }

  decides(wish: AgentCommand): void {
    const fits = wish.kind !== "read" || this.#sizeOf(wish) <= MAX_TRANSACTION;
    const before = this.house.events.length;
    this.house.try(fits ? wish : { ...wish, events: [TOO_MUCH] });
    const size = JSON.stringify(this.house.events.slice(before)).length;
    if (size > MAX_TRANSACTION) throw new Error(`a decision of ${size} bytes after ${wish.kind}`); // CB2
  }

  #sizeOf(wish: AgentCommand): number {
    const decided = decideAgent(this.house, wish, this.house.at);
    if (!decided.ok) return 0;
    decided.value.undo?.();
    return JSON.stringify(decided.value.events).length;
  }

  /** A person answers all prompts, and the process takes what it is given. */
  #answers(): void {
    for (const { id: prompt, state } of this.house.agent(ID).prompts)
      if (state.kind === "open")
        this.decides({ kind: "answer", id: ID, prompt, answer: prompt, decision: "allow", message: "", always: false });
    const agent = this.house.agent(ID);
    for (const { input } of inputsFrom(agent, 0))
      for (const line of this.#codec?.encode(input, this.facts) ?? []) JSON.parse(line);
  }

  /** CB1 */
  isSameAfterwards(): void {
    const again = this.house.replayed();
    for (const [id, record] of this.house.agentRecords)
      expect(recorded(storedOf(again.agentRecords.get(id) ?? record))).toEqual(recorded(storedOf(record)));
  }
}

function ofProcess(provider: ProviderName, codec: Codec, seeds: readonly Message[]): Border {
  const meet = (attacker: Attacker) => {
    const victim = new Victim(provider, codec);
    const lines = Array.from({ length: LINES }, () => [attacker.line(attacker.oneOf(seeds)), Buffer.from("\n")]);
    victim.prints(attacker.pieces(Buffer.concat(lines.flat())));
    victim.isSameAfterwards();
  };
  return { name: `the output of ${provider}`, inputs: LINES, meet };
}

/** A program of which each turn is a process: its end says what its output means. */
const COMMAND_BORDER: Border = {
  name: "the output of a command",
  inputs: 1,
  cost: 4,
  meet: (attacker) => {
    const victim = new Victim("command", command);
    const output = attacker.line(attacker.oneOf(COMMAND));
    victim.prints([output]);
    const ends = [
      { code: 0, signal: null },
      { code: 3, signal: null },
      { code: null, signal: "SIGKILL" },
    ];
    const text = Buffer.from(output).toString();
    const events = command.ended?.(attacker.oneOf(ends), { text, errors: text }, victim.facts) ?? [];
    victim.hears(output.length + 1, events);
    victim.isSameAfterwards();
  },
};

const MODEL_BORDER: Border = {
  name: "the answer of a model",
  inputs: 4,
  meet: (attacker) => {
    const victim = new Victim("openai");
    const reader = new AnswerReader();
    const chunks = Array.from({ length: 3 }, () =>
      Buffer.concat([Buffer.from("data: "), attacker.line(attacker.oneOf(OPENAI))]),
    );
    const end = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
    const stream = Buffer.concat([...chunks.flatMap((chunk) => [chunk, Buffer.from("\n\n")]), Buffer.from(end)]);
    for (const piece of attacker.pieces(stream)) reader.feed(Buffer.from(piece).toString());
    const answer = reader.end();
    const calls = answer.kind === "said" ? answer.calls.map((call) => ({ kind: "call", ...call }) as const) : [answer];
    victim.hears(1, answer.kind === "said" ? [{ kind: "text", text: answer.text }, ...calls] : [answer]);
    const refusal = Buffer.from(attacker.line(attacker.oneOf(REFUSALS))).toString();
    const refused = (status: number) => [refusalOf(status, refusal, () => attacker.bare(), 0).failure];
    for (const [at, status] of [429, 400].entries()) victim.hears(2 + at, refused(status));
    victim.isSameAfterwards();
    const { plan, conversation } = victim.house.agent(ID);
    const said = heardPieces(conversation).map(({ piece }) => piece);
    const { forgotten } = conversation.left;
    recorded(requestOf({ recipe: plan.recipe, instructions: "", said, forgotten, tools: TOOLS, isCounted: true }));
  },
};

export const CODEC_BORDERS: readonly Border[] = [
  ofProcess("claude", claude, CLAUDE),
  ofProcess("acp", acp, ACP),
  ofProcess("scripted", scripted, SCRIPTED),
  COMMAND_BORDER,
  MODEL_BORDER,
];
