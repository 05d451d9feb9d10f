// The story that crashes interrupt: a root spawns a child, which asks for a permission, writes to it and completes; a
// bare LLM calls a tool and is reminded; in the end the root is terminated.
import { type AgentWish, idOf, type Script } from "../sim/holdfast/script.ts";

export const ROOT = idOf(1);
export const MODEL = idOf(2);
export const MESSAGE = idOf(3);

const call = (tool: string, args: object) => `>> call ${tool} ${JSON.stringify(args)}`;
const KID = [
  ">> ask Bash k1",
  ">> note k2",
  call("send_message", { to: "parent", text: ">> note r2" }),
  call("complete", { result: ">> note r3" }),
].join("\n");
const BEGIN = [call("spawn_agent", { name: "kid", instructions: KID }), ">> note r1"].join("\n");
const ASKED = [call("list_children", {}), call("remind_me", { in_seconds: 1, text: "Enough." })].join("\n");

export const STORY: readonly AgentWish[] = [
  { kind: "agent", id: ROOT, provider: "actor", instructions: BEGIN },
  { kind: "agent", id: MODEL, provider: "model", instructions: ASKED },
  { kind: "message", id: ROOT, message: MESSAGE, text: ">> note u1" },
  { kind: "termination", id: ROOT },
];

export const EAGER_STORY: Script = [{ kind: "eager" }, ...STORY];

const LOOP = [1, 2, 3, 4, 5, 6, 7].map((number) => `>> crash ${number}`);

/** A program that crashes seven times: after five within a minute, only a person restarts it (SP-2). */
export const CRASHES: readonly AgentWish[] = [
  { kind: "agent", id: ROOT, provider: "actor", instructions: [...LOOP, ">> note r1"].join("\n") },
];
