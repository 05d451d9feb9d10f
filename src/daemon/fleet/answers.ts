// What people at other hosts of the fleet answer to the prompts of this home's agents: taken from the database, and
// given to the same handler as every answer.
// AW1. Exactly once: an answer has an id of its own, so giving it again, after a crash or on the next host of this
//      home, is the same answer. What comes of it is stored when it is durable in our log.
// AW2. Only under our take, as it is now: another host that has the home answers then.
// AW3. They are a person's: what is sealed with the fleet's key was asked by the daemon of another host, which has
//      looked who asks (asking.ts). The log says from which host.
import { refused } from "../../base/result.ts";
import type { Caller } from "../../core/principal.ts";
import { ASKS, type AskRow, REPLY } from "../../fleet/ask-calls.ts";
import type { Take } from "../../fleet/calls.ts";
import { askNote, encodeReply, parseAsked, replyNote } from "../../wire/fleet/asked.ts";
import type { FleetDesk } from "../ports.ts";
import type { Handler } from "../rpc-server.ts";
import { isPassing, surely } from "./outcome.ts";

export type AnswersPorts = {
  readonly desk: Pick<FleetDesk, "database" | "seal" | "take">;
  /** Whether prompts can be answered now. */
  isLive(): boolean;
  /** Answers a prompt. */
  readonly answer: Handler;
};

export class Answers {
  readonly #ports: AnswersPorts;
  #looking: Promise<void> | undefined;

  constructor(ports: AnswersPorts) {
    this.#ports = ports;
  }

  /** Something is asked of this home. One look at a time; what comes meanwhile is said again. */
  heard(): void {
    this.#looking ??= this.look().finally(() => {
      this.#looking = undefined;
    });
  }

  async look(): Promise<void> {
    const { desk, isLive } = this.#ports;
    const take = isLive() ? desk.take() : undefined; // AW2
    if (take === undefined) return;
    const asks = surely(await desk.database.call(ASKS, { take }));
    for (const ask of asks.ok ? asks.value : []) await this.#answer(take, ask);
  }

  async close(): Promise<void> {
    await this.#looking;
  }

  /** AW1 */
  async #answer(take: Take, ask: AskRow): Promise<void> {
    const { desk } = this.#ports;
    const reply = await this.#replyTo(take.home, ask);
    if (!reply.ok && isPassing(reply.error)) return;
    const bytes = desk.seal.note(replyNote(take.home, ask.id), encodeReply(reply));
    await desk.database.call(REPLY, { take, id: ask.id, bytes }); // If it fails, all of it is repeated.
  }

  async #replyTo(home: string, { id, host, bytes }: AskRow) {
    const { desk, answer } = this.#ports;
    const opened = desk.seal.openNote(askNote(home, id, host), bytes);
    if (!opened.ok) return opened;
    const asked = parseAsked(opened.value);
    if (asked === undefined) return NEWER;
    const { prompt, answer: given, decision, message, always } = asked;
    const by: Caller = { principal: "operator", host, pid: null, exe: null, tty: null }; // AW3
    return answer({ prompt, answer: given, decision, message, always }, by);
  }
}

const NEWER = refused("fleet-form", "A newer version of Holdfast asks this.", "Upgrade Holdfast on the home's host.");
