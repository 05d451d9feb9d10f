// The setup around the home: configuration, runtime, clock, service, and the command lines of coding agents.
// DU1. Other programs are asked for their version concurrently and with a time limit; one that hangs is ended and still
//      counts as found. Finding none is not a problem: terminals need none.
import about from "../../../package.json" with { type: "json" };
import { joinPath } from "../../base/path.ts";
import { AGENT_CLIS } from "../../core/agent/agent-clis.ts";
import { pendingOf } from "../../home/config-file.ts";
import { originalOf } from "../../home/identity.ts";
import { configHere, readConfig } from "../../home/start-watchdog.ts";
import { problemText } from "../../wire/files/config.ts";
import { VERSION } from "../../wire/version.ts";
import { type LookedAt, lookAtAll, versionText } from "../agent/agent-cli-look.ts";
import { count } from "../print.ts";
import { serviceState } from "../service/status.ts";
import { type Finding, fine, problem, type Site, warning } from "./check.ts";
import { daemonStatus } from "./daemon.ts";

export async function checkConfiguration({ world, home }: Site): Promise<Finding[]> {
  const loaded = readConfig(world);
  if (loaded.ok) {
    const { path, found } = loaded.value;
    const pending = pendingOf(configHere(world), (await daemonStatus(world, home))?.config);
    if (pending !== undefined)
      return [warning("configuration", { ...pending, why: "the daemon uses what it read before" })];
    return [fine("configuration", found ? `${path}: valid` : "no file; the defaults apply")];
  }
  const [first] = loaded.error;
  const what = `${count(loaded.error.length, "mistake")} in the configuration; Holdfast does not start with it`;
  return [problem("configuration", { what, why: first ? problemText(first) : "", next: "holdfast config check" })];
}

export async function checkRuntime({ machine }: Site): Promise<Finding[]> {
  const wanted = about.dependencies.bun;
  if (machine.platform !== "linux")
    return [
      warning("runtime", {
        what: "this is not Linux",
        why: "Holdfast is tested on Linux only",
        next: "holdfast drill",
      }),
    ];
  if (machine.runtime === wanted) return [fine("runtime", `holdfast ${VERSION} on Bun ${wanted}`)];
  const what = `Bun ${machine.runtime} instead of ${wanted}`;
  return [
    warning("runtime", { what, why: "only that version is tested", next: "Start it with the `holdfast` launcher" }),
  ];
}

/** Nobody can have run this before it was written. */
const FIRST_MS = Date.UTC(2025, 0, 1);
/** Clocks are adjusted by seconds all the time. */
const AHEAD_MS = 120_000;

export async function checkClock({ world, files, home }: Site): Promise<Finding[]> {
  const now = world.clock.now();
  const words = new Date(now).toISOString();
  const next = "timedatectl; set the clock, or turn on its synchronisation";
  if (now < FIRST_MS) return [problem("clock", { what: `it says ${words}`, why: "that is in the past", next })];
  const newest = files.reduce((most, listed) => (listed.changedAt > most.changedAt ? listed : most), NOTHING);
  if (newest.changedAt <= now + AHEAD_MS) return [fine("clock", words)];
  const at = new Date(newest.changedAt).toISOString();
  const why = `${newest.path.slice(home.length + 1) || home} was written at ${at}`;
  return [warning("clock", { what: `it says ${words}, but was ahead of that`, why, next })];
}

const NOTHING = { path: "", changedAt: 0 };

export async function checkService({ world, home }: Site): Promise<Finding[]> {
  const {
    installed,
    unit,
    unreachable,
    home: kept,
    enabled,
    active,
    state,
    linger,
    current,
  } = await serviceState(world);
  if (!installed || kept !== home) {
    const words = installed ? `installed for ${kept}, not for this home` : "not installed";
    return [fine("service", `${words}; after a reboot Holdfast starts with the first command`)];
  }
  const next = "holdfast service install";
  if (unreachable !== null)
    return [warning("service", { what: `${unit} exists`, why: unreachable, next: "holdfast up" })];
  const troubles = [
    ...(enabled ? [] : ["it is not enabled"]),
    ...(active || state === "inactive" ? [] : [`it is ${state}`]),
    ...(linger === false ? ["it ends with your last login (no linger)"] : []),
    ...(current ? [] : ["the unit belongs to another version or path of Holdfast"]),
  ];
  if (troubles.length === 0) return [fine("service", `installed, enabled, ${state}, lingering`)];
  return [warning("service", { what: "installed, but not as it should be", why: troubles.join("; "), next })];
}

/** DU1. One line for each that is there, and one for those that are not. */
export async function checkAgents({ world }: Site): Promise<Finding[]> {
  const found = await lookAtAll(world);
  const missing = AGENT_CLIS.filter(({ name }) => !found.some(({ cli }) => cli.name === name)).map(({ name }) => name);
  const none = missing.length === 0 ? [] : [fine("agents", `not on the PATH: ${missing.join(", ")}`)];
  return [...found.map((one) => fine("agents", agentText(one))), ...none];
}

function agentText({ cli, program, version, login, hooks, sessions }: LookedAt): string {
  return [
    `${cli.name} ${versionText(version)}, ${program}`,
    login === undefined ? "no login seen" : `login: ${login}`,
    hooks.length === 0 ? "no hooks" : `hooks: ${hooks.join(", ")}`,
    sessions === undefined ? "no conversations yet" : `conversations: ${sessions}`,
  ].join("; ");
}

export async function checkHome({ world, home, machine }: Site): Promise<Finding[]> {
  const original = originalOf({ disk: world.disk, home });
  if (original !== undefined) {
    const what = `${home} is a copy of ${original}`;
    const next = `holdfast up --as-copy --home ${home}, or move the original away`;
    return [problem("home", { what, why: "both would do the same work, so it is not started", next })];
  }
  const kind = machine.look(joinPath(home, "wal"))?.kind;
  return [fine("home", kind === undefined ? `${home}, not used yet` : home)];
}
