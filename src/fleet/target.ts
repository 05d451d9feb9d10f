// From a connection URL to all that a connection needs: the files that it names are read, and the password is found.
// TG1. The password is looked for as psql does it: in the URL, in PGPASSWORD, in the file of passwords. So it need not
//      be in the URL, nor in the arguments of any program.
// TG2. A file of passwords that others can read is refused. (libpq ignores it, which ends in a riddle.)
import { isFault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { readWhole } from "../log/file/file.ts";
import { passwordIn } from "../wire/files/pgpass.ts";
import { type PostgresUrl, parsePostgresUrl } from "../wire/files/postgres-url.ts";
import type { Disk } from "../world/disk.ts";
import type { PostgresTarget } from "../world/postgres.ts";

export type TargetWorld = { readonly disk: Disk; readonly environment: Readonly<Record<string, string | undefined>> };

const FOR_OTHERS = 0o077;

export function postgresTarget(text: string, world: TargetWorld): Result<PostgresTarget> {
  const url = parsePostgresUrl(text);
  if (!url.ok) return url;
  const passwords = passwordFile(url.value, world);
  if (!passwords.ok) return passwords;
  const authority = authorityOf(url.value, world.disk);
  if (!authority.ok) return authority;
  const { hosts, user, database, password = world.environment["PGPASSWORD"], channelBinding } = url.value;
  const { session, connectTimeoutMs, applicationName } = url.value;
  const found = hosts.map((host) => ({
    ...host,
    password: password ?? passwordIn(passwords.value, { host, database, user }), // TG1
  }));
  const rest = { user, database, channelBinding, session, connectTimeoutMs, applicationName };
  return ok({ hosts: found, authority: authority.value, ...rest });
}

/** Its text; empty if there is none. */
function passwordFile({ password, passwordFile }: PostgresUrl, { disk, environment }: TargetWorld): Result<string> {
  const named = passwordFile ?? environment["PGPASSFILE"];
  const path = named ?? joinPath(environment["HOME"] ?? "/", ".pgpass");
  if (password !== undefined || environment["PGPASSWORD"] !== undefined) return ok("");
  const found = disk.stat(path);
  if (found === undefined && named === undefined) return ok("");
  if (found !== undefined && (found.mode & FOR_OTHERS) !== 0) {
    const message = `The file of passwords ${path} can be read or written by others.`;
    return refused("postgres-passwords", message, `chmod 600 ${path}`); // TG2
  }
  return textOf(disk, path);
}

function authorityOf({ authorityFile }: PostgresUrl, disk: Disk): Result<string | undefined> {
  return authorityFile === undefined ? ok(undefined) : textOf(disk, authorityFile);
}

/** A certificate, or a few hundred passwords. */
const MAX_FILE = 1 << 20;

function textOf(disk: Disk, path: string): Result<string> {
  const hint = "Check the path, and who may read it.";
  try {
    const bytes = disk.stat(path)?.kind === "file" ? readWhole(disk, path, MAX_FILE) : undefined;
    if (bytes === undefined) return refused("postgres-file", `${path} is no file.`, hint);
    return ok(new TextDecoder().decode(bytes));
  } catch (error) {
    if (!isFault(error)) throw error;
    return refused("postgres-file", `${path} cannot be read: ${error.code}.`, hint);
  }
}
