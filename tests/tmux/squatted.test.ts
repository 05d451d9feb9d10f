// A socket that somebody else put where a tmux server is expected: it learns nothing.
import { afterEach, expect, test } from "bun:test";
import { chmodSync, chownSync, lchownSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import { type DaemonHome, daemonHomes } from "../daemon/home.ts";
import { hasTmux } from "./server.ts";

const newHome = daemonHomes();
const MINUTE = 60_000;
const SECRET = "hunter2-of-the-daemon";
const NOBODY = 65_534;

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Listens where a server should, and remembers what it is told. */
class Squatter {
  heard = "";

  constructor(path: string, mode = 0o600) {
    const server = Bun.listen({
      unix: path,
      socket: {
        data: (socket, bytes) => {
          this.heard += bytes.toString("latin1");
          if (this.heard.includes("PATH=")) socket.end(); // The client has said all about itself.
        },
      },
    });
    ends.push(() => server.stop(true));
    chmodSync(path, mode);
  }
}

async function adopting(home: DaemonHome, path: string): Promise<string> {
  const params = { path, name: null, directory: null, sessions: [], all: true, policy: null };
  const answer = await home.ask("tmux.adopt", params);
  return answer?.ok === false ? answer.error.code : "adopted";
}

async function live(): Promise<DaemonHome> {
  const home = newHome();
  await home.live({ SECRET_OF_OURS: SECRET, PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home.path, LC_ALL: "C.UTF-8" });
  return home;
}

test.skipIf(!hasTmux)(
  "a socket that is not ours, or that others could replace, is not asked at all (needs tmux)",
  async () => {
    const home = await live();
    const place = (name: string) => {
      const path = home.file(name);
      mkdirSync(dirname(path), { mode: 0o700 });
      return path;
    };
    const squatted: [string, Squatter][] = [];
    const squat = (name: string, mode?: number): string => {
      const path = place(name);
      squatted.push([path, new Squatter(path, mode)]);
      return path;
    };
    squat("a/s", 0o666);
    chmodSync(dirname(squat("b/s")), 0o777);
    if (process.getuid?.() === 0) {
      chownSync(squat("c/s"), NOBODY, NOBODY);
      chownSync(dirname(squat("d/s")), NOBODY, NOBODY);
      const [ours, link] = [place("e/s"), home.file("link")];
      symlinkSync(ours, link);
      lchownSync(link, NOBODY, NOBODY); // It could lead elsewhere a moment later.
      squatted.push([link, new Squatter(ours)]);
    }
    for (const [path, squatter] of squatted)
      expect([path, await adopting(home, path), squatter.heard]).toEqual([path, "tmux-foreign", ""]);
    expect(await home.ask("tmux.adopt", { ...BY_NAME, name: `../../..${squatted[0]?.[0]}` })).toMatchObject({
      error: { code: "tmux-foreign" },
    });
  },
  MINUTE,
);

const BY_NAME = { path: null, directory: null, sessions: [], all: true, policy: null } as const;

test.skipIf(!hasTmux)(
  "a client tells a server nothing of our environment but what any program needs (needs tmux)",
  async () => {
    const home = await live();
    mkdirSync(home.file("own"), { mode: 0o700 });
    const squatter = new Squatter(home.file("own/s"));
    expect(await adopting(home, home.file("own/s"))).not.toBe("adopted");
    expect(squatter.heard).toContain("LC_ALL=C.UTF-8");
    for (const word of [SECRET, "SECRET_OF_OURS", "HOLDFAST"]) expect(squatter.heard).not.toContain(word);
  },
  MINUTE,
);
