// Command lines that are understood without stricli, which takes as long as half of an empty script: frequent commands,
// with the flags that people and programs usually give them.
// PL1. What is understood here means the same to stricli. Everything else is left to it, also whatever might be
//      mistyped.
import { ok, type Result } from "../base/result.ts";
import type { Chosen } from "./command-world.ts";
import { divided } from "./divided.ts";

/** What a command gets. */
export type Said = {
  readonly flags: Readonly<Record<string, string | true>>;
  readonly args: readonly string[];
};

/** `takes`: with a word after it, or alone. */
type Flag = { readonly name: string; readonly takes: "word" | "nothing" };
type Choose = (this: Chosen, flags: Said["flags"], ...args: readonly string[]) => void;
type Plain = {
  readonly flags: Readonly<Record<string, Flag>>;
  readonly maxArgs: number;
  readonly load: () => Promise<Choose>;
};

const word = (name: string): Flag => ({ name, takes: "word" });
const alone = (name: string): Flag => ({ name, takes: "nothing" });
const COMMON = { "--home": word("home"), "--lane": word("lane") };

const PLAIN: ReadonlyMap<string, Plain> = new Map<string, Plain>([
  [
    "ls",
    {
      flags: { ...COMMON, "--json": alone("json") },
      maxArgs: 0,
      load: async () => (await import("./terminal/ls.ts")).lsCommand,
    },
  ],
  [
    "attach",
    {
      flags: {
        ...{ ...COMMON, "--cwd": word("cwd") },
        ...{ "--create": alone("create"), "-c": alone("create") },
        ...{ "--read-only": alone("readOnly"), "-r": alone("readOnly") },
      },
      maxArgs: 1,
      load: async () => (await import("./terminal/attach.ts")).attachCommand,
    },
  ],
  [
    "new",
    {
      flags: {
        ...{ ...COMMON, "--cwd": word("cwd"), "--json": alone("json") },
        ...{ "--detach": alone("detach"), "-d": alone("detach") },
      },
      maxArgs: 1,
      load: async () => (await import("./terminal/new.ts")).newCommand,
    },
  ],
]);

/** Undefined for all that is left to stricli (PL1). */
export async function plainly(argv: readonly string[]): Promise<Result<Chosen> | undefined> {
  const said = saidBy(argv);
  const command = PLAIN.get(argv[0] ?? "");
  if (command === undefined || said === undefined) return undefined;
  const { words } = divided(argv);
  const chosen: Chosen = { words };
  const choose = await command.load();
  choose.call(chosen, said.flags, ...said.args);
  return ok(chosen);
}

/** What a plain command line gives to its command. */
export function saidBy(argv: readonly string[]): Said | undefined {
  const [first = "", ...words] = divided(argv).before;
  const command = PLAIN.get(first);
  return command && saidPlainly(command, words);
}

function saidPlainly({ flags, maxArgs }: Plain, words: readonly string[]): Said | undefined {
  const said = new Map<string, string | true>();
  const args: string[] = [];
  const left = words.flatMap((word) => apart(word, flags)).values();
  for (const word of left) {
    const flag = flags[word];
    if (flag === undefined) args.push(word);
    else if (said.has(flag.name)) return undefined;
    else said.set(flag.name, flag.takes === "nothing" || (left.next().value ?? ""));
  }
  const isPlain = args.length <= maxArgs && [...args, ...said.values()].every(isOrdinary);
  return isPlain ? { flags: Object.fromEntries(said), args } : undefined;
}

/** `--lane=x` is `--lane x`. */
function apart(word: string, flags: Plain["flags"]): string[] {
  const [, name = "", value = ""] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? [];
  return flags[name]?.takes === "word" ? [name, value] : [word];
}

function isOrdinary(value: string | true): boolean {
  return value === true || (value !== "" && !value.startsWith("-"));
}
