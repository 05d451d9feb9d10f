// How a restored terminal handles its keyboard input, and what a failed restoration must not cost.
import { expect, test } from "bun:test";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { daemonHomes } from "../daemon/home.ts";
import { boot, isBack, powerCut, tapeText } from "../daemon/power-cut.ts";
import { until } from "../until.ts";

const newHome = daemonHomes();
const MARK = "holdfast: the machine went down; started again ";
const PATH = "/usr/local/bin:/usr/bin:/bin";

test("a pattern configured by the user runs in their shell", async () => {
  const home = newHome();
  const config = { HOLDFAST_CONFIG: home.file("config.toml") };
  writeFileSync(
    config.HOLDFAST_CONFIG,
    '[restore.mine]\nmatch = "sh -c *sleep*"\nrun = "echo again >> ran; {command}"\n',
  );
  await home.live({ ...boot(1), ...config });
  const id = await home.open("mine", ["sh", "-c", "echo x >> ran; exec sleep 1000"]);
  await home.is(id, "running");
  await until(
    "it ran",
    () => home.text("ran") === "x\n",
    () => home.text("ran"),
  );
  await powerCut(home);
  await home.live({ ...boot(2), ...config });
  await until(
    "it ran again",
    () => home.text("ran") === "x\nagain\nx\n",
    () => home.text("ran"),
  );
});

test("bash shows the prepared command once, after its prompt, and does not run it", async () => {
  const home = newHome();
  await home.live(boot(1));
  const env = { PATH, HOME: home.path, SHELL: "/bin/bash", PS1: "prompt> " };
  const { id } = await home.must("terminal.new", {
    ...home.wish("ready", ["sh", "-c", "echo ran >> ran; sleep 1000"]),
    env,
  });
  await home.is(id, "running");
  await until(
    "it ran",
    () => home.text("ran") === "ran\n",
    () => home.text("ran"),
  );
  await powerCut(home);
  await home.live(boot(2));
  const line = "sh -c 'echo ran >> ran; sleep 1000'";
  const screen = () => (tapeText(home, id).split(MARK)[1] ?? "").split("\u001b[0m\r\n").at(-1) ?? "";
  await until(
    "the screen shows the command",
    () => screen().includes(line),
    () => screen(),
  );
  expect(screen().split(line).length).toBe(2);
  expect(screen().indexOf("prompt> ")).toBeLessThan(screen().indexOf(line));
  expect(home.text("ran")).toBe("ran\n");
});

test("a directory missing at one boot and present at the next: the terminal is in its directory again", async () => {
  const home = newHome();
  mkdirSync(home.file("mounted/work"), { recursive: true });
  await home.live(boot(1));
  const argv = ["bash", "--norc", "--noprofile"];
  const { id } = await home.must("terminal.new", { ...home.wish("deep", argv), cwd: home.file("mounted/work") });
  await home.is(id, "running");
  await powerCut(home);
  renameSync(home.file("mounted"), home.file("away"));
  await home.live(boot(2));
  await isBack(home, id, 2);
  expect((await home.listed(id)).restored?.cwd).toBe(home.path);
  await powerCut(home);
  renameSync(home.file("away"), home.file("mounted"));
  await home.live(boot(3));
  await isBack(home, id, 3);
  expect((await home.listed(id)).restored?.cwd).toBe(home.file("mounted/work"));
});

test("a terminal whose creation was acknowledged a moment before the power cut comes back", async () => {
  const home = newHome();
  await home.live(boot(1));
  const ids = await Promise.all(Array.from({ length: 5 }, (_, n) => home.open(`t${n}`, ["sleep", "1000"])));
  await powerCut(home);
  await home.live(boot(2));
  for (const id of ids) await isBack(home, id, 1);
});
