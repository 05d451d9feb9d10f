// The words that give a sandbox its configuration directory and its way to the network.
import { expect, test } from "bun:test";
import { accessWords, throughProxy } from "./sandbox-access.ts";

const PROXY = { from: "/h/run/a-1.net", at: "/h/net", socket: "/h/net/s", command: ["/bun", "/src/inside.ts"] };

test("SA1 of the user's configuration some files are shown read-only, and only conversations are on disk", () => {
  const words = accessWords({ state: { directory: "/h/a/claude", settings: "/u/.claude" }, proxy: null }, "/w");
  expect(words.slice(0, 3)).toEqual(["--bind", "/h/a/claude/projects", "/h/a/claude/projects"]);
  expect(words.join(" ")).toContain("--ro-bind-try /u/.claude/settings.json /h/a/claude/settings.json");
  expect(words.filter((word) => word === "--bind")).toHaveLength(1);
  expect(words.join(" ")).not.toContain("credentials");
  expect(words.slice(-2)).toEqual(["--chdir", "/w"]);
  const none = accessWords({ state: { directory: "/h/a/claude", settings: null }, proxy: null }, "/w");
  expect(none).toEqual(["--bind", "/h/a/claude/projects", "/h/a/claude/projects", "--chdir", "/w"]);
});

test("SA2, SA3 the first program offers the proxy's socket, and starts away from the agent's directory", () => {
  expect(accessWords({ state: null, proxy: PROXY }, "/w")).toEqual([
    ...["--ro-bind", "/h/run/a-1.net", "/h/net", "--chdir", "/"],
  ]);
  const start = { argv: ["claude", "two words"], cwd: "/w" };
  expect(throughProxy(start, null)).toEqual(start);
  expect(throughProxy(start, PROXY)).toEqual({
    argv: ["/bun", "/src/inside.ts", "/h/net/s", "/w", "claude", "two words"],
    cwd: "/w",
  });
});
