// What looks like a secret in a new terminal's environment reaches its program, but no disk.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { EventLog } from "../../src/log/event-log.ts";
import { realWorld } from "../../src/world/world.ts";
import { type DaemonHome, daemonHomes } from "./home.ts";

const newHome = daemonHomes();

const SECRET = "hunter2hunter2";
/** Exits with 0 if it got the secret; its own arguments do not contain it. */
const KNOWS_IT = ["sh", "-c", `test "$API_TOKEN$PLAIN" = "$(printf 'hunter%s' 2 2)visible"`];

function wish(home: DaemonHome, argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const plain = home.wish("one", argv);
  return { ...plain, env: { ...plain.env, PLAIN: "visible", API_TOKEN: SECRET, ...env } };
}

/** The files of a home that contain the bytes. */
function filesWith(home: DaemonHome, text: string): string[] {
  return [...home.files()].flatMap(([path, bytes]) => (bytes.includes(text) ? [path] : []));
}

test("a secret reaches the program and no file; the log names it, and the rest is stored", async () => {
  const home = newHome();
  await home.live();
  const { id, recipe, unset } = await home.must("terminal.new", wish(home, KNOWS_IT));
  expect(await home.is(id, "ended")).toMatchObject({ code: 0 });
  expect(filesWith(home, SECRET)).toEqual([]);
  expect(filesWith(home, "visible").length).toBeGreaterThan(0);
  expect({ PLAIN: recipe.env["PLAIN"], unset }).toEqual({ PLAIN: "visible", unset: ["API_TOKEN"] });
  expect((await home.listed(id)).unset).toEqual(["API_TOKEN"]);
});

test("the operator's env_allow and env_deny decide what is stored; the program gets all of it either way", async () => {
  const home = newHome();
  const config = home.file("config.toml");
  writeFileSync(config, '[terminal]\nenv_allow = ["API_TOKEN"]\nenv_deny = ["PLA*"]\n');
  await home.live({ HOLDFAST_CONFIG: config });
  const { id, recipe, unset } = await home.must("terminal.new", wish(home, KNOWS_IT));
  expect(await home.is(id, "ended")).toMatchObject({ code: 0 });
  expect({ API_TOKEN: recipe.env["API_TOKEN"], unset }).toEqual({ API_TOKEN: SECRET, unset: ["PLAIN"] });
  expect(recipe.env).not.toHaveProperty("PLAIN");
});

test("a secret that cannot be passed to a program is refused, and nothing is started", async () => {
  const home = newHome();
  await home.live();
  const answer = await home.ask("terminal.new", wish(home, KNOWS_IT, { B_TOKEN: "a\0b" }));
  expect(answer).toMatchObject({ ok: false, error: { code: "bad-params" } });
  const large = await home.ask("terminal.new", wish(home, KNOWS_IT, { B_TOKEN: "x".repeat(65_536) }));
  expect(large).toMatchObject({ ok: false, error: { code: "bad-params" } });
  expect(await home.must("terminal.list", {})).toEqual([]);
});

test("a terminal whose daemon died before starting it comes up without its secrets, and the report names them", async () => {
  const home = newHome();
  const { cols, rows, ...facts } = home.wish("late", ["sh", "-c", `test -z "$API_TOKEN"`]);
  const log = await EventLog.open({ ...realWorld(), home: home.path });
  const [id, ts] = ["0123456789abcdef0123456789abcdef", "2026-01-01T00:00:00.000Z"];
  const data = { ...facts, argv: [...facts.argv], size: { cols, rows }, unset: ["API_TOKEN"], generation: 1 };
  const ticket = log.append([{ session: `terminals/${id}`, ts, event: "terminal.created", data: { ...data, at: ts } }]);
  if (ticket.ok) await ticket.value.durable;
  await log.close();
  await home.live();
  expect(await home.is(id, "ended")).toMatchObject({ code: 0 });
  const [item] = (await home.report()).items;
  expect(item).toMatchObject({ id, fate: "restarted" });
  expect(item?.reason).toContain("not stored, and so unset: API_TOKEN");
});
