// The providers that an agent can be made on, by name, and whether each can be used here.
// PV1. Nothing is sent to anybody: usable means that the program is there and starts, or that the variable with the key
//      is set. Whether an account is in order shows in the first turn.
import { baseName, parentOf } from "../../base/path.ts";
import { SHIPPED } from "../../core/agent/shipped.ts";
import { findProgram } from "../../home/find-program.ts";
import type { Config } from "../../wire/files/config-schema.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { cliNamed, LONG_MS, type LookedAt, lookAt, versionTrouble } from "./agent-cli-look.ts";

export type Origin = "built in" | "shipped" | "configuration";

/** A provider, and what it runs: a program, or requests with a key. */
export type NamedProvider = {
  readonly name: string;
  readonly kind: string;
  readonly from: Origin;
  readonly command: readonly string[];
  /** The variable with the key (kind `openai`). */
  readonly keyEnv: string;
  /** The variables with keys that it gets; null for the usual ones of its program. */
  readonly keys: readonly string[] | null;
};

/** As `--json` prints it. Other programs rely on this shape: fields are added, never changed. */
export type ProviderRow = Pick<NamedProvider, "name" | "kind" | "from"> & {
  /** The full path; null if it is not there, or there is none. */
  readonly program: string | null;
  readonly installed: boolean;
  /** Null if it was not asked, or did not answer. */
  readonly version: string | null;
  /** A variable or a file by which it is logged in; null if none was seen. */
  readonly login: string | null;
  readonly usable: boolean;
  /** Why it cannot be used, or what to know; empty if there is nothing to say. */
  readonly why: string;
  readonly next: string | null;
  /** Whether a new process of it continues a conversation, as it says itself; absent if it was not asked. */
  readonly resumes?: boolean;
};

/** What `--provider` takes without a command of one's own; a table of the configuration comes first (SH1). */
export function namedProviders({ provider }: Pick<Config, "provider">): NamedProvider[] {
  const own = Object.entries(provider).map(([name, { kind, command, keyEnv, keys }]): NamedProvider => {
    const named = keys.length === 0 ? null : keys;
    return { name, kind, from: "configuration", command: commandOf(kind, command), keyEnv, keys: named };
  });
  const shipped = Object.entries(SHIPPED).map(([name, { provider: kind, command }]): NamedProvider => {
    return { name, kind, from: "shipped", command, keyEnv: "", keys: null };
  });
  const all = [...own, ...BUILT_IN, ...shipped];
  return all.filter(({ name }, at) => all.findIndex((other) => other.name === name) === at);
}

const BUILT_IN: readonly NamedProvider[] = [
  { name: "claude", kind: "claude", from: "built in", command: ["claude"], keyEnv: "", keys: null },
  { name: "openai", kind: "openai", from: "built in", command: [], keyEnv: "OPENROUTER_API_KEY", keys: null },
];

function commandOf(kind: string, command: readonly string[]): readonly string[] {
  return kind === "claude" && command.length === 0 ? ["claude"] : command;
}

export async function providerRow(world: DaemonCommandWorld, provider: NamedProvider): Promise<ProviderRow> {
  const { name, kind, from } = provider;
  const row = { name, kind, from, program: null, installed: false, version: null, login: null, usable: false };
  if (kind === "openai") return { ...row, ...keyed(world, provider) };
  const [word] = provider.command;
  if (word === undefined) return { ...row, why: "it has no command", next: "Give one after --, or in its table." };
  const program = programAt(world, word);
  const cli = cliNamed(word);
  if (program === undefined) return { ...row, why: `${word} was not found`, next: cli?.install ?? null };
  const there = { ...row, program, installed: true, usable: true };
  if (program === "") return { ...there, program: null, why: "its path begins at the agent's directory", next: null };
  return cli === undefined
    ? { ...there, why: "", next: null }
    : { ...there, ...judged(await lookAt(world, cli, program, LONG_MS)) };
}

/** A relative path begins at the directory of each agent: empty. Undefined if it is not there. */
function programAt({ disk, self }: DaemonCommandWorld, word: string): string | undefined {
  if (!word.includes("/")) return findProgram(disk, self.environment()["PATH"] ?? "", word);
  return word.startsWith("/") ? findProgram(disk, parentOf(word), baseName(word)) : "";
}

type Judged = Pick<ProviderRow, "version" | "login" | "usable" | "why" | "next">;

function judged({ cli, version, login: seen }: LookedAt): Judged {
  const trouble = versionTrouble(version);
  const login = seen ?? null;
  const found = { version: version.kind === "known" ? version.text : null, login, usable: version.kind !== "failed" };
  if (trouble !== undefined) return { ...found, why: trouble, next: version.kind === "failed" ? cli.install : null };
  if (login !== null) return { ...found, why: "", next: null };
  return { ...found, why: "no login was seen", next: `Start ${cli.name} once, and log in.` };
}

/** PV1. The key itself goes nowhere. */
function keyed({ self }: DaemonCommandWorld, { keyEnv }: NamedProvider): Omit<Judged, "version"> {
  const isSet = (self.environment()[keyEnv] ?? "") !== "";
  if (isSet) return { login: keyEnv, usable: true, why: "", next: null };
  const why = `${keyEnv} is not set in this shell`;
  return {
    login: null,
    usable: false,
    why,
    next: `Set it where Holdfast is started: holdfast down; export ${keyEnv}=…; holdfast up`,
  };
}
