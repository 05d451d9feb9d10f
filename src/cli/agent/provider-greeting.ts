// Whether a program that should speak ACP does: it is started, greeted, and ended once it has answered.
// PG1. It gets the variables that an agent on it would get, and no key of another provider; no conversation is begun.
// PG2. As for versions: no shell, a directory of nobody's, a time limit, nothing out of the current directory (LK3).
import { parentOf } from "../../base/path.ts";
import { variablesFor } from "../../core/agent/provider-access.ts";
import { greetedIn, greeting } from "../../wire/provider/acp-greeting.ts";
import { askProgram } from "../brief.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import type { NamedProvider, ProviderRow } from "./provider-rows.ts";

/** Some load megabytes of script before they answer. */
const GREET_MS = 15_000;

/** The row with what the program answered. `names`: the variables that agents may have. */
export async function greeted(
  world: DaemonCommandWorld,
  { command, keys }: NamedProvider,
  row: ProviderRow,
  names: readonly string[],
): Promise<ProviderRow> {
  const { program } = row;
  if (row.kind !== "acp" || program === null || parentOf(program) === world.console.absolute(".")) return row;
  const recipe = { provider: "acp", model: null, command, flags: [], permissionMode: null, options: { keys } } as const;
  const given = variablesFor(recipe, names);
  const env = Object.fromEntries(Object.entries(world.self.environment()).filter(([name]) => given.includes(name))); // PG1
  const talk = { says: greeting(), isAnswer: (out: string) => greetedIn(out) !== undefined };
  const answer = await askProgram(world, { argv: [program, ...command.slice(1)], env, ms: GREET_MS, talk });
  const reply = answer.kind === "ended" ? greetedIn(answer.out) : undefined;
  if (reply?.kind === "speaks") return { ...row, resumes: reply.resumes };
  const silent =
    answer.kind === "ended" ? "it ended before it answered in ACP" : `no ACP answer in ${GREET_MS / 1000} s`;
  const why = reply === undefined ? silent : `it refused the greeting: ${reply.why}`;
  return { ...row, usable: false, why, next: `Try it: ${command.join(" ")}` };
}
