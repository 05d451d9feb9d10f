// What is stored of an environment: enough to start again, and no secret.
import { describe, expect, test } from "bun:test";
import { type EnvironmentRules, keepEnvironment } from "./environment.ts";

const NO_RULES: EnvironmentRules = { allow: [], deny: [] };
const keep = (names: readonly string[], rules = NO_RULES) =>
  Object.keys(keepEnvironment(Object.fromEntries(names.map((name) => [name, "v"])), rules).kept);

describe("names", () => {
  test("names that look like secrets are left out, in upper and lower case", () => {
    const secrets = [
      ...["GITHUB_TOKEN", "TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "ANTHROPIC_API_KEY", "PGPASSWORD"],
      ...["MYSQL_PWD", "GOOGLE_APPLICATION_CREDENTIALS", "npm_config__authToken", "gitlab_pat", "SENTRY_DSN"],
      ...["SSH_PASSPHRASE", "VAULT_PASS", "SLACK_WEBHOOK_URL", "OPENAI_APIKEY", "DB_PASSWD", "SESSION_COOKIE"],
    ];
    expect(keep(secrets)).toEqual([]);
  });

  test("variables that a program needs to start again are kept", () => {
    const needed = [
      ...["PATH", "HOME", "SHELL", "PWD", "OLDPWD", "LANG", "LC_ALL", "TERM", "SSH_AUTH_SOCK", "EDITOR", "VIRTUAL_ENV"],
      ...["TOKENIZERS_PARALLELISM", "XDG_RUNTIME_DIR", "KEYBOARD", "PASSAGE", "COMPASS", "MONKEY", "INIT_CWD"],
    ];
    expect(keep(needed)).toEqual(needed);
  });

  test("the operator's deny wins over their allow, and either over the defaults", () => {
    const names = ["CI_TOKEN", "MY_TOKEN", "PLAIN", "PLAIN_2"];
    expect(keep(names, { allow: ["*_token"], deny: ["my_*", "PLAIN_?"] })).toEqual(["CI_TOKEN", "PLAIN"]);
  });

  test("a glob is not a regular expression: dots and brackets are literal", () => {
    expect(keep(["A.B", "AXB", "A[1]", "A1"], { allow: [], deny: ["A.B", "A[1]"] })).toEqual(["AXB", "A1"]);
    expect(keep(["A(B", "A+", "A\\"], { allow: [], deny: ["A(B", "A+", "A\\"] })).toEqual([]);
  });
});

describe("values", () => {
  const leftOut = (value: string) => keepEnvironment({ X: value }, NO_RULES).leftOut.length === 1;

  test("an address with a password and a private key are left out, whatever their name", () => {
    expect(leftOut("postgres://ann:hunter2@db.example/app")).toBe(true);
    expect(leftOut("redis://:hunter2@localhost:6379")).toBe(true);
    expect(leftOut("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl")).toBe(true);
  });

  test("the address of a proxy with a user is left out, with and without a scheme", () => {
    const env = { https_proxy: "ann:pw@proxy:3128", HTTP_PROXY: "ann@proxy", ALL_PROXY: "proxy:3128", X: "a:b@c" };
    expect(keepEnvironment(env, NO_RULES).leftOut).toEqual(["HTTP_PROXY", "https_proxy"]);
  });

  test("tokens are left out by their form, alone or inside of a text", () => {
    const some = (length: number) => "aB3dE5gH7j".repeat(10).slice(0, length);
    const upper = some(60).toUpperCase();
    const tokens = [
      ...[
        `ghp_${some(36)}`,
        `github_pat_${some(40)}`,
        `glpat-${some(20)}`,
        `sk-${some(40)}`,
        `sk-ant-api03-${some(30)}`,
      ],
      ...[
        `sk_live_${some(24)}`,
        `xoxb-${some(24)}`,
        `AKIA${upper.slice(0, 16)}`,
        `AIza${some(35)}`,
        `ya29.${some(40)}`,
      ],
      ...[`npm_${some(36)}`, `pypi-${some(40)}`, `hf_${some(34)}`, `eyJ${some(20)}.eyJ${some(30)}.${some(20)}`],
    ];
    for (const token of tokens)
      for (const value of [token, `Authorization: Bearer ${token}`, `{"a":"${token}"}`])
        expect([value, leftOut(value)]).toEqual([value, true]);
    for (const value of ["task-force-of-the-year-2026", "risk-assessment-and-more-things", "skeleton", "eyJ", "AKIA"])
      expect([value, leftOut(value)]).toEqual([value, false]);
  });

  test("addresses without a password are kept", () => {
    for (const value of [
      "https://example.com/a:b@c",
      "unix:path=/run/bus",
      "http://proxy:3128",
      "ssh://git@host:22/x",
    ]) {
      expect({ value, leftOut: leftOut(value) }).toEqual({ value, leftOut: false });
    }
  });
});

test("variables left out are named in order, and their values are not in the result", () => {
  const found = keepEnvironment({ Z_TOKEN: "hunter2", A: "1", B_KEY: "hunter3" }, NO_RULES);
  expect(found).toEqual({ kept: { A: "1" }, leftOut: ["B_KEY", "Z_TOKEN"] });
  expect(JSON.stringify(found)).not.toContain("hunter");
});

test("a variable named like a property of every object is an ordinary one", () => {
  const found = keepEnvironment(JSON.parse('{"__proto__":"x","constructor":"y"}'), NO_RULES);
  expect(Object.entries(found.kept)).toEqual([
    ["__proto__", "x"],
    ["constructor", "y"],
  ]);
});
