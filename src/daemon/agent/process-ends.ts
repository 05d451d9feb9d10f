// The end of an agent's process: its unread output is read from disk, and then its end is reported.
// PE1. An end is reported after all output was read; if a part of it is refused, a later attempt continues there.
// PE2. A process that could not be started has not ended: that is a failed start, with its output as the reason.
// PE3. What it wrote to standard error is recorded with its end: always if a turn is one process, otherwise if it ended
//      badly and by itself. A failure that has it as its reason does not repeat it.
import { isFault } from "../../base/fault.ts";
import type { Agent } from "../../core/agent/agent.ts";
import type { AgentCommand } from "../../core/agent/commands.ts";
import { factsOf } from "../../core/agent/effects.ts";
import { type Codec, type ProcessExit, styleOf } from "../../core/agent/provider.ts";
import { whyNotBegun } from "../../core/agent/workspace.ts";
import { PoisonedBytes } from "../../log/session/poisons.ts";
import type { Disk } from "../../world/disk.ts";
import { codecFor } from "./codecs.ts";
import { type Batch, Decoder, type Output } from "./decoder.ts";
import { errorsOf, outputFrom, type ProcessPlace, processDirectory } from "./process-files.ts";

/** The codes for a program that does not exist, and for one that may not be executed. */
const UNSTARTABLE = [127, 126];
const REASON_CHARS = 500;
/** PE3. Programs say last what went wrong. */
const ERROR_CHARS = 4_000;

export type EndPorts = {
  /** Undefined if this is not the agent's present process. */
  agent(place: ProcessPlace): Agent | undefined;
  output(agent: Agent): Output;
  /** Returns false if it was refused; throws if it cannot be decided. */
  submit(command: AgentCommand): Promise<boolean>;
};

export class ProcessEnds {
  readonly #disk: Disk;
  readonly #home: string;
  readonly #ports: EndPorts;

  constructor({ disk, home }: { readonly disk: Disk; readonly home: string }, ports: EndPorts) {
    this.#disk = disk;
    this.#home = home;
    this.#ports = ports;
  }

  async report(place: ProcessPlace, { code, signal }: ProcessExit): Promise<void> {
    const reason = this.#whyNotStarted(place, code);
    if (reason !== undefined) {
      await this.#ports.submit({ ...place, kind: "start-failed", reason: reason.slice(0, REASON_CHARS) });
      return;
    }
    if (await this.#readRest(place, { code, signal }))
      await this.#ports.submit({ ...place, kind: "ended", code, signal });
  }

  /** PE2 */
  #whyNotStarted(place: ProcessPlace, code: number | null): string | undefined {
    const agent = this.#ports.agent(place);
    const why = whyNotBegun(agent?.plan.workspace ?? null, code, errorsOf(this.#disk, this.#directory(place)));
    if (why !== undefined && why !== "") return why;
    if (code === null || !UNSTARTABLE.includes(code) || agent?.process.kind !== "Spawning") return undefined;
    return oneLine(this.#wholeOutput(place)); // Its holder writes the reason there, as a terminal shows it.
  }

  /** PE1 */
  async #readRest(place: ProcessPlace, exit: ProcessExit): Promise<boolean> {
    const agent = this.#ports.agent(place);
    const codec = agent && codecFor(agent);
    if (agent === undefined || codec === undefined) return false;
    const isTurn = styleOf(agent.plan.recipe) === "turn";
    if (isTurn && !(await this.#tookAll(place, agent))) return false;
    const end = await this.#readOutput(place, agent, codec);
    if (end === undefined) return false;
    const errors = errorsOf(this.#disk, this.#directory(place));
    if (!isTurn && !hasFailed(agent, exit, errors)) return true;
    const output = () => ({ text: this.#wholeOutput(place), errors });
    return this.#readEnd(place, end, () => {
      const events = codec.ended?.(exit, output(), factsOf(this.#ports.agent(place) ?? agent)) ?? [];
      const isTold = errors.trim() === "" || events.some(({ kind }) => kind === "failed");
      return isTold ? events : [{ kind: "stderr", text: errors.trim().slice(-ERROR_CHARS) }, ...events]; // PE3
    });
  }

  /** The end itself is one step after the last byte, so that it also counts once. */
  async #readEnd(place: ProcessPlace, end: number, decode: () => Batch["events"]): Promise<boolean> {
    const agent = this.#ports.agent(place);
    const isSkipped = agent !== undefined && this.#ports.output(agent).skipped.has(end);
    try {
      const events = isSkipped ? [] : decode();
      return await this.#ports.submit({ ...place, kind: "read", offset: end + 1, events });
    } catch (error) {
      if (isFault(error)) throw error;
      throw new PoisonedBytes({ kind: "output", generation: place.generation, from: end, to: end + 1 }, error);
    }
  }

  /** Returns the end of the output; undefined if a part of it was refused. */
  async #readOutput(place: ProcessPlace, agent: Agent, codec: Codec): Promise<number | undefined> {
    const decoder = new Decoder(codec, this.#ports.output(agent));
    for (const { offset, bytes } of outputFrom(this.#disk, this.#directory(place), agent.consumed))
      decoder.push(offset, bytes);
    for (;;) {
      const facts = { ...factsOf(this.#ports.agent(place) ?? agent), tools: null };
      const batch = decoder.rest(facts);
      if (batch === undefined) return decoder.end;
      const { offset, events } = batch;
      try {
        if (!(await this.#ports.submit({ ...place, kind: "read", offset, events }))) return undefined;
      } catch (error) {
        if (isFault(error)) throw error;
        decoder.takeBack(error); // D4 of decoder.ts
      }
    }
  }

  /** A process for one turn has its prompt in its arguments: if it ran, it had the prompt, even if never connected. */
  #tookAll(place: ProcessPlace, { outbox }: Agent): Promise<boolean> {
    const through = outbox.confirmed + outbox.entries.length;
    return this.#ports.submit({ ...place, kind: "taken", through, pieces: outbox.pieces });
  }

  #wholeOutput(place: ProcessPlace): string {
    const parts = [...outputFrom(this.#disk, this.#directory(place), 0)].map(({ bytes }) => bytes);
    return new TextDecoder().decode(Buffer.concat(parts));
  }

  #directory(place: ProcessPlace): string {
    return processDirectory(this.#home, place);
  }
}

/** PE3 */
function hasFailed({ process: program }: Agent, { code }: ProcessExit, errors: string): boolean {
  return code !== 0 && errors.trim() !== "" && program.kind !== "Stopping";
}

/** "holdfast: claude cannot be started: …\r\nCheck …" → "claude cannot be started: …. Check …" */
function oneLine(said: string): string {
  return said
    .trim()
    .replace(/^holdfast: /, "")
    .replaceAll(/\r?\n/g, ". ");
}
