import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { passwordIn } from "./pgpass.ts";
import { asUser, parsePostgresUrl } from "./postgres-url.ts";

function parsed(url: string) {
  const result = parsePostgresUrl(url);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

const tcp = (host: string, port = 5_432, tls = "verify-full") => ({ kind: "tcp", host, port, tls });
const unix = (directory: string, port = 5_432) => ({ kind: "unix", directory, port });

describe("what a URL says", () => {
  test("everything that is not written has its default", () => {
    expect(parsed("postgres://ann@db.example")).toEqual({
      hosts: [tcp("db.example")] as never,
      ...{ user: "ann", database: "ann", password: undefined, passwordFile: undefined, authorityFile: undefined },
      ...{ channelBinding: "prefer", session: "read-write", connectTimeoutMs: 10_000, applicationName: "holdfast" },
    });
  });

  test("hosts: several, with ports, addresses, sockets, and in parameters", () => {
    const cases: readonly [string, readonly unknown[]][] = [
      ["postgresql://u@a:1,b,c:3/d", [tcp("a", 1), tcp("b"), tcp("c", 3)]],
      ["postgres://u@[2001:db8::1]:6543/d", [tcp("2001:db8::1", 6_543)]],
      ["postgres://u@[::1]/d", [tcp("::1", 5_432, "disable")]],
      [
        "postgres://u@localhost,127.0.0.1,10.0.0.1/d",
        [tcp("localhost", 5_432, "disable"), tcp("127.0.0.1", 5_432, "disable"), tcp("10.0.0.1")],
      ],
      ["postgres://u@localhost/d?sslmode=verify-ca&sslrootcert=/ca", [tcp("localhost", 5_432, "verify-ca")]],
      ["postgres://u@127.evil.example/d", [tcp("127.evil.example")]],
      ["postgres://u@/d?host=/run/postgresql", [unix("/run/postgresql")]],
      ["postgres://u@%2Ftmp%2Fpg:7/d", [unix("/tmp/pg", 7)]],
      ["postgres://u@/d", [unix("/run/postgresql")]],
      ["postgres://u@/d?host=a,b&port=1,2", [tcp("a", 1), tcp("b", 2)]],
      ["postgres://u@/d?host=a,b&port=9", [tcp("a", 9), tcp("b", 9)]],
    ];
    for (const [url, hosts] of cases) expect([url, parsed(url).hosts]).toEqual([url, hosts as never]);
  });

  test("names and passwords are unescaped, and a password may have an @", () => {
    const { user, password, database } = parsed("postgres://a%40b:p%3Aw%2F%25@x@h/d%20b");
    expect([user, password, database]).toEqual(["a@b", "p:w/%@x", "d b"]);
    expect(parsed("postgres://h?user=u&password=p&dbname=d")).toMatchObject({
      user: "u",
      password: "p",
      database: "d",
    });
  });

  test("parameters", () => {
    const all =
      "sslmode=require&sslrootcert=/ca.pem&channel_binding=require&target_session_attrs=any&connect_timeout=3";
    expect(parsed(`postgres://u@h/d?${all}&application_name=x&passfile=/p`)).toMatchObject({
      ...{ hosts: [tcp("h", 5_432, "require")], authorityFile: "/ca.pem", channelBinding: "require", session: "any" },
      ...{ connectTimeoutMs: 3_000, applicationName: "x", passwordFile: "/p" },
    });
    expect(parsed("postgres://u@h/d?sslrootcert=system").authorityFile).toBeUndefined();
  });
});

describe("what is refused", () => {
  const cases: readonly [url: string, says: RegExp][] = [
    ["mysql://u@h/d", /begin with postgres/],
    ["postgres://h/d", /no user/],
    ["postgres://u@h/d?sslmode=prefer", /sslmode is none of disable, require/],
    ["postgres://u@h/d?sslmode=verify-ful", /sslmode is none/],
    ["postgres://u@h/d?sslmode=verify-ca", /file of your own authority/],
    ["postgres://u@h/d?sslmode=verify-ca&sslrootcert=system", /file of your own authority/],
    ["postgres://u@h/d?sslmod=disable", /"sslmod", which is not known.*sslmode/],
    ["postgres://u@h/d?sslmode=require&sslmode=disable", /twice/],
    ["postgres://u@h/d?target_session_attrs=standby", /target_session_attrs/],
    ["postgres://u@h/d?__proto__=1", /not known/],
    ["postgres://u@h/d?constructor=1", /not known/],
    ["postgres://u@h:0/d", /port/],
    ["postgres://u@h:65536/d", /port/],
    ["postgres://u@h:x/d", /host of the URL/],
    ["postgres://u@::1/d", /host of the URL.*brackets/],
    ["postgres://u@a b/d", /neither a name/],
    ["postgres://u@h/d?connect_timeout=0", /connect_timeout/],
    ["postgres://u@a,b,c/d?port=1,2", /ports as hosts/],
    ["postgres://u@1,2,3,4,5,6,7,8,9/d", /8 hosts/],
    ["postgres://u%00options=x@h/d", /control character/],
    ["postgres://u@h/d%zz", /percent sign/],
    [`postgres://u@h/${"d".repeat(5_000)}`, /longer/],
  ];
  for (const [url, says] of cases) {
    test(`${url.slice(0, 60)}`, () => {
      const result = parsePostgresUrl(url);
      if (result.ok) throw new Error("it was taken");
      expect(`${result.error.message} ${result.error.hint}`).toMatch(says);
    });
  }

  test("PU1 no refusal has a word of what was given, whatever that is", () => {
    const secret = fc.stringMatching(/^[A-Z]{12}$/);
    const shape = fc.constantFrom(
      ...["postgres://u:X@h/d?y=1", "postgres://u:X@h:x/d", "postgres://:X@h/", "postgres://u:X%zz@h/d", "u:X@h"],
      ...["postgres://u:p@h/d?passwordX=1", "postgres://u@h/d?password=a&password=X", "postgres://u:a/X@h/d"],
    );
    fc.assert(
      fc.property(secret, shape, (word, text) => {
        const result = parsePostgresUrl(text.replace("X", word));
        expect(result.ok ? "" : Bun.inspect(result.error)).not.toContain(word);
      }),
    );
  });

  test("no text makes it throw", () => {
    const parts = fc.constantFrom(
      "postgres://",
      "u",
      ":",
      "@",
      "/",
      "?",
      "&",
      "=",
      "%",
      ",",
      "[",
      "]",
      "\0",
      "host",
      "é",
    );
    const texts = fc.oneof(
      fc.string(),
      fc.array(parts).map((all) => `postgres://${all.join("")}`),
    );
    fc.assert(
      fc.property(texts, (text) => typeof parsePostgresUrl(text).ok === "boolean"),
      { numRuns: 2_000 },
    );
  });
});

test("the same database for another user, without the password of the first one", () => {
  const urls = {
    "postgres://ann@db/d": "postgres://bob%20x@db/d",
    "postgresql://ann:p@ss@one:1,two:2/d?sslmode=require": "postgresql://bob%20x@one:1,two:2/d?sslmode=require",
    "postgres://ann@db": "postgres://bob%20x@db/ann",
    "postgres://db/?user=ann&password=x&port=7": "postgres://bob%20x@db/ann?port=7",
    "postgres://?user=ann&host=/tmp&dbname=a%2Fb": "postgres://bob%20x@/a%2Fb?host=/tmp",
    "postgres://ann@[::1]:5/d": "postgres://bob%20x@[::1]:5/d",
  };
  for (const [url, other] of Object.entries(urls)) {
    expect(asUser(url, "bob x")).toBe(other);
    const { password: _, ...rest } = parsed(url);
    expect(parsed(other)).toEqual({ ...rest, user: "bob x", password: undefined });
  }
});

test("the file of passwords: the first line that fits, wildcards, escapes, comments", () => {
  const file = [
    "# host:port:database:user:password",
    "db:5432:d:ann:one",
    "db:*:*:ann:two",
    "localhost:*:*:*:socket",
    "/tmp/pg:7:*:*:path",
    "::1:5432:d:u:not this",
    "\\:\\:1:5432:d:u:v6",
    "*:*:*:eve:a\\:b\\\\c:d",
    "short:line",
  ].join("\n");
  const found = (host: string, user: string, database = "d", port = 5_432) =>
    passwordIn(file, { host: { kind: "tcp", host, port, tls: "verify-full" }, user, database });
  expect(found("db", "ann")).toBe("one");
  expect(found("db", "ann", "e")).toBe("two");
  expect(found("db", "bob")).toBeUndefined();
  expect(found("::1", "u")).toBe("v6");
  expect(found("x", "eve")).toBe("a:b\\c:d");
  const socket = { kind: "unix", directory: "/run/postgresql", port: 5_432 } as const;
  expect(passwordIn(file, { host: socket, user: "x", database: "y" })).toBe("socket");
  expect(
    passwordIn("/tmp/pg:7:*:*:path", { host: { ...socket, directory: "/tmp/pg", port: 7 }, user: "x", database: "y" }),
  ).toBe("path");
});
