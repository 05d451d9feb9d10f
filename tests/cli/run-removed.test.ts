// All of run/ is removed while Holdfast runs: everything in it comes back by itself, nothing is restarted, and `status`
// and `doctor` show it as before.
import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { withPage } from "../small-home.ts";
import { until } from "../until.ts";
import { endAll, Home } from "./terminal-home.ts";

afterAll(endAll, 180_000);

/** What the next watchdog, the next daemon, agents and people read there. */
const FILES = ["token", "watchdog.json", "watched-mine.json", "mcp.json", "web.json", "web.lock"];

const WATCHED = '[watch.mine]\ncommand = ["sleep", "1000"]\n';

test("run/ is complete again within seconds, with the same processes and addresses", async () => {
  const home = new Home();
  withPage(join(home.path, "config.toml"), WATCHED);
  const file = (name: string) => join(home.path, "run", name);
  await home.ok("up");
  await home.ok("new", "-d", "one", "--", "cat");
  await home.ok("agent", "new", "a", "--provider", "scripted", "--", "cat");
  const missing = () => FILES.filter((name) => !existsSync(file(name)));
  await until("run/ is complete", () => missing().length === 0, missing);
  const [before, address] = [await home.status(), readFileSync(file("mcp.json"), "utf8")];

  rmSync(file(""), { recursive: true });
  await until("run/ is complete again", () => missing().length === 0, missing);
  const shown = async () => {
    const { watchdog, daemon, web, programs } = await home.status();
    return JSON.stringify({ watchdog, daemon, web, programs });
  };
  const { watchdog, daemon, web, programs } = before;
  const wanted = JSON.stringify({ watchdog, daemon, web, programs });
  await until("status is as before", async () => (await shown()) === wanted, shown);
  expect(readFileSync(file("mcp.json"), "utf8")).toBe(address);
  await until(
    "doctor has nothing to say about it",
    async () => (await complaints(home)).length === 0,
    () => complaints(home),
  );
});

async function complaints(home: Home): Promise<readonly unknown[]> {
  const { checks } = JSON.parse((await home.run("doctor", "--json")).out);
  return checks.filter(({ name, status }: { name: string; status: string }) => {
    return ["locks", "sockets", "holders", "leftovers"].includes(name) && status !== "ok";
  });
}
