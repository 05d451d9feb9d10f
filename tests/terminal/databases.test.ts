// opencode's database, read by the real database program: what is in it, and what a hostile file in its place does.
import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Databases } from "../../src/daemon/terminal/databases.ts";
import { realChildren } from "../../src/world/real/children.ts";
import { realSelf } from "../../src/world/self.ts";
import { realWorld } from "../../src/world/world.ts";
import { PATIENCE_MS, until } from "../until.ts";

const home = mkdtempSync(join(tmpdir(), "hfdb-"));
const opened: Databases[] = [];

afterAll(() => {
  for (const one of opened) one.close();
  rmSync(home, { recursive: true, force: true });
});

function open(answerMs?: number) {
  const said: string[] = [];
  const world = { ...realWorld(), children: realChildren(), self: realSelf(), home };
  const databases = new Databases(world, (words) => void said.push(words), answerMs);
  opened.push(databases);
  return { databases, said };
}

const WORK = "/w/app";

/** The columns of opencode 1.18 that are read, and one that is not. */
function store(name: string): { readonly path: string; readonly database: Database } {
  const path = join(home, name);
  const database = new Database(path, { create: true });
  database.run("PRAGMA journal_mode = WAL");
  database.run(
    "CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL, " +
      "version text NOT NULL, time_updated integer NOT NULL)",
  );
  database.run(
    "CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL)",
  );
  return { path, database };
}

const SESSION = "INSERT INTO session VALUES (?1, ?2, ?3, 't', '1.18.33', ?4)";
const MESSAGE = "INSERT INTO message VALUES (?1, ?2, ?3, ?4)";

test("the conversations of a directory since a time, with what each does, and again only if it has changed", async () => {
  const { path, database } = store("opencode.db");
  const [idle, working, called, other] = ["idle", "working", "called", "other"].map((name) => `ses_${name}00000000`);
  for (const [id = "", directory] of [
    [idle, WORK],
    [working, WORK],
    [called, WORK],
    [other, "/w"],
  ] as const)
    database.run(SESSION, [id, null, directory, 2_000]);
  database.run(SESSION, ["ses_old000000000", null, WORK, 999]);
  database.run(SESSION, ["ses_child0000000", idle ?? "", WORK, 2_000]);
  database.run(SESSION, ["--dangerous", null, WORK, 2_000]);
  const say = (session = "", at: number, data: object) =>
    database.run(MESSAGE, [`msg_${session}_${at}`, session, 1_000 + at, JSON.stringify(data)]);
  say(idle, 1, { role: "user" });
  say(idle, 2, { role: "assistant", finish: "stop", time: { completed: 3 } });
  say(working, 1, { role: "user" });
  say(working, 2, { role: "assistant", time: { created: 2 } });
  say(called, 1, { role: "assistant", finish: "tool-calls", time: { completed: 3 } });
  const request = { path, directory: WORK, sinceMs: 1_000 };
  const { databases, said } = open();
  const look = async () => {
    await databases.refresh(request);
    const found = databases.found(request).map(({ id, state }): [string, string] => [id, state]);
    return Object.fromEntries(found);
  };
  const all = { [idle ?? ""]: "idle", [working ?? ""]: "working", [called ?? ""]: "working" };
  await until("it is read", async () => Object.keys(await look()).length > 0, look);
  expect<object>(await look()).toEqual(all);
  say(working, 3, { role: "assistant", finish: "stop", time: { completed: 4 } });
  await until("the change is read", async () => (await look())[working ?? ""] === "idle", look);
  expect([said, databases.found(request)[0]?.version]).toEqual([[], "1.18.33"]);
  database.close();
});

test("a query that never ends is killed, the caller waits for a moment only, and the next database is read", async () => {
  const path = join(home, "endless.db");
  const database = new Database(path, { create: true });
  database.run("CREATE VIEW message AS SELECT 1 AS id, 1 AS session_id, 1 AS time_created, '{}' AS data");
  database.run(
    "CREATE VIEW session AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) " +
      "SELECT i AS id, NULL AS parent_id, 'x' || i AS directory, '1' AS version, 1 AS time_updated FROM n",
  );
  database.close();
  const { databases, said } = open(700);
  const request = { path, directory: WORK, sinceMs: 0 };
  const began = performance.now();
  await databases.refresh(request);
  expect(performance.now() - began).toBeLessThan(PATIENCE_MS / 10);
  await until(
    "it is given up",
    () => said.length > 0,
    () => said,
  );
  expect(said).toEqual([`the conversations in ${path} are not known: Its reader died of it, twice.`]);
  const later = performance.now();
  await databases.refresh(request); // It is not tried again now.
  expect([databases.found(request), performance.now() - later < 400]).toEqual([[], true]);
  const good = store("good.db");
  good.database.run(SESSION, ["ses_good00000000", null, WORK, 1]);
  good.database.close();
  const next = { path: good.path, directory: WORK, sinceMs: 0 };
  const found = async () => {
    await databases.refresh(next);
    return databases.found(next);
  };
  await until("the next is read", async () => (await found()).length === 1, found);
});

test("a file that is no database, or has other tables, is said to be unknown, once", async () => {
  const { databases, said } = open();
  writeFileSync(join(home, "torn.db"), "SQLite format 3\0 and then something else");
  new Database(join(home, "newer.db"), { create: true }).run("CREATE TABLE sessions2 (id text)");
  for (const name of ["torn.db", "newer.db", "missing.db", "newer.db"]) {
    const request = { path: join(home, name), directory: WORK, sinceMs: 0 };
    const before = said.length;
    await databases.refresh(request);
    if (name !== "missing.db" && before < 2)
      await until(
        `${name} is read`,
        () => said.length > before,
        () => said,
      );
    expect(databases.found(request)).toEqual([]);
  }
  expect(said).toHaveLength(2);
  expect(said[1]).toContain("newer.db are not known: ");
  expect(said[1]).toContain("no such table: session");
});
