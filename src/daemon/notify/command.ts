// Runs the operator's `[notify] command`: the message is its standard input, as JSON, and the main facts are variables.
// NC1. There is no shell. It runs in its own process group, gets none of our secrets, and has a time limit, after which
//      the whole group is killed. Of what it prints only the beginning is kept, and only if it fails.
import { isFault } from "../../base/fault.ts";
import { plainLine } from "../../base/visible.ts";
import type { Message } from "../../core/notify/message.ts";
import type { Children, Ending, PipeChild } from "../../world/children.ts";
import type { Clock } from "../../world/clock.ts";
import type { Reply } from "./reply.ts";

/** A command that calls someone is quick. */
const MAX_MS = 30_000;
const MAX_KEPT = 500;
/** What programs need that show something on this machine. */
const ENVIRONMENT = [
  ...["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "SHELL"],
  ...["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"],
];

export type CommandPorts = {
  readonly children: Children;
  readonly clock: Clock;
  readonly home: string;
  environment(): Readonly<Record<string, string>>;
};

export async function runCommand(
  ports: CommandPorts,
  argv: readonly [string, ...string[]],
  message: Message,
  stopped: Promise<void>,
): Promise<Reply> {
  const { promise: over, resolve } = Promise.withResolvers<Ending | "late">();
  let said = "";
  const output = (bytes: Uint8Array) => {
    if (said.length < MAX_KEPT) said += Buffer.from(bytes.subarray(0, MAX_KEPT)).toString(); // NC1
  };
  try {
    const command = { argv, cwd: ports.home, env: { ...allowed(ports.environment()), ...factsOf(message) } };
    const child = ports.children.pipes(command, { output, ended: resolve });
    const late = () => {
      child.signal("SIGKILL"); // NC1
      resolve("late");
    };
    const cancel = ports.clock.after(MAX_MS, late);
    void stopped.then(late);
    void tell(child, `${JSON.stringify(message)}\n`);
    const ending = await over;
    cancel();
    return replyOf(ending, plainLine(said.trim().slice(0, MAX_KEPT)));
  } catch (error) {
    if (!isFault(error)) throw error;
    return { kind: "refused", why: error.message };
  }
}

/** A command need not read its input. */
async function tell(child: PipeChild, text: string): Promise<void> {
  try {
    await child.write(Buffer.from(text));
  } catch (error) {
    if (!isFault(error)) throw error;
  }
  child.closeInput();
}

function replyOf(ending: Ending | "late", said: string): Reply {
  if (ending === "late") return { kind: "lost", why: "the command did not end in time, and was killed" };
  if (ending.kind === "exited" && ending.code === 0) return { kind: "accepted" };
  const how = ending.kind === "exited" ? `exited with ${ending.code}` : `was ended by ${ending.signal}`;
  return { kind: "refused", why: `the command ${how}${said === "" ? "" : `: ${said}`}` };
}

function allowed(ours: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(ours).filter(([name]) => ENVIRONMENT.includes(name)));
}

function factsOf({ kind, tag, title, body, prompt }: Message): Record<string, string> {
  return {
    ...{ HOLDFAST_KIND: kind, HOLDFAST_TAG: tag, HOLDFAST_TITLE: title, HOLDFAST_BODY: body },
    ...(prompt && { HOLDFAST_AGENT: plainLine(prompt.name), HOLDFAST_TOOL: plainLine(prompt.tool) }),
    ...(prompt?.decision && { HOLDFAST_DECISION: prompt.decision }),
  };
}
