// What happens in the golden home before it is packed: two boots, with everything that Holdfast keeps in it.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../until.ts";
import { agents, modelAgent, SCRIPT, troubled } from "./agents.ts";
import { CHANGED, configuration, FLOWS, older } from "./flows.ts";
import { type Product, send } from "./product.ts";

/** The files of a home that nothing has run on. */
export function furnish(root: string, model: string): void {
  for (const name of ["flows", "user"]) mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, "config.toml"), configuration(model));
  for (const [name, text] of Object.entries(FLOWS)) writeFileSync(join(root, "flows", name), text);
  mkdirSync(join(root, "older/sessions"), { recursive: true });
  writeFileSync(join(root, "older/sessions/session-old.json"), older(root));
  const git = ["git", "-c", "user.name=golden", "-c", "user.email=golden@example.org", "-C", join(root, "repo")];
  must(["git", "init", "-q", "-b", "main", join(root, "repo")]);
  must([...git, "commit", "-q", "--allow-empty", "-m", "golden"]);
}

/**
 * Terminals, a crash of the daemon, and some of everything that can be lost with a machine. Ends with all of it
 * running.
 */
export async function firstBoot(product: Product): Promise<void> {
  await product.ok(["up"]);
  await terminals(product);
  await killDaemon(product);
  await tmux(product);
  await product.ok(["run", "-d", flow(product, "resolved")]);
  await product.shows("begun", "logs", "--step", "long", "resolved");
  const told = ["--recovery", "never", "--recovery-prompt", "hello", "--instructions", "HOLD"];
  await product.ok(["agent", "new", "retried", "--provider", "worker", ...told]);
  await product.shows("I hold on.", "agent", "log", "retried");
  const seen = ["golden-42", '"/usr/share"', '"sleep","123456"'];
  await until(
    "the checkpoint has what is seen",
    () => seen.every((text) => checkpointOf(product).includes(text)),
    () => seen,
  );
}

async function terminals(product: Product): Promise<void> {
  await product.ok(["new", "-d", "work"]);
  await product.ok(["new", "-d", "front"]);
  await product.ok(["new", "-d", "--lane", "builds", "--restore", "ask", "before"]);
  await product.ok(["new", "-d", "--lane", "builds", "--restore", "never", "alone", "--", "sleep", "100000"]);
  await product.ok(["new", "-d", "removed", "--", "true"]);
  await product.ok(["new", "-d", "ended", "--", "/bin/sh", "-c", "echo last words; exit 7"]);
  await product.ok(["new", "-d", "killed", "--", "sleep", "100000"]);
  await product.ok(["rename", "before", "after"]);
  await product.ok(["kill", "killed", "--signal", "SIGTERM"]);
  await product.ok(["wait", "removed"]);
  await product.ok(["rm", "removed"]);
  await product.ok(["wait", "ended"], [7]);
  await product.ok(["send", "--enter", "work", "cd /usr/share && echo golden-$((40 + 2))"]);
  await product.shows("golden-42", "history", "work");
  await product.ok(["send", "--enter", "front", "echo in-front; sleep 123456"]);
  await product.shows("in-front\r\n", "history", "--vt", "front");
}

/**
 * After the machine went down: what came back is accepted or taken back, and what waits goes on; then agents and runs.
 */
export async function secondBoot(product: Product): Promise<void> {
  await product.ok(["up"]);
  await product.shows("LIVE", "recovery", "status", "--json");
  await product.ok(["recovery", "accept", "work"]);
  await product.ok(["recovery", "rollback", "front"]);
  await product.ok(["restore", "front", "--as", "shell"]);
  await product.ok(["restore", "after", "--policy", "auto"]);
  await product.ok(["adopt", "recreate", "care"]);
  await product.ok(["resume", "resolved", "--done"]);
  await product.ok(["agent", "retry", "retried"]);
  await product.shows("Done.", "agent", "log", "retried");
  await product.ok(["send", "--enter", "work", "echo second-$((1 + 1))"]);
  await product.shows("second-2", "history", "work");
  await agents(product);
  await troubled(product);
  await modelAgent(product);
  await runs(product);
  await product.ok(["down"]); // Agents' checkpoints are saved on a clean end.
  await product.ok(["up"]);
  await product.shows("LIVE", "recovery", "status", "--json");
  await openEnds(product);
}

async function runs(product: Product): Promise<void> {
  const file = (name: string) => flow(product, name);
  await product.ok(["run", file("done"), "--param", "version=1.2"]);
  await product.ok(["run", file("failed")], [7]);
  await product.ok(["run", file("map")]);
  await product.run("dlq", "retry", "map", "2"); // It fails again.
  await product.ok(["dlq", "clear", "map", "3"]);
  await product.ok(["run", file("loop")]);
  await product.ok(["run", file("changed")], [3]);
  writeFileSync(file("changed"), CHANGED);
  await product.ok(["resume", "changed", "--accept-changes"]);
  await product.ok(["run", file("back")]);
  const [, older] = await product.json("checkpoints", "ls", "back");
  await product.ok(["checkpoints", "rollback", "back", String(older.seq), "--yes"]);
  const cancelled = (await product.ok(["run", "-d", file("cancelled")])).trim();
  await product.ok(["cancel", cancelled]);
  await product.in(join(product.root, "repo")).ok(["run", "--worktree", file("tree")]);
  await product.ok(["migrate", join(product.root, "older")]);
}

/** A session with two windows, one of them split. Its server is of this home, and dies with it. */
async function tmux(product: Product): Promise<void> {
  const socket = join(product.root, "tmux.sock");
  const type = (...words: readonly string[]) =>
    must(["tmux", "-u", "-f", "/dev/null", "-S", socket, ...words], product.env);
  type("new-session", "-d", "-s", "care", "-n", "one", "-c", "/usr/share", "-x", "80", "-y", "24");
  type("split-window", "-t", "care:one", "-c", "/usr/lib");
  type("new-window", "-t", "care", "-n", "two", "-c", "/usr");
  type("send-keys", "-t", "care:two", "echo in-tmux-$((3 + 4))", "Enter");
  type("new-session", "-d", "-s", "released", "-c", "/usr");
  await product.ok(["adopt", "tmux", "care", "released", "-S", socket, "--policy", "ask"]);
  await product.ok(["adopt", "release", "released"]);
  const saved = () => product.names("tmux").some((id) => savedOf(product, id).includes("/usr/lib"));
  await until("the tmux session is saved", saved, () => saved());
}

/** What is not finished when the power goes. */
async function openEnds(product: Product): Promise<void> {
  const file = (name: string) => flow(product, name);
  await product.shows('"crashed"', "agent", "inspect", "crashing", "--json");
  for (const name of ["uncertain", "held", "asks"]) await product.ok(["run", "-d", file(name)]);
  await product.shows('"waiting"', "workflows", "--json");
  await product.shows("begun", "logs", "--step", "long", "uncertain");
  await product.ok(["agent", "new", "asker", "--provider", "scripted", "--recovery-prompt", "ASK anew", ...SCRIPT]);
  await product.ok(["agent", "ask", "asker", "ASK now"], [3]);
  await product.ok(["agent", "new", "held", "--provider", "scripted", "--recovery", "never", ...SCRIPT]);
  await product.ok(["agent", "send", "held", "HOLD on"]);
  await product.shows("I hold on.", "agent", "log", "held");
  await product.ok(["agent", "send", "held", "read this later"]);
  const [message] = await product.json("agent", "inbox", "held");
  await product.ok(["agent", "send", "held", "and the answer", "--reply-to", message.message_id]);
  await product.ok(["send", "--enter", "work", "echo the-end"]);
  await product.shows("the-end\r\n", "history", "--vt", "work");
  await until(
    "the checkpoint has the end",
    () => checkpointOf(product).includes("the-end\\r\\n"),
    () => checkpointOf(product),
  );
  // What is acknowledged last is in the write-ahead log alone.
  await Promise.all([product.ok(["rename", "alone", "lonely"]), product.ok(["agent", "send", "asker", "and this"])]);
}

/** The watchdog starts another one, which recovers. */
async function killDaemon(product: Product): Promise<void> {
  const { daemon } = await product.json("status");
  send(daemon.pid, "SIGKILL");
  await until(
    "another daemon is live",
    async () => {
      const { code, out } = await product.run("status", "--json");
      const status = code === 0 ? JSON.parse(out) : undefined;
      return status !== undefined && status.daemon.pid !== daemon.pid && status.recovery.stage === "LIVE";
    },
    () => product.run("status", "--json"),
  );
}

function flow({ root }: Product, name: string): string {
  return join(root, "flows", `${name}.yml`);
}

function checkpointOf({ home }: Product): string {
  return textOf(join(home, "recovery/checkpoint.json"));
}

function savedOf({ home }: Product, id: string): string {
  return textOf(join(home, "tmux", id, "checkpoint.json"));
}

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

function must(words: readonly string[], env: Readonly<Record<string, string>> = {}): void {
  const { exitCode, stderr } = Bun.spawnSync([...words], { cwd: "/usr", env: { PATH: "/usr/bin:/bin", ...env } });
  if (exitCode !== 0) throw new Error(`${words.join(" ")}: ${stderr.toString()}`);
}
