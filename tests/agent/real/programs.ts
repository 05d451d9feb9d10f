// Real agent programs, if installed: those of the gate by `npm ci --ignore-scripts` in this directory (the test command
// does it in CI), the others in more/ by `npm run test:agents`.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { LATE_COMPILERS } from "../../../src/world/self.ts";
import { LITTLE_COMPILING } from "../../ours.ts";

/** `npm run test:agents`: all real agents are installed, and every cell of the table is tried. */
export const runsAll = process.env["HOLDFAST_AGENTS"] === "all";

/** For Claude Code and opencode, which run in Bun: they live for seconds here, and compiling takes a sixth of that. */
export const LITTLE_COMPILED = { ...LATE_COMPILERS, ...LITTLE_COMPILING };

const MUSL = { x64: "x86_64-unknown-linux-musl", arm64: "aarch64-unknown-linux-musl" };

function found(of: (cpu: "x64" | "arm64") => string): string | undefined {
  const places = (["x64", "arm64"] as const).map((cpu) => join(import.meta.dir, of(cpu)));
  return places.find((path) => existsSync(path));
}

/** The programs themselves, not their launchers: package scripts are not run. Undefined if they are not installed. */
export const claudeProgram = found((cpu) => `node_modules/@anthropic-ai/claude-code-linux-${cpu}/claude`);
export const opencodeProgram = found((cpu) => `node_modules/opencode-linux-${cpu}/bin/opencode`);
export const codexProgram = found(
  (cpu) => `more/node_modules/@openai/codex-linux-${cpu}/vendor/${MUSL[cpu]}/bin/codex`,
);
export const codexAcpProgram = found((cpu) => `more/node_modules/@zed-industries/codex-acp-linux-${cpu}/bin/codex-acp`);
/** A script for Node. */
export const geminiProgram = found(() => "more/node_modules/@google/gemini-cli/bundle/gemini.js");
