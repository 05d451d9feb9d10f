// Stands in for a program we do not own: `systemctl --user` and `loginctl` as systemd 252 behaves, for one unit.
//   bun fake-systemctl.ts STATE_DIR systemctl|loginctl WORDS… answers like the real one, and notes the call in
//   STATE_DIR/calls
//   bun fake-systemctl.ts STATE_DIR supervise is the manager of the running unit: Restart=always, ExecCondition
// FS1. Unit settings are read from the unit file by systemd's rules (unit-parser.ts), and only on `daemon-reload`.
// FS2. `STATE_DIR/broken` holds the message with which every call fails, as without a bus; `STATE_DIR/no-linger`
//      refuses lingering.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { commandWords, linesOf, unitWords } from "./unit-parser.ts";

const [state = "", program = "", ...words] = process.argv.slice(2);
const user = join(process.env["HOME"] ?? "", ".config/systemd/user");
const UNIT = "holdfast.service";
const at = (name: string) => join(state, name);
const read = (name: string) => (existsSync(at(name)) ? readFileSync(at(name), "utf8") : "");
const link = join(user, "default.target.wants", UNIT);

function leave(code: number, words = ""): never {
  if (words !== "") process.stderr.write(`${words}\n`);
  process.exit(code);
}

function loginctl(verb: string | undefined): void {
  if (verb === "enable-linger" && existsSync(at("no-linger"))) leave(1, "Could not enable linger: Access denied");
  if (verb === "enable-linger") writeFileSync(at("linger"), "");
  else process.stdout.write(`Linger=${existsSync(at("linger")) ? "yes" : "no"}\n`);
}

/** Concurrent readers see the previous content. */
function become(what: string): void {
  writeFileSync(at(`state.${process.pid}`), what);
  renameSync(at(`state.${process.pid}`), at("state"));
}

const running = () => read("state").startsWith("active ");

function show(asked: string): void {
  const [, pid = "0"] = read("state").split(" ");
  const values: Record<string, string> = {
    LoadState: read("loaded") === "" ? "not-found" : "loaded",
    UnitFileState: existsSync(link) ? "enabled" : read("loaded") === "" ? "" : "disabled",
    ActiveState: read("state").split(" ")[0] || "inactive",
    MainPID: running() ? pid : "0",
    Result: "success",
  };
  for (const name of asked.split(",")) process.stdout.write(`${name}=${values[name] ?? ""}\n`);
}

async function change(verb: string | undefined): Promise<void> {
  const file = join(user, UNIT);
  if (verb === "daemon-reload") return writeFileSync(at("loaded"), existsSync(file) ? readFileSync(file) : "");
  if (verb === "disable") rmSync(link, { force: true });
  if (verb === "enable" && !existsSync(file)) leave(1, `Failed to enable unit: Unit file ${UNIT} does not exist.`);
  if (verb === "enable" && !existsSync(link)) {
    mkdirSync(join(user, "default.target.wants"), { recursive: true });
    symlinkSync(file, link);
  }
  if (verb === "restart" || verb === "stop" || words.includes("--now")) await stop();
  if ((verb === "start" && !running()) || verb === "restart") await start();
}

async function stop(): Promise<void> {
  const pid = Number(read("supervisor"));
  if (pid === 0 || !isThere(pid)) return;
  process.kill(pid, "SIGTERM");
  while (isThere(pid)) await Bun.sleep(5);
}

function isThere(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch (error) {
    if (error instanceof Error) return false; // It has ended in the meantime.
    throw error;
  }
}

async function start(): Promise<void> {
  if (read("loaded") === "") leave(5, `Failed to start ${UNIT}: Unit ${UNIT} not found.`);
  become("activating 0");
  const argv = [process.execPath, import.meta.path, state, "supervise"];
  const child = Bun.spawn(argv, { stdio: ["ignore", "ignore", "ignore"], detached: true });
  child.unref();
  writeFileSync(at("supervisor"), String(child.pid));
  if (words.includes("--no-block")) return;
  while (read("state").startsWith("activating")) await Bun.sleep(5);
}

/** The manager: checks the condition, runs the program, and restarts it until it is asked to stop. */
async function supervise(): Promise<never> {
  const text = read("loaded");
  const given = linesOf(text, "Environment").flatMap(unitWords);
  const variables = Object.fromEntries(given.map((pair) => [pair.split("=")[0], pair.slice(pair.indexOf("=") + 1)]));
  const env = { HOME: process.env["HOME"], ...variables, INVOCATION_ID: "0123" };
  const log = openSync((linesOf(text, "StandardError")[0] ?? "").replace(/^append:/, "").replaceAll("%%", "%"), "a");
  const run = (key: string) => Bun.spawn(commandWords(text, key), { cwd: "/", env, stdio: ["ignore", log, log] });
  let child: Bun.Subprocess | undefined;
  let told = false;
  process.on("SIGTERM", () => {
    told = true;
    child?.kill("SIGTERM"); // KillMode=process: no other process is killed.
  });
  while (!told) {
    const skipped = await run("ExecCondition").exited;
    if (skipped > 0 && skipped < 255) break;
    child = run("ExecStart");
    appendFileSync(at("starts"), `${child.pid}\n`);
    become(`active ${child.pid}`);
    if (told) child.kill("SIGTERM");
    await child.exited;
    if (!told) become("activating 0");
    if (!told) await Bun.sleep(50);
  }
  become("inactive 0");
  process.exit(0);
}

if (program === "supervise") await supervise();
appendFileSync(at("calls"), `${program} ${words.join(" ")}\n`);
if (existsSync(at("broken"))) leave(1, read("broken"));
const verb = words.find((word) => !word.startsWith("--"));
if (program === "loginctl") loginctl(verb);
else if (verb === "show") show(words.find((word) => word.startsWith("--property="))?.slice("--property=".length) ?? "");
else await change(verb);
