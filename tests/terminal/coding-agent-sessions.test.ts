// The conversations of agents, found where the real programs store them.
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { agentSessions } from "../../src/daemon/terminal/coding-agent-sessions.ts";
import type { Disk } from "../../src/world/disk.ts";
import { sha256 } from "../../src/world/hash.ts";
import { realDisk } from "../../src/world/real/disk.ts";

const HOME = mkdtempSync(join(tmpdir(), "hfas-"));
afterAll(() => rmSync(HOME, { recursive: true, force: true }));

const [A, B, C] = ["a", "b", "c"].map((letter) => `${letter.repeat(8)}-1111-4222-8333-444455556666`);
const SINCE = "2026-01-01T00:00:00.000Z";

function put(path: string, text: string, at: string): void {
  mkdirSync(dirname(join(HOME, path)), { recursive: true });
  writeFileSync(join(HOME, path), text);
  utimesSync(join(HOME, path), new Date(at), new Date(at));
}

const opened: string[] = [];
const disk = {
  ...realDisk(),
  open: (...[path, mode]: Parameters<Disk["open"]>) => {
    opened.push(path);
    return realDisk().open(path, mode);
  },
};

const look = (agent: "claude" | "codex" | "gemini" | "opencode", env = {}, since: string | null = SINCE) =>
  agentSessions(disk, { agent, cwd: "/w/my.app", since: since ?? undefined, env: { HOME, ...env } });

const OLD = "2025-12-31T00:00:00.000Z";
const NEW = "2026-01-01T00:00:01.000Z";

test("claude: by the name of the directory, recent ones listed apart", () => {
  put(`.claude/projects/-w-my-app/${A}.jsonl`, "{}", OLD);
  put(`.claude/projects/-w-my-app/${B}.jsonl`, "{}", NEW);
  put(`.claude/projects/-w-my-app/notes.jsonl`, "{}", NEW);
  put(`.claude/projects/-w-other/${C}.jsonl`, "{}", NEW);
  expect(look("claude").known.toSorted()).toEqual([A ?? "", B ?? ""]);
  expect(look("claude").recent).toEqual([B ?? ""]);
  expect(look("claude", {}, null).recent).toEqual([]);
  expect(look("claude", { CLAUDE_CONFIG_DIR: "/nowhere" })).toEqual({ known: [], recent: [] });
});

test("codex: by the directory that each names in its first line", () => {
  const meta = (cwd: string) => `{"type":"session_meta","payload":{"cwd":${JSON.stringify(cwd)}}}\n`;
  put(`.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${A}.jsonl`, meta("/w/my.app"), NEW);
  put(`.codex/sessions/2025/12/31/rollout-2025-12-31T00-00-00-${B}.jsonl`, meta("/w/my.app"), OLD);
  put(`.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${C}.jsonl`, meta("/w"), NEW);
  expect(look("codex").recent).toEqual([A ?? ""]);
  expect(opened.filter((path) => path.includes(B ?? ""))).toEqual([]); // Years of old ones are not read.
  expect(look("codex", {}, null).recent).toEqual([]);
});

test("gemini: by the hash of the directory, or by its marker file", () => {
  const chat = (id = "") => `{"sessionId": "${id}", "messages": []}`;
  put(`.gemini/tmp/${sha256("/w/my.app")}/chats/session-1.json`, chat(A), NEW);
  put(".gemini/tmp/my-app/.project_root", "/w/my.app", NEW);
  put(".gemini/tmp/my-app/chats/session-2.jsonl", chat(B), OLD);
  put(".gemini/tmp/other/chats/session-3.json", chat(C), NEW);
  expect(look("gemini").recent).toEqual([A ?? ""]);
  expect(opened.filter((path) => path.includes("session-2"))).toEqual([]);
});

test("opencode keeps them in a database: none are reported", () => {
  expect(look("opencode")).toEqual({ known: [], recent: [] });
});
