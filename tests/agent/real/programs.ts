// Real agent programs, if installed (`npm ci --ignore-scripts` in this directory; the test command does it in CI).
import { existsSync } from "node:fs";
import { join } from "node:path";

const MODULES = join(import.meta.dir, "node_modules");
const CLAUDE = ["@anthropic-ai/claude-code-linux-x64/claude", "@anthropic-ai/claude-code-linux-arm64/claude"];
const OPENCODE = ["opencode-linux-x64/bin/opencode", "opencode-linux-arm64/bin/opencode"];

function found(places: readonly string[]): string | undefined {
  return places.map((place) => join(MODULES, place)).find((path) => existsSync(path));
}

/** The programs themselves, not their launchers: package scripts are not run. Undefined if they are not installed. */
export const claudeProgram = found(CLAUDE);
export const opencodeProgram = found(OPENCODE);
