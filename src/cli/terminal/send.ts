// `holdfast send`: types a text into a terminal, unchanged, and then presses keys.
// SD1. It is numbered under a name that only this call has: input that is lost on the way is sent again and typed once.
// SD2. Returns when the holder has it, and not before.
// SD3. Input that was taken counts as sent, even if the program read it and ended before we learned of either.
import { ok, type Result, refused } from "../../base/result.ts";
import { keyBytes } from "../../core/terminal/keys.ts";
import { terminalFiles } from "../../home/held/holder-files.ts";
import { within } from "../../world/wait.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { existingHome } from "../home.ts";
import { printJson } from "../print.ts";
import { findTerminal } from "./find.ts";
import { ReconnectingHolder } from "./reconnecting-holder.ts";
import { writerName } from "./writer-name.ts";

export type SendFlags = DataFlags & { readonly enter?: boolean; readonly key?: readonly string[] };

/** A holder accepts input at once; one that accepts none for this long has a child that does not read. */
const TAKE_MS = 10_000;

async function send(world: DaemonCommandWorld, flags: SendFlags, key: string, text?: string): Promise<Exit> {
  const input = inputOf(flags, text);
  if (!input.ok) return input;
  const home = existingHome(world, flags.home);
  if (!home.ok) return home;
  return key.includes("/")
    ? sendThere(world, home.value, flags, key, text)
    : sendTo(world, home.value, flags, key, input.value);
}

/** To another home of the fleet. */
async function sendThere(
  world: DaemonCommandWorld,
  home: string,
  flags: SendFlags,
  key: string,
  text?: string,
): Promise<Exit> {
  const { onTerminalThere } = await import("../fleet/there.ts");
  const input = inputOf(flags, text);
  if (!input.ok) return input;
  const { enter = false, json = false, key: keys = [] } = flags;
  const given = [...keys.map((one) => `--key=${one}`), ...(enter ? ["--enter"] : []), ...(json ? ["--json"] : [])];
  return onTerminalThere(world, {
    ...{ home, key, command: "send", acts: true, isInteractive: false },
    words: (name) => [...given, "--", name, ...(text === undefined ? [] : [text])],
    here: (at, name) => sendTo(world, at, flags, name, input.value),
  });
}

async function sendTo(
  world: DaemonCommandWorld,
  home: string,
  flags: SendFlags,
  key: string,
  input: string,
): Promise<Exit> {
  const found = await findTerminal(world, home, key);
  if (!found.ok) return found;
  const { id, name, state } = found.value;
  if (state.kind === "ended" || state.kind === "uncertain") return ended(name);
  const bytes = Buffer.from(input);
  const sent = await typeInto(world, { home, id, name }, bytes);
  if (!sent.ok) return sent;
  if (flags.json) await printJson(world.console, { id, name, bytes: bytes.length });
  return ok(EXIT.ok);
}

/** The text, then the keys in their order, then Enter. */
function inputOf({ enter, key: keys = [] }: SendFlags, text: string | undefined): Result<string> {
  const pressed = [...keys, ...(enter ? ["Enter"] : [])].map((name) => ({ name, bytes: keyBytes(name) }));
  const unknown = pressed.find(({ bytes }) => bytes === undefined);
  if (unknown !== undefined) {
    const hint = "Keys are named as in tmux: C-c, M-x, Enter, Escape, Tab, BSpace, Up, PageUp, Home, F5, C-Left …";
    return refused("usage", `There is no key ${JSON.stringify(unknown.name)}.`, hint);
  }
  if (text === undefined && pressed.length === 0) {
    return refused("usage", "There is nothing to send.", "Give a text, or a key with --key.");
  }
  return ok([text, ...pressed.map(({ bytes }) => bytes)].join(""));
}

type Doors = Pick<DaemonCommandWorld, "disk" | "clock" | "processes" | "random" | "sockets">;
type Target = { readonly home: string; readonly id: string; readonly name: string };

export async function typeInto(reach: Doors, { home, id, name }: Target, bytes: Uint8Array): Promise<Result<void>> {
  const place = terminalFiles(reach.disk, home, id);
  const answered = Promise.withResolvers<Result<void>>();
  let answer: Promise<Result<void>> | undefined;
  let over = false;
  const joined = () => {
    answer ??= line.input(bytes);
    answer.then((taken) => (over ? undefined : answered.resolve(taken)), answered.reject); // SD2
  };
  const line = new ReconnectingHolder(reach, place, { writer: writerName(reach, "send") }, { joined }); // SD1
  const ending = line.ended.then(async (end) => {
    over = true;
    const taken = await answer;
    if (taken?.ok === true) return taken; // SD3
    return end.kind === "ended" ? ended(name) : { ok: false as const, error: end.refusal };
  });
  line.open();
  try {
    return (await within(reach.clock, TAKE_MS, Promise.race([ending, answered.promise]))) ?? busy(name);
  } finally {
    line.close();
  }
}

function ended(name: string): { readonly ok: false; readonly error: { code: string; message: string; hint: string } } {
  const hint = `\`holdfast history ${name}\` shows its output; \`holdfast new\` opens another.`;
  return { ok: false, error: { code: "not-running", message: `${name} is not running.`, hint } };
}

function busy(name: string): Result<never> {
  const message = `${name} has not accepted the text within ${TAKE_MS / 1000} s.`;
  return {
    ok: false,
    error: { code: "not-live", message, hint: "Look at it (holdfast attach) before you send it again." },
  };
}

export const sendCommand = withDaemonWorld(send);
