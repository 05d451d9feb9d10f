// systemd's user manager, or that of the system, through its own programs: `systemctl` and `loginctl`.
// SY1. If the manager does not answer (in a container there is none), its own error message is the result.
// SY2. If the login did not set the manager's directory (su, cron), the usual one is used.
import { ok, type Result, refused } from "../../base/result.ts";
import { findProgram } from "../../home/find-program.ts";
import { realMachine } from "../../world/real/machine.ts";
import { type Answered, askProgram } from "../brief.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { UNIT_NAME } from "./unit.ts";

/** Queries are answered at once, except on a busy machine; a change may make systemd read all its units again. */
const LOOK_MS = 5_000;
const CHANGE_MS = 20_000;

const SHOWN = ["LoadState", "UnitFileState", "ActiveState", "MainPID", "Result"] as const;

export type UnitState = {
  readonly enabled: boolean;
  readonly active: boolean;
  /** systemd's own word: active, inactive, failed, activating … */
  readonly state: string;
  readonly pid: number | null;
};

/** A unit, and whose manager it belongs to. */
export type ManagedUnit = { readonly name: string; readonly manager: "user" | "system" };

const OURS: ManagedUnit = { name: UNIT_NAME, manager: "user" };

export class Systemd {
  readonly #world: DaemonCommandWorld;
  readonly #unit: string;
  /** The first arguments of `systemctl`. */
  readonly #scope: readonly string[];
  readonly #env: Readonly<Record<string, string>>;

  constructor(world: DaemonCommandWorld, { name, manager }: ManagedUnit = OURS) {
    this.#world = world;
    this.#unit = name;
    this.#scope = manager === "user" ? ["--user"] : [];
    const environment = world.self.environment();
    const usual = `/run/user/${realMachine().uid}`;
    const known = environment["XDG_RUNTIME_DIR"] !== undefined || world.disk.stat(usual)?.kind !== "directory";
    this.#env = known ? environment : { ...environment, XDG_RUNTIME_DIR: usual }; // SY2
  }

  /** The state of our unit; refused if no manager answers (SY1). */
  async unit(): Promise<Result<UnitState>> {
    const shown = ["show", `--property=${SHOWN.join(",")}`, this.#unit];
    const answer = await this.#ask("systemctl", LOOK_MS, ...this.#scope, ...shown);
    if (answer.kind !== "ended" || answer.code !== 0) return noManager(answer);
    const found = propertiesIn(answer.out);
    const state = found.get("ActiveState") ?? "inactive";
    const pid = Number(found.get("MainPID"));
    const enabled = found.get("UnitFileState") === "enabled";
    return ok({ enabled, active: state === "active", state, pid: pid > 0 ? pid : null });
  }

  /** Runs `systemctl` with these arguments; refused with its own message if it fails. */
  async change(...words: readonly string[]): Promise<Result<void>> {
    const all = [...this.#scope, ...words];
    return done(`systemctl ${all.join(" ")}`, await this.#ask("systemctl", CHANGE_MS, ...all));
  }

  /** Whether the manager starts at boot and stays after logout; undefined if unknown. */
  async linger(): Promise<boolean | undefined> {
    const { user } = realMachine();
    const answer = await this.#ask("loginctl", LOOK_MS, "show-user", user, "--property=Linger");
    if (answer.kind !== "ended") return undefined;
    if (answer.code === 0) return propertiesIn(answer.out).get("Linger") === "yes";
    return /not logged in|not known|No such/i.test(answer.err) ? false : undefined; // An unknown user does not linger.
  }

  async keepLingering(): Promise<Result<void>> {
    const { user } = realMachine();
    return done("loginctl enable-linger", await this.#ask("loginctl", CHANGE_MS, "enable-linger", user));
  }

  async #ask(name: string, ms: number, ...words: readonly string[]): Promise<Answered> {
    const program = findProgram(this.#world.disk, this.#env["PATH"] ?? "", name);
    if (program === undefined) return { kind: "missing" };
    return askProgram(this.#world, { argv: [program, ...words], env: this.#env, ms });
  }
}

function propertiesIn(text: string): ReadonlyMap<string, string> {
  const pairs = text.split("\n").map((line) => /^([A-Za-z]+)=(.*)$/.exec(line));
  return new Map(pairs.flatMap((pair) => (pair === null ? [] : [[pair[1] ?? "", pair[2] ?? ""] as const])));
}

function wordsOf(answer: Answered): string {
  if (answer.kind === "missing") return "systemctl is not on the PATH";
  if (answer.kind === "late") return "it did not answer in time";
  return answer.err.trim().split("\n")[0] || `it ended with code ${answer.code}`;
}

export const WITHOUT_A_SERVICE =
  "`holdfast up` works without one. For another service manager: holdfast service install --print";

function noManager(answer: Answered): Result<never> {
  return refused("no-systemd", `There is no systemd --user here: ${wordsOf(answer)}.`, WITHOUT_A_SERVICE);
}

function done(what: string, answer: Answered): Result<void> {
  if (answer.kind === "ended" && answer.code === 0) return ok(undefined);
  const words = answer.kind === "missing" ? "it is not on the PATH" : wordsOf(answer);
  return refused("service", `\`${what}\` failed: ${words}.`, "Fix the cause, then run the same command again.");
}
