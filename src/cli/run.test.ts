import { afterAll, expect, test } from "bun:test";
import about from "../../package.json" with { type: "json" };
import { fakeConsole, type Looks } from "../../tests/cli/fake-console.ts";
import { emptyHome, removeHomes } from "../../tests/cli/homes.ts";
import { Fault } from "../base/fault.ts";
import { realWatch } from "../world/real/watch.ts";
import { realWorld } from "../world/world.ts";
import type { CommandWorld } from "./command-world.ts";
import { runCli } from "./run.ts";

afterAll(removeHomes);

async function run(argv: readonly string[], changes: Partial<CommandWorld> = {}, looks: Looks = {}) {
  const console = fakeConsole(looks);
  const load = async (): Promise<CommandWorld> => ({ ...realWorld(), console, watch: realWatch(), ...changes });
  const code = await runCli(argv, changes.console ?? console, load);
  return { code, ...console.printed };
}

async function fails(code: string): Promise<void> {
  throw new Fault({ code, operation: "write", path: "stdout" });
}

test("--version is the package's, and --help names the commands; both are data", async () => {
  expect(await run(["--version"])).toEqual({ code: 0, out: `${about.version}\n`, err: "" });
  for (const argv of [["--help"], [], ["-h"]]) {
    const { code, out, err } = await run(argv);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("\n  log          Read the log: verify, show, tail\n");
  }
});

test("a usage error is exit 2, with a suggestion and where to read more", async () => {
  const unknown = await run(["lgo"]);
  expect(unknown).toEqual({
    code: 2,
    out: "",
    err: "holdfast: Unknown command lgo. Did you mean `log`?\n  → See `holdfast --help`.\n",
  });
  expect((await run(["slep"])).err).toBe("holdfast: Unknown command slep.\n  → See `holdfast --help`.\n");
  expect((await run(["agent", "wroktree"])).err).toEndWith("\n  → See `holdfast agent --help`.\n");
  expect((await run(["atach"])).err).toContain("Did you mean `attach`?");
  const flag = await run(["log", "show", "--jsn"]);
  expect(flag.code).toBe(2);
  expect(flag.err).toEndWith("\n  → See `holdfast log show --help`.\n");
  for (const n of ["x", "-1", "1.5", "100001", "1e3"]) expect((await run(["log", "tail", "-n", n])).code).toBe(2);
  expect((await run(["log", "show", "a", "b"])).code).toBe(2);
});

test("with --json an error is JSON on stderr; after -- the word is an argument", async () => {
  const json = await run(["log", "show", "--json", "--limit", "x"]);
  expect(JSON.parse(json.err)).toMatchObject({
    code: "usage",
    hint: "See `holdfast log show --help`.",
  });
  const home = emptyHome();
  const argument = await run(["log", "show", "--home", home, "--", "--json"]);
  expect(argument).toMatchObject({ code: 4, out: "" });
  expect(argument.err).toStartWith('holdfast: There is no session "--json".');
});

test("-n5 is -n 5, but not after --", async () => {
  const home = emptyHome();
  expect(await run(["log", "tail", "-n5", "--home", home])).toMatchObject({ code: 0 });
  expect((await run(["log", "tail", "--home", home, "--", "-n5"])).err).toContain('no session "-n5"');
});

test("a closed pipe is not a failure, any other Fault is exit 1 with its hint", async () => {
  const home = emptyHome();
  const onBug = (code: string) => {
    const console = fakeConsole();
    return { console: { ...console, out: { ...console.out, write: () => fails(code) } }, printed: console.printed };
  };
  const gone = onBug("EPIPE");
  expect(await run(["log", "verify", "--home", home], { console: gone.console })).toMatchObject({ code: 0 });
  expect(gone.printed).toEqual({ out: "", err: "" });
  const full = onBug("ENOSPC");
  expect(await run(["log", "verify", "--home", home], { console: full.console })).toMatchObject({ code: 1 });
  expect(full.printed.err).toStartWith("holdfast: write stdout: ENOSPC\n  → The disk is full.");
});

test("a bug in Holdfast is exit 1 and asks for a report", async () => {
  const home = emptyHome();
  const stat = () => {
    throw new TypeError("x is undefined");
  };
  const { code, err } = await run(["log", "verify", "--home", home], { disk: { ...realWorld().disk, stat } });
  expect(code).toBe(1);
  expect(err).toContain("TypeError: x is undefined");
  expect(err).toEndWith("\n  → This is a bug in Holdfast. Please report it with the text above.\n");
});
