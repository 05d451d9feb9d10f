// `holdfast adopt …` as a user types it.
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { endAll, Home } from "../cli/terminal-home.ts";
import { hasTmux } from "./server.ts";

afterAll(endAll);

test.skipIf(!hasTmux)(
  "adopt, ls, release and recreate report what they did, and every refusal the next step (needs tmux)",
  async () => {
    const home = new Home();
    // Below the home's own environment, so that ending the home ends it too.
    const tmux = (...words: readonly string[]) =>
      Bun.spawnSync(["tmux", ...words], { env: { ...home.env, TMUX_TMPDIR: home.path }, cwd: "/" }).stdout.toString();
    const socket = join(home.path, "s");

    const nobody = await home.run("adopt", "tmux", "-S", socket);
    expect(nobody).toMatchObject({ code: 1, out: "" });
    expect(nobody.err).toContain("→ Start one (tmux new -d -s work), or name another with -L NAME or -S PATH.");
    expect((await home.run("adopt", "tmux", "-S", socket, "-L", "x")).err).toContain("Give one of them.");
    expect((await home.run("adopt", "ls")).err).toContain("`holdfast adopt tmux` adopts one");

    tmux("-S", socket, "new-session", "-d", "-s", "one");
    tmux("-S", socket, "new-session", "-d", "-s", "two");
    expect((await home.run("adopt", "tmux", "-S", socket)).err).toContain("Name those you mean, or give --all.");
    expect(await home.run("adopt", "tmux", "-S", socket, "three")).toMatchObject({ code: 4 });
    const [row] = await home.json("adopt", "tmux", "-S", socket, "one", "--policy", "ask");
    expect(row).toMatchObject({ name: "one", kind: "tmux", state: "kept", policy: "ask", socket, trouble: null });
    expect(Date.parse(row.savedAt)).toBeGreaterThan(0);
    const all: { policy: string }[] = await home.json("adopt", "tmux", "-S", socket, "--all");
    expect(all.map(({ policy }) => policy)).toEqual(["ask", "auto"]);
    expect(await home.ok("adopt", "ls")).toMatch(/^NAME .*\none .* managed .*\ntwo .* managed /);
    expect((await home.run("adopt", "recreate", "one")).err).toContain("cannot be recreated: it exists");

    const listed = await home.json("adopt", "ls");
    await home.ok("down");
    expect(await home.json("adopt", "ls")).toEqual(listed);
    const fromDisk = await home.run("adopt", "ls");
    expect(fromDisk.out).toMatch(/^NAME .*\none .* managed .*\ntwo .* managed /);
    expect(fromDisk.err).toContain("Holdfast is down; this is from disk.");
    expect((await home.status()).daemon.pid).toBeNull();
    await home.ok("up");

    expect(await home.json("adopt", "release", "two")).toMatchObject({ name: "two" });
    expect(tmux("-S", socket, "list-sessions", "-F", "#{session_name}")).toBe("one\ntwo\n");
    expect(await home.run("adopt", "release", "two")).toMatchObject({ code: 4 });
    tmux("-S", socket, "kill-session", "-t", "one");
    const again = await home.json("adopt", "recreate", "one");
    expect(again).toMatchObject({ name: "one", state: "kept" });
    expect(tmux("-S", socket, "list-sessions", "-F", "#{session_name}")).toBe("one\ntwo\n");
    expect((await home.run("adopt", "tmux", "--policy", "maybe")).code).toBe(2);
  },
  180_000,
);
