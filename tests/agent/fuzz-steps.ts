// The steps of the agents' lifecycle fuzzer, as plain data: the target is a number, resolved among the agents that
// exist at that time.
import fc from "fast-check";
import type { ProviderName } from "../../src/core/agent/provider.ts";

export type Step =
  | { readonly kind: "create"; readonly name: number; readonly provider: ProviderName; readonly parent: number | null }
  | { readonly kind: "send"; readonly who: number }
  /** Repeats the user's last message. */
  | { readonly kind: "repeat" }
  | { readonly kind: "call"; readonly who: number; readonly tool: Tool; readonly name: number; readonly again: boolean }
  | { readonly kind: "ack"; readonly who: number }
  /** The world performs the next effect. */
  | { readonly kind: "perform"; readonly who: number; readonly which: number; readonly fails: boolean }
  | { readonly kind: "say"; readonly who: number; readonly what: Saying; readonly twice: boolean }
  | { readonly kind: "end"; readonly who: number; readonly code: number | null }
  | { readonly kind: "answer"; readonly who: number; readonly allow: boolean; readonly always: boolean }
  | { readonly kind: "wish"; readonly who: number; readonly wish: Wish }
  | { readonly kind: "time"; readonly ms: number }
  /** The daemon dies: everything is folded again, and holders have survived or not. */
  | { readonly kind: "crash"; readonly lives: number };

export type Tool = "spawn_agent" | "send_message" | "broadcast" | "check_inbox" | "complete" | "remind_me";
export type Saying =
  | ("text" | "tool" | "session" | "done" | "failed" | "unopened" | "ask" | "call" | "limit" | "withdrawn")
  | ("too long" | "busy" | "later" | "retrying" | "used");
/** `without`: retry without what failed. `fresh`: in a new conversation. `drop`: its last message. */
export type Wish = "terminate" | "retry" | "fresh" | "interrupt" | "suspend" | "without" | "drop";

/** Few names, so that they collide. */
export const NAMES = ["ann", "bob", "cy", "parent"] as const;

const who = fc.nat(9);
const name = fc.nat(3);
const provider = fc.constantFrom<ProviderName>("scripted", "scripted", "command", "openai");
const tool = fc.constantFrom<Tool>("spawn_agent", "send_message", "broadcast", "check_inbox", "complete", "remind_me");
const saying = fc.constantFrom<Saying>(
  ...(["text", "tool", "session", "done", "done", "done", "failed", "unopened"] as const),
  ...(["ask", "call", "call", "limit", "withdrawn"] as const),
  ...(["too long", "too long", "busy", "later", "retrying", "used"] as const),
);
const wish = fc.constantFrom<Wish>(
  ...(["terminate", "retry", "retry", "fresh", "interrupt", "suspend", "without", "drop"] as const),
);

const perform = fc.record({ kind: fc.constant("perform"), who, which: fc.nat(3), fails: fc.constant(false) });
const say = fc.record({ kind: fc.constant("say"), who, what: saying, twice: fc.boolean() });

/** Repetition in this list is frequency. */
export const STEPS: readonly fc.Arbitrary<Step>[] = [
  fc.record({ kind: fc.constant("create"), name, provider, parent: fc.oneof(fc.constant(null), who) }),
  fc.record({ kind: fc.constant("send"), who }),
  fc.record({ kind: fc.constant("send"), who }),
  fc.record({ kind: fc.constant("repeat") }),
  fc.record({ kind: fc.constant("call"), who, tool, name, again: fc.boolean() }),
  fc.record({ kind: fc.constant("ack"), who }),
  ...[perform, perform, perform, perform, perform],
  fc.record({ kind: fc.constant("perform"), who, which: fc.nat(3), fails: fc.constant(true) }),
  ...[say, say, say, say],
  fc.record({ kind: fc.constant("end"), who, code: fc.constantFrom(0, 1, null) }),
  fc.record({ kind: fc.constant("answer"), who, allow: fc.boolean(), always: fc.boolean() }),
  fc.record({ kind: fc.constant("wish"), who, wish }),
  fc.record({ kind: fc.constant("time"), ms: fc.constantFrom(1, 1000, 60_000, 400_000, 8 * 24 * 3_600_000) }),
  fc.record({ kind: fc.constant("crash"), lives: fc.nat(1023) }),
];
