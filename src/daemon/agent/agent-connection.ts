// A connection to the holder of an agent's process: delivers the outbox, and reads the output of the process.
// A1. Output is confirmed to the holder only after it is durable; until then it is read again, also by a later daemon.
// A2. Entries are sent one after the other, in pieces that the holder counts. Pieces it has, also from an earlier
//     daemon, are not sent again.
// A3. If something is refused (for example by a full disk), the connection is closed. The next one begins with what is
//     durable, on a later round and not at once, since it would be refused again.
// A4. A loop that has found nothing more is over at once, not a turn later: what arrives in between would be left lying
//     until something else arrives.
// A5. If the codec throws, the connection is over, and the process is left to its holder: nothing of that output was
//     confirmed, so a later daemon reads it again. The error names the bytes (D3 and D4 of decoder.ts).
// A6. Partial text is passed on to watchers, and is neither recorded nor confirmed; it comes again as a whole.
//     Only as a sign of life, and before its holder has too much that is not confirmed, is it recorded how far it went.
//     Text that comes in parts only is recorded every two seconds, and before anything else.
import { isFault } from "../../base/fault.ts";
import type { Agent } from "../../core/agent/agent.ts";
import { factsOf, inputsFrom } from "../../core/agent/effects.ts";
import type { Codec, Input, ProviderEvent, SessionFacts } from "../../core/agent/provider.ts";
import { PoisonedBytes } from "../../log/session/poisons.ts";
import { HolderClient, MAX_INPUT } from "../../wire/holder/client.ts";
import type { PartialText } from "../../wire/rpc/partial.ts";
import type { Clock } from "../../world/clock.ts";
import { type HolderConnection, type HolderPeer, welcome } from "../held/holder-connections.ts";
import { type Batch, Decoder, type Output } from "./decoder.ts";

export type AgentConnectionPorts = {
  readonly codec: Codec;
  readonly tools: SessionFacts["tools"];
  /** The present state; undefined if this is no longer the agent's process. */
  agent(): Agent | undefined;
  /** Returns false if it was refused; throws if it cannot be decided. */
  read(offset: number, events: readonly ProviderEvent[]): Promise<boolean>;
  taken(through: number, pieces: number): Promise<boolean>;
  /** A6 */
  partial(partial: Omit<PartialText, "id" | "generation">): void;
  readonly clock: Pick<Clock, "now" | "after">;
  /** The codec threw, or what follows from it. The connection is closed. */
  onBug(error: unknown): void;
};

/** A6. A holder stops reading its program at 4 MiB. */
const MAX_UNREAD = 1 << 20;
const MAX_QUIET_MS = 30_000;
/** A6. As much as is lost at most if the power fails before its holder's record is on disk. */
const PARTS_MS = 2_000;
/** Replies that the protocol requires at once are numbered separately from the outbox. */
const REPLIES = "daemon-replies";

export class AgentConnection implements HolderConnection {
  readonly client: HolderClient;
  readonly #peer: HolderPeer;
  readonly #ports: AgentConnectionPorts;
  readonly #decoder: Decoder;
  readonly #generation: number;
  #replies: HolderClient | undefined;
  #reading = false;
  #sending = false;
  /** The last entry that was sent to the holder, and the number of pieces up to it. */
  #handed = { number: 0, pieces: 0 };
  /** A6. The length of the partial text since the last event. */
  #passed = 0;
  /** A6. Until the text that was gathered is recorded. */
  #cancelFlush: (() => void) | undefined;
  #closed = false;

  constructor(peer: HolderPeer, output: Output, ports: AgentConnectionPorts) {
    this.#ports = ports;
    this.#peer = peer;
    this.#decoder = new Decoder(ports.codec, output);
    this.#generation = output.generation;
    this.client = new HolderClient(
      peer.dial,
      { token: peer.spec.token, writer: "daemon", from: output.from },
      {
        output: (offset, bytes) => this.#heard(offset, bytes),
        ended: () => peer.events.ended(),
        lost: () => this.#cut(),
      },
    );
  }

  welcomed(): void {
    const outbox = this.#ports.agent()?.outbox;
    if (outbox === undefined) return;
    this.#handed = { number: outbox.confirmed, pieces: outbox.pieces };
    this.send();
  }

  /** Sends the part of the outbox that the process does not have yet. */
  send(): void {
    if (this.#sending || this.#closed) return;
    this.#sending = true;
    this.#work(this.#sendAll());
  }

  /** The process keeps running. */
  close(): void {
    this.#closed = true;
    this.#cancelFlush?.();
    this.client.close();
    this.#replies?.close();
  }

  #cut(): void {
    if (this.#closed) return;
    this.close();
    this.#peer.events.lost();
  }

  #work(work: Promise<void>): void {
    void work.catch((error: unknown) => {
      if (isFault(error)) return this.#cut();
      this.close(); // A5
      this.#ports.onBug(error);
    });
  }

  async #sendAll(): Promise<void> {
    try {
      for (let next = this.#next(); next !== undefined && !this.#closed; next = this.#next()) {
        if (!(await this.#sendOne(next))) return;
      }
      // Some programs wait for the end of their input although they were given everything as arguments.
      if (this.#ports.codec.ended !== undefined && !this.#closed) this.client.endInput();
    } finally {
      this.#sending = false; // A4
    }
  }

  /** Undefined if there is none, or it cannot be encoded yet. */
  #next(): { number: number; bytes: Uint8Array } | undefined {
    const agent = this.#ports.agent();
    if (agent === undefined) return undefined;
    const [first] = inputsFrom(agent, this.#handed.number + 1);
    const lines = first && this.#encode(first, this.#facts(agent));
    if (first === undefined || lines === undefined) return undefined;
    return { number: first.number, bytes: Buffer.from(lines.map((line) => `${line}\n`).join("")) };
  }

  #encode({ number, input }: { number: number; input: Input }, facts: SessionFacts): readonly string[] | undefined {
    try {
      return this.#ports.codec.encode(input, facts);
    } catch (error) {
      throw new PoisonedBytes({ kind: "input", generation: this.#generation, number }, error);
    }
  }

  /** A2. Returns false if the connection is over. */
  async #sendOne({ number, bytes }: { number: number; bytes: Uint8Array }): Promise<boolean> {
    const before = this.#handed.pieces;
    const pieces = before + Math.ceil(bytes.length / MAX_INPUT);
    const taken = this.client.status?.writers["daemon"] ?? 0;
    const rest = bytes.subarray(Math.max(0, taken - before) * MAX_INPUT);
    this.#handed = { number, pieces };
    if (rest.length > 0 && !(await this.client.input(rest)).ok) this.#cut();
    else if (await this.#ports.taken(number, pieces)) return true;
    else this.close(); // A3
    return false;
  }

  #facts(agent: Agent): SessionFacts {
    return { ...factsOf(agent), tools: this.#ports.tools };
  }

  #heard(offset: number, bytes: Uint8Array): void {
    this.#decoder.push(offset, bytes);
    if (this.#reading || this.#closed) return;
    this.#reading = true;
    this.#work(this.#readAll());
  }

  async #readAll(first?: Batch): Promise<void> {
    try {
      for (let next = first ?? this.#batch(); next !== undefined && !this.#closed; next = this.#batch()) {
        this.#pass(next);
        const batch = next.isPartial ? this.#due(next) : next; // A6
        if (batch === undefined) continue;
        this.#passed = batch.events.length === 0 ? this.#passed : 0;
        await this.#reply(batch.replies);
        const taken = await this.#read(batch);
        if (taken === "refused") return this.close(); // A3
        if (taken === "taken") this.client.consumed(batch.offset); // A1
      }
    } finally {
      this.#reading = false; // A4
      this.#armFlush();
    }
  }

  /** A6 */
  #pass({ offset, partial, joins }: Batch): void {
    const text = { offset, from: this.#passed, text: partial, ...(joins && { joins }) };
    if (partial !== "") this.#ports.partial(text);
    this.#passed += partial.length;
  }

  /** A6. What is recorded of it now; undefined if that can wait. */
  #due(batch: Batch): Batch | undefined {
    return this.#isDue(batch.offset) ? (this.#decoder.flush() ?? batch) : undefined;
  }

  /** A6. Nothing may come for a long time. */
  #armFlush(): void {
    if (!this.#decoder.hasParts || this.#closed || this.#cancelFlush !== undefined) return;
    this.#cancelFlush = this.#ports.clock.after(PARTS_MS, () => {
      this.#cancelFlush = undefined;
      if (this.#reading || this.#closed) return;
      this.#reading = true;
      this.#work(this.#readAll(this.#decoder.flush()));
    });
  }

  /** A6 */
  #isDue(offset: number): boolean {
    const agent = this.#ports.agent();
    if (agent?.turn === undefined || agent.process.kind !== "Running") return true;
    const quietMs = Math.min(this.#decoder.hasParts ? PARTS_MS : MAX_QUIET_MS, agent.settings.hung_after_ms / 2);
    const silentMs = this.#ports.clock.now() - Date.parse(agent.process.heardAt);
    return silentMs >= quietMs || offset - agent.consumed > MAX_UNREAD;
  }

  async #read({ offset, events }: Batch): Promise<"taken" | "refused" | "undecided"> {
    try {
      return (await this.#ports.read(offset, events)) ? "taken" : "refused";
    } catch (error) {
      if (isFault(error)) throw error;
      this.#decoder.takeBack(error);
      return "undecided";
    }
  }

  #batch(): Batch | undefined {
    const agent = this.#ports.agent();
    return agent && this.#decoder.next(this.#facts(agent));
  }

  /** At least once: a request that is repeated under the same id is answered again. */
  async #reply(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    const known = this.#replies ?? new HolderClient(this.#peer.dial, { token: this.#peer.spec.token, writer: REPLIES });
    this.#replies = known;
    if (!known.connected) await welcome(known);
    for (const line of lines) await known.input(Buffer.from(`${line}\n`));
  }
}
