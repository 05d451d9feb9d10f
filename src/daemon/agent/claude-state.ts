// Where Claude Code in a sandbox keeps its conversations, and what it sees of the user's own configuration.
// CS1. Its configuration directory is below its agent's. The user's own one is never writable from inside, and only
//      SETTINGS of it are visible (core/agent/sandbox-access.ts): no history, no login, no other project.
// CS2. Only conversations are kept on disk; everything else it writes there is gone with its sandbox.
// CS3. With a subscription it gets the token that is valid now, as a variable. The token that renews it stays outside:
//      using that one would end the user's own login.
import { isFault } from "../../base/fault.ts";
import { joinPath } from "../../base/path.ts";
import type { Agent } from "../../core/agent/agent.ts";
import { keysOf } from "../../core/agent/provider-access.ts";
import { KEPT, type ProviderState } from "../../core/agent/sandbox-access.ts";
import { makeHeldDirectory } from "../../home/held/holder-files.ts";
import { readWhole } from "../../log/file/file.ts";
import { loginToken, MAX_LOGIN } from "../../wire/provider/claude-login.ts";
import type { Disk } from "../../world/disk.ts";
import { agentDirectory } from "./process-files.ts";

type Env = Readonly<Record<string, string>>;

/** Its name in the agent's directory. */
export const CLAUDE = "claude";
const DIRECTORY = "CLAUDE_CONFIG_DIR";
const LOGIN = ".credentials.json";
const TOKEN = "CLAUDE_CODE_OAUTH_TOKEN";

/** The user's own configuration directory; undefined if the environment does not say where it is. */
export function userSettings(env: Env): string | undefined {
  return env[DIRECTORY] ?? (env["HOME"] === undefined ? undefined : joinPath(env["HOME"], ".claude"));
}

/** CS1. Null if it is another program, without a sandbox, or of a version that used the user's directory. */
export function claudeState(home: string, { id, plan }: Agent): ProviderState | null {
  const settings = plan.workspace?.sandbox?.settings;
  if (settings === undefined || plan.recipe.provider !== "claude") return null;
  return { directory: joinPath(agentDirectory(home, id), CLAUDE), settings };
}

/** CS2 */
export async function makeClaudeState(disk: Disk, home: string, { directory }: ProviderState): Promise<void> {
  await makeHeldDirectory(disk, home, joinPath(directory, KEPT));
}

/** The variables with which it finds its state, and is logged in (CS3). */
export function withClaudeState(disk: Disk, agent: Agent, state: ProviderState | null, env: Env): Env {
  if (state === null) return env;
  const isKeyed = keysOf(agent.plan.recipe).some((name) => env[name] !== undefined);
  const token = isKeyed || state.settings === null ? undefined : loginIn(disk, state.settings);
  return { ...env, [DIRECTORY]: state.directory, ...(token !== undefined && { [TOKEN]: token }) };
}

function loginIn(disk: Disk, settings: string): string | undefined {
  try {
    const bytes = readWhole(disk, joinPath(settings, LOGIN), MAX_LOGIN);
    return bytes && loginToken(new TextDecoder().decode(bytes));
  } catch (error) {
    if (isFault(error)) return undefined; // It cannot be read: the program says that it is not logged in.
    throw error;
  }
}
