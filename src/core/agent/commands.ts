// What can be requested of agents and what the world reports about them (commands), and what the world is to do
// (effects).
// C1. A report may come twice, or late: the decider takes each once. Reports of another generation than the current are
//     old.
// C2. An effect may be performed twice: a process is started at most once, because its holder's id
//     (`<id>.<generation>`) claims its directory; what is sent is numbered; a bare LLM's request has a number, and its
//     answer counts once.

import type { Json } from "../../base/json.ts";
import type { Child } from "../terminal/terminal.ts";
import type { AgentSettings, SessionPlan } from "./events.ts";
import type { Decision, ProviderEvent } from "./provider.ts";
import type { Rule } from "./rules.ts";

type To<Kind extends string, Fields = Record<never, never>> = { readonly kind: Kind; readonly id: string } & Fields;
type OfProcess<Kind extends string, Fields = Record<never, never>> = To<Kind, { readonly generation: number } & Fields>;

export type CreateAgent = To<
  "create",
  {
    readonly name: string;
    /** The parent's id, unless it is a root. */
    readonly parent: string | undefined;
    /** Its task, sent as its first message; may be empty. */
    readonly instructions: string;
    readonly plan: SessionPlan;
    readonly settings: Partial<AgentSettings>;
    /** The attempt that it is created for. */
    readonly owner?: string;
    /** Undefined: that of its parent, if it has one. */
    readonly lane?: string | undefined;
  }
>;

export type AnswerCommand = {
  readonly prompt: string;
  /** Chosen by the client: a repeat is the same answer. */
  readonly answer: string;
  readonly decision: Decision;
  readonly message: string;
  readonly always: boolean;
  /** A rule that a person has worded, instead of the exact one of `always`; for this agent, or for all. */
  readonly worded?: { readonly rule: Rule; readonly isForAll: boolean };
  /** The browser of the person, if it is one: it is noted with the rule. */
  readonly device?: string | undefined;
};

type StartFailure = {
  readonly reason: string;
  readonly passing?: true | undefined;
  readonly unresumable?: true | undefined;
};

export type AgentCommand =
  | CreateAgent
  /** From a person. `message` is chosen by the client: a repeat is the same message. */
  | To<"send", { readonly message: string; readonly payload: string; readonly replyTo: string | undefined }>
  /** By a person, unless `by` is given. */
  | To<"terminate", { readonly reason: string; readonly by?: "workflow" }>
  /**
   * After `PermanentlyFailed`, a hold, a backoff, or a turn that failed: continue now. `without` what the turn that
   * failed was given; `history`: in a new conversation (fresh.ts).
   */
  | To<"retry", { readonly without?: boolean | undefined; readonly history?: string }>
  /** Messages that it was not given yet. */
  | To<"inbox-drop", { readonly messages: readonly string[] }>
  | To<"inbox-edit", { readonly message: string; readonly payload: string }>
  /** Its conversation is longer than its model takes (`isTooLong`). */
  | To<"trim">
  | To<"interrupt">
  | To<"set", { readonly settings: Partial<AgentSettings> }>
  /** Give up its slot, once its turn is over. */
  | To<"suspend">
  /** One of our tools, over MCP. The result is in the state afterwards (`callOf`). */
  | To<"call", { readonly call: string; readonly tool: string; readonly args: Json; readonly via?: "http" }>
  /** The caller has the result. */
  | To<"call-taken", { readonly call: string }>
  | To<"answer", AnswerCommand>
  /** A person looked or did something: the deadlines of open prompts start again. */
  | To<"activity">
  /** `id` is an agent's, or RULE_BOOK for all. A new rule is the last. */
  | To<"rule-add", { readonly rule: Rule; readonly device?: string | undefined }>
  | To<"rule-remove", { readonly rule: string }>
  /** A time that the effect `timer` gave has come. */
  | To<"wake">
  /** Ready agents start, as far as there are slots: for all providers. Submitted once after recovery and safe mode. */
  | To<"schedule">
  /** The next copies of what it broadcast. */
  | To<"pass-on">
  | OfProcess<"started", { readonly child: Child; readonly holder: number }>
  /**
   * Nothing of it has run. `passing`: not for anything about its program, which may be started later. `unresumable`:
   * because its conversation is gone (fresh.ts).
   */
  | OfProcess<"start-failed", StartFailure>
  /** Entries of the outbox up to this number were taken, in this many pieces since the process started. */
  | OfProcess<"taken", { readonly through: number; readonly pieces: number }>
  /**
   * Output up to `offset`, as whole events; for a bare LLM `generation` is 0 and `offset` the number of the request
   * (C2).
   */
  | OfProcess<"read", { readonly offset: number; readonly events: readonly ProviderEvent[] }>
  /** Submitted after all its output was read. Both null: how it ended is unknown (lost). */
  | OfProcess<"ended", { readonly code: number | null; readonly signal: string | null }>
  /**
   * AG-4: after replay, for each active session, while agents are paused; then `adopted`, or `ended` once what its
   * holder
   * recorded was read. One that ended is held if its policy says so (AG-7); the others continue with `schedule`.
   * `hold`: why a person is needed before it continues.
   */
  | To<"detach", { readonly hold?: string }>
  | OfProcess<"adopted", { readonly child: Child; readonly holder: number }>
  /** AG-2: a session without `agent.created`. */
  | To<"orphan">
  /** To RULE_BOOK. These are over for good, and about to be removed. */
  | To<"collect", { readonly agents: readonly string[] }>;

export type AgentEffect =
  /** Start the holder `<id>.<generation>` with `factsOf(agent)`. Answered by `started` or `start-failed`. */
  | OfProcess<"start">
  /** Send the entries of the outbox from number `from` on (`inputsFrom`). Answered by `taken`. */
  | OfProcess<"send", { readonly from: number }>
  /** Close its input and let it end by itself. Answered by `ended`. */
  | OfProcess<"suspend">
  | OfProcess<"stop", { readonly signal: "SIGTERM" | "SIGKILL" }>
  /** Ask the bare LLM (`conversation`). Answered by `read` with this request as its offset. */
  | To<"ask", { readonly turn: number; readonly request: number }>
  /** Submit `wake` at the next of its times (`timesOf`), of which this is the earliest text. */
  | To<"timer", { readonly at: string }>
  /** SP-3: send `CRASHED` to every client. */
  | To<"crashed", { readonly reason: string; readonly at: string }>
  /** Submit `pass-on` until nothing is left of its broadcasts. */
  | To<"pass-on">
  /** Terminated, and no process is left. */
  | To<"finish">;
