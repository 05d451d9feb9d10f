// A limit on processes, as containers and services have it: a control group of its own for a daemon and all that it
// starts. Needs root and the pids controller, of either version.
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../until.ts";
import { killIfThere } from "./home.ts";

const ROOTS = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"];

/** Those that a test has made. */
const open = new Set<PidsLimit>();
let made = 0;

export class PidsLimit {
  readonly #group: string;

  private constructor(group: string) {
    this.#group = group;
  }

  /** Returns undefined if this system does not allow it. */
  static make(): PidsLimit | undefined {
    made += 1;
    const name = `holdfast-test-${process.pid}-${made}`;
    const groups = ROOTS.filter((root) => existsSync(root)).map((root) => join(root, name));
    const group = process.getuid?.() === 0 ? groups.find(isLimited) : undefined;
    return group === undefined ? undefined : new PidsLimit(group);
  }

  static mustMake(): PidsLimit {
    const limit = PidsLimit.make();
    if (limit === undefined) throw new Error("there is no pids controller");
    open.add(limit);
    return limit;
  }

  static async closeAll(): Promise<void> {
    for (const limit of open) await limit.close();
    open.clear();
  }

  /** It, and all that it starts from now on. */
  hold(pid: number): void {
    appendFileSync(join(this.#group, "cgroup.procs"), `${pid}\n`);
  }

  get count(): number {
    return Number(readFileSync(join(this.#group, "pids.current"), "utf8"));
  }

  /** Whether the system has refused a process because of it. */
  get hasRefused(): boolean {
    return !readFileSync(join(this.#group, "pids.events"), "utf8").includes("max 0\n");
  }

  set(most: number | "max"): void {
    writeFileSync(join(this.#group, "pids.max"), String(most));
  }

  /** Ends what is left in it: a program that could not start its threads may hang. */
  async close(): Promise<void> {
    const pids = () => readFileSync(join(this.#group, "cgroup.procs"), "utf8").split("\n").filter(Boolean);
    await until(
      "the group is empty",
      () => {
        for (const pid of pids()) killIfThere(Number(pid));
        return this.count === 0;
      },
      pids,
    );
    rmdirSync(this.#group);
  }
}

/** Whether a group that is made there has the controller. */
function isLimited(group: string): boolean {
  mkdirSync(group);
  if (existsSync(join(group, "pids.max"))) return true;
  rmdirSync(group);
  return false;
}
