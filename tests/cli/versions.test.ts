// Commands and daemons of different versions either understand each other or refuse with a message that says what to
// do.
import { afterEach, expect, test } from "bun:test";
import about from "../../package.json" with { type: "json" };
import { VERSION } from "../../src/wire/version.ts";
import { sampleOf } from "../sim/fuzz/profile.ts";
import { installation, removeInstallations } from "./installation.ts";
import { endAll, Home } from "./terminal-home.ts";

afterEach(async () => {
  await endAll();
  removeInstallations();
});

const NEWER = { "src/wire/version.ts": [VERSION, "9.9.9"], "package.json": [`"${VERSION}"`, '"9.9.9"'] } as const;
const OTHER_PROTOCOL = { ...NEWER, "src/wire/rpc/rpc.ts": ["RPC_PROTOCOL = 1", "RPC_PROTOCOL = 2"] } as const;

test("the version that processes exchange is the package's", () => {
  expect(VERSION).toBe(about.version);
});

test("a daemon of a newer version with the same protocol is understood, and status shows the difference", async () => {
  const home = new Home();
  await home.from(installation(NEWER), "up");
  await home.ok("new", "one", "--", "sleep", "1000");
  expect((await home.listed("one")).state).toBe("running");
  expect(await home.status()).toMatchObject({ version: "9.9.9", recovery: { stage: "LIVE" } });
  const said = await home.ok("status");
  expect(said).toContain(`holdfast 9.9.9`);
  expect(said).toContain(`this command is ${VERSION}`);
});

test.each(sampleOf(["older", "newer"], 2))(
  "a daemon with another protocol refuses a command that is %s, naming its version",
  async (command) => {
    const home = new Home();
    const other = installation(OTHER_PROTOCOL);
    if (command === "older") await home.from(other, "up");
    else await home.ok("up");
    const daemons = command === "older" ? "9.9.9" : VERSION;
    const run = (...args: readonly string[]) => (command === "older" ? home.run(...args) : home.from(other, ...args));
    for (const args of [["ls"], ["new", "one"], ["status"], ["recovery", "retry"], ["safe-mode", "exit"]]) {
      const { code, out, err } = await run(...args);
      expect({ args, code, out }).toEqual({ args, code: 1, out: "" });
      expect(err).toContain(`The daemon is version ${daemons} and speaks another protocol.`);
      expect(err).toContain("holdfast down && holdfast up");
    }
    expect((await run("down")).code).toBe(0); // The hint works.
    expect((await run("up")).code).toBe(0);
  },
);
