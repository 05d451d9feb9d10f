// Where the password and the authority come from.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresTarget } from "../../src/fleet/target.ts";
import { realDisk } from "../../src/world/real/disk.ts";

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-target-"));
  write(".pgpass", "a:*:*:*:of a\n*:*:*:*:of others\n");
  write("named", "*:*:*:*:named\n");
  write("loose", "*:*:*:*:loose\n", 0o640);
  write("ca.pem", "PEM");
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

function write(name: string, text: string, mode = 0o600): void {
  writeFileSync(join(home, name), text);
  chmodSync(join(home, name), mode);
}

function target(url: string, environment: Record<string, string> = {}) {
  return postgresTarget(url.replaceAll("HOME", home), {
    disk: realDisk(),
    environment: { HOME: home, ...environment },
  });
}

function passwords(url: string, environment?: Record<string, string>) {
  const found = target(url, environment);
  return found.ok ? found.value.hosts.map(({ password }) => password) : found.error;
}

test("TG1 the password: of the URL, of the environment, of the named file, of the one at home, for each host", () => {
  expect(passwords("postgres://u:p@a,b/d", { PGPASSWORD: "env" })).toEqual(["p", "p"]);
  expect(passwords("postgres://u@a,b/d?passfile=HOME/named", { PGPASSWORD: "env" })).toEqual(["env", "env"]);
  expect(passwords("postgres://u@a,b/d?passfile=HOME/named", { PGPASSFILE: "/none" })).toEqual(["named", "named"]);
  expect(passwords("postgres://u@a,b/d", { PGPASSFILE: join(home, "named") })).toEqual(["named", "named"]);
  expect(passwords("postgres://u@a,b/d")).toEqual(["of a", "of others"]);
  expect(passwords("postgres://u@a/d", { HOME: "/nonexistent" })).toEqual([undefined]);
});

test("TG2 a file of passwords that others can read is refused; one that is named must be there", () => {
  expect(passwords("postgres://u@a/d?passfile=HOME/loose")).toMatchObject({ hint: `chmod 600 ${home}/loose` });
  expect(passwords("postgres://u@a/d?passfile=HOME/none")).toMatchObject({ code: "postgres-file" });
  expect(passwords("postgres://u@a/d?passfile=HOME")).toMatchObject({ code: "postgres-file" });
  expect(passwords("postgres://u:p@a/d?passfile=HOME/loose")).toEqual(["p"]);
});

test("the authority is read from its file", () => {
  expect(target("postgres://u:p@a/d?sslrootcert=HOME/ca.pem")).toMatchObject({ ok: true, value: { authority: "PEM" } });
  const missing = target("postgres://u:p@a/d?sslrootcert=HOME/none.pem");
  expect(missing).toMatchObject({ ok: false, error: { code: "postgres-file" } });
  expect(target("postgres://u:p@a/d?sslrootcert=system")).toMatchObject({ ok: true, value: { authority: undefined } });
  expect(target("x").ok).toBe(false);
});
