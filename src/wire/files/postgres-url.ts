// Connection URLs of PostgreSQL, as people write them for psql:
//   postgres://user@host:port,host2:port2/database?sslmode=verify-full&sslrootcert=…&target_session_attrs=read-write
// PU1. A problem never quotes the URL: its password may be in it.
// PU2. A parameter that we do not follow is refused, never ignored: `sslmode=verify-ful` must not weaken anything.
// PU3. Without `sslmode`, a server that is not on this machine is verified in full. libpq's own default verifies
//      nothing.
// PU4. No value has a NUL: in the protocol it would end the value, and begin a parameter of the author's choice.
import { nearest } from "../../base/nearest.ts";
import { own } from "../../base/own.ts";
import { isLoopback, type PostgresHost, type PostgresTls } from "../../base/postgres-host.ts";
import { ok, type Result, refused } from "../../base/result.ts";

export type PostgresUrl = {
  /** In the order in which they are tried. */
  readonly hosts: readonly PostgresHost[];
  readonly user: string;
  readonly database: string;
  readonly password: string | undefined;
  /** The file of passwords instead of ~/.pgpass. */
  readonly passwordFile: string | undefined;
  /** The file of the authority; undefined: those that the runtime trusts. */
  readonly authorityFile: string | undefined;
  readonly channelBinding: "prefer" | "require";
  readonly session: "any" | "read-write";
  readonly connectTimeoutMs: number;
  readonly applicationName: string;
};

const MAX_LENGTH = 4_096;
/** A primary and its standbys; each may take a whole timeout. */
const MAX_HOSTS = 8;
const PORT = 5_432;
/** Where Debian and Red Hat have it. */
const SOCKETS = "/run/postgresql";
const TIMEOUT_S = { default: 10, most: 600 };
const SCHEME = /^postgres(?:ql)?:\/\//;
const TLS_MODES: readonly string[] = ["disable", "require", "verify-ca", "verify-full"] satisfies PostgresTls[];

/** Everybody can have a certificate of an authority that is widely trusted. */
const ANYBODY = "With verify-ca, the file of your own authority is needed: sslrootcert.";
const HINT = "Write it as postgres://user@host/database, and the password into ~/.pgpass or PGPASSWORD.";

type Values = Readonly<Record<string, string>>;
/** A parameter's values; undefined: anything. */
const PARAMETERS: Readonly<Record<string, readonly string[] | undefined>> = {
  host: undefined,
  port: undefined,
  dbname: undefined,
  user: undefined,
  password: undefined,
  passfile: undefined,
  connect_timeout: undefined,
  application_name: undefined,
  sslmode: TLS_MODES,
  sslrootcert: undefined,
  channel_binding: ["prefer", "require"],
  target_session_attrs: ["any", "read-write"],
};

class Problem extends Error {
  readonly hint: string;

  constructor(message: string, hint = HINT) {
    super(message);
    this.hint = hint;
  }
}

export function parsePostgresUrl(text: string): Result<PostgresUrl> {
  try {
    return ok(parsed(text));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return refused("postgres-url", error.message, error.hint); // PU1
  }
}

/**
 * The same database for another user, whose password is not in the URL. `text`: one that can be read. A URL without a
 * database means the one that is called like its user.
 */
export function asUser(text: string, user: string): string {
  const { database } = parsed(text);
  const [, scheme, hosts, query = ""] = /^(\w+:\/\/)(?:[^/?]*@)?([^/?]*)[^?]*\??(.*)$/s.exec(text) ?? [];
  const kept = query.split("&").filter((pair) => pair !== "" && !/^(?:user|password|dbname)=/.test(pair));
  const end = kept.length > 0 ? `?${kept.join("&")}` : "";
  return `${scheme}${encodeURIComponent(user)}@${hosts}/${encodeURIComponent(database)}${end}`;
}

function parsed(text: string): PostgresUrl {
  if (text.length > MAX_LENGTH) throw new Problem(`The URL is longer than ${MAX_LENGTH} characters.`);
  if (!SCHEME.test(text)) throw new Problem("The URL does not begin with postgres:// or postgresql://.");
  const [, rest = "", query = ""] = /^([^?]*)\??(.*)$/s.exec(text.replace(SCHEME, "")) ?? [];
  const [, authority = "", path = ""] = /^([^/]*)\/?(.*)$/s.exec(rest) ?? [];
  const at = authority.lastIndexOf("@");
  const [, name = "", secret] = /^([^:]*)(?::(.*))?$/s.exec(authority.slice(0, Math.max(0, at))) ?? [];
  const given = parametersOf(query);
  const user = decoded(name, "user") || given["user"] || "";
  if (user === "") throw new Problem("The URL names no user.");
  return {
    hosts: hostsOf(authority.slice(at + 1), given),
    user,
    database: decoded(path, "database") || given["dbname"] || user,
    password: (secret === undefined ? given["password"] : decoded(secret, "password")) || undefined,
    passwordFile: given["passfile"],
    authorityFile: authorityOf(given),
    ...sessionOf(given),
  };
}

function sessionOf(given: Values) {
  return {
    channelBinding: given["channel_binding"] === "require" ? "require" : "prefer",
    session: given["target_session_attrs"] === "any" ? "any" : "read-write",
    connectTimeoutMs: 1_000 * wholeNumber(given["connect_timeout"] ?? `${TIMEOUT_S.default}`, "connect_timeout"),
    applicationName: given["application_name"] ?? "holdfast",
  } as const;
}

function authorityOf(given: Values): string | undefined {
  const file = given["sslrootcert"] === "system" ? undefined : given["sslrootcert"];
  if (given["sslmode"] !== "verify-ca" || file !== undefined) return file;
  throw new Problem(ANYBODY, "Use verify-full, or sslrootcert.");
}

/** PU2 */
function parametersOf(query: string): Values {
  const pairs = query.split("&").filter((pair) => pair !== "");
  const entries = pairs.map((pair): [string, string] => {
    const equals = pair.indexOf("=");
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals), "parameters");
    if (!Object.hasOwn(PARAMETERS, name)) throw unknownParameter(name);
    const value = decoded(equals < 0 ? "" : pair.slice(equals + 1), name);
    const values = own(PARAMETERS, name);
    if (values !== undefined && !values.includes(value)) throw wrongValue(name, values);
    return [name, value];
  });
  if (new Set(entries.map(([name]) => name)).size < entries.length) throw new Problem("The URL has a parameter twice.");
  return Object.fromEntries(entries);
}

function unknownParameter(name: string): Problem {
  const close = nearest(name, Object.keys(PARAMETERS));
  const known = `Known are ${Object.keys(PARAMETERS).join(", ")}.`;
  // PU1: only a word that is surely a name is quoted.
  const shown = /^[a-z_]{1,40}$/.test(name) ? `"${name}"` : "one of its parameters";
  return new Problem(`The URL has ${shown}, which is not known.`, close ? `Did you mean ${close}? ${known}` : known);
}

function wrongValue(name: string, values: readonly string[]): Problem {
  const why = name === "sslmode" ? " allow and prefer go on without encryption if they have to, so they are none." : "";
  return new Problem(`The value of ${name} is none of ${values.join(", ")}.`, `Choose one of them.${why}`);
}

function hostsOf(authority: string, given: Values): PostgresHost[] {
  const tls = given["sslmode"] as PostgresTls | undefined;
  const named = authority === "" ? (given["host"] ?? "").split(",") : authority.split(",");
  if (named.length > MAX_HOSTS) throw new Problem(`The URL has more than ${MAX_HOSTS} hosts.`);
  const ports = (given["port"] ?? "").split(",");
  if (ports.length > 1 && ports.length !== named.length) throw new Problem("There are not as many ports as hosts.");
  return named.map((one, index) => {
    const [host, port] = authority === "" ? [one, ""] : splitHost(one);
    const number = port || ports[ports.length > 1 ? index : 0] || `${PORT}`;
    return hostOf(decodedHost(host), wholeNumber(number, "port"), tls);
  });
}

/** `[::1]:5432`, `name:5432`, `name`. */
function splitHost(text: string): [host: string, port: string] {
  const match = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d*))?$/.exec(text);
  if (match === null) {
    throw new Problem("A host of the URL cannot be read.", "Write an IPv6 address in brackets: [::1]:5432.");
  }
  return [match[1] ?? match[2] ?? "", match[3] ?? ""];
}

function decodedHost(text: string): string {
  const host = decoded(text, "host");
  if (host.startsWith("/") || /^[\w.:%-]*$/.test(host)) return host;
  throw new Problem("A host of the URL is neither a name, an address nor a directory.");
}

function hostOf(host: string, port: number, tls: PostgresTls | undefined): PostgresHost {
  if (host === "" || host.startsWith("/")) return { kind: "unix", directory: host || SOCKETS, port };
  return { kind: "tcp", host, port, tls: tls ?? (isLoopback(host) ? "disable" : "verify-full") }; // PU3
}

const RANGES: Readonly<Record<string, number>> = { port: 65_535, connect_timeout: TIMEOUT_S.most };

function wholeNumber(text: string, name: string): number {
  const [number, most] = [Number(text), RANGES[name] ?? 0];
  if (/^\d{1,5}$/.test(text) && number >= 1 && number <= most) return number;
  throw new Problem(`The value of ${name} is not a whole number from 1 to ${most}.`);
}

/** PU4 */
function decoded(text: string, what: string): string {
  const value = unescaped(text, what);
  if (/\p{Cc}/u.test(value)) throw new Problem(`The URL has a control character in its ${what}.`);
  return value;
}

function unescaped(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw new Problem(
      `The URL has a percent sign in its ${what} that escapes nothing.`,
      "Write a percent sign as %25.",
    );
  }
}
