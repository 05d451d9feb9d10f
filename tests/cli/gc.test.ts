// `holdfast gc` as a user sees it.
import { afterAll, expect, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../until.ts";
import { endAll, Home } from "./terminal-home.ts";

afterAll(endAll, 180_000);

test("gc reports what it would free, frees it, and leaves everything that runs and every log", async () => {
  const home = new Home();
  writeFileSync(join(home.path, "config.toml"), "[retention]\nremoved_days = 0\n");
  await home.ok("new", "-d", "stays", "--", "sh", "-c", "echo here; exec sleep 1000");
  await home.says("stays", "here\n");
  await home.ok("new", "-d", "goes", "--", "sh", "-c", "echo gone");
  await home.run("wait", "goes");
  const { id } = await home.listed("goes");
  const stays = (await home.listed("stays")).id;
  await home.ok("rm", "goes");
  const dry = await home.json("gc", "--dry-run");
  expect(dry).toMatchObject({ dryRun: true, failed: [] });
  expect(dry.items).toMatchObject([{ what: "files of a removed terminal", reason: "older than 0 days" }]);
  expect(existsSync(join(home.path, "terminals", id, "tape"))).toBe(true);
  const { out, err } = await home.run("gc");
  expect(out).toContain("files of a removed terminal");
  expect(err).toMatch(/freed .*KB|freed .* B/);
  const left = () => readdirSync(join(home.path, "terminals", id));
  await until("its log is drained", () => left().length > 0, left); // A moment after it falls quiet.
  expect(left()).toEqual(["events.jsonl"]);
  expect(readdirSync(join(home.path, "terminals", stays))).toContain("tape");
  expect((await home.run("gc")).err).toContain("nothing to remove.");
  expect(await home.ok("history", "stays")).toBe("here\n");
  await home.ok("down"); // The next daemon finds nothing missing.
  await home.ok("up");
  const { items } = await home.json("recovery", "report");
  expect(items).toMatchObject([{ name: "stays", fate: "back as it was" }]);
  await home.ok("log", "verify");
  expect(await home.ok("history", "stays")).toBe("here\n");
}, 180_000);
