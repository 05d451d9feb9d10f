// The container files of the relay, by a linter and as their programs read them: no image can be built where our tests
// run.
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { parse } from "yaml";
import { ROOT } from "../../scripts/files.ts";

const FOLDER = "examples/relay";
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

type Instruction = { readonly name: string; readonly rest: string };

/** Comments and joined lines as in Docker's own parser. */
function instructionsIn(text: string): Instruction[] {
  const lines = text.split("\n").filter((line) => !/^\s*(#|$)/.test(line));
  const whole = lines.join("\n").replaceAll(/\\\n/g, "").split("\n");
  return whole.map((line) => {
    const [, name = "", rest = ""] = /^([A-Z]+)\s+(\S.*)$/.exec(line.trim()) ?? [];
    return { name, rest };
  });
}

const dockerfile = instructionsIn(read(`${FOLDER}/Dockerfile`));
const all = (name: string) => dockerfile.filter((one) => one.name === name).map(({ rest }) => rest);

/** What Docker's own language server has to say, in words. */
function faults(text: string): string[] {
  return validate(text).map(({ message, range }) => `line ${range.start.line + 1}: ${message}`);
}

test("the Dockerfile is one: the linter finds nothing, and it has a pinned base, files that are there, and commands as lists", () => {
  expect(faults(read(`${FOLDER}/Dockerfile`))).toEqual([]);
  expect(all("FROM")).toEqual([expect.stringMatching(/^[a-z0-9./-]+:\d[\w.-]+$/)]); // No `latest`, and no tag that is none.
  for (const copied of all("COPY")) {
    const sources = copied.split(/\s+/).slice(0, -1);
    expect(sources.filter((source) => !existsSync(join(ROOT, source)))).toEqual([]);
  }
  for (const name of ["ENTRYPOINT", "CMD"])
    expect(all(name).map((rest) => Array.isArray(JSON.parse(rest)))).toEqual([true]);
  expect(all("ADD")).toEqual([]); // COPY says what it does.
});

test("nothing runs as root, and the relay's home is the volume, made for its user", () => {
  expect(all("USER")).toEqual(["node"]);
  const after = dockerfile.slice(dockerfile.findIndex(({ name }) => name === "USER"));
  expect(after.filter(({ name }) => name === "RUN" || name === "COPY")).toEqual([]);
  const [home = ""] = all("VOLUME");
  expect(all("ENV")).toContain(`XDG_STATE_HOME=${home.replace("/holdfast-relay", "")}`);
  expect(all("RUN").at(-1)).toContain(`install -d -m 0700 -o node -g node ${home}`);
});

test("the compose file builds that Dockerfile, and its ports, volume and flags fit it", () => {
  const { services, volumes } = parse(read(`${FOLDER}/compose.yml`), { strict: true, uniqueKeys: true });
  expect(Object.keys(services)).toEqual(["relay"]);
  const { build, command, ports, volumes: mounts, ...rest } = services.relay;
  expect(existsSync(join(ROOT, FOLDER, build.context, build.dockerfile))).toBe(true);
  const inside = ports.map((port: string) => port.split(":").at(-1));
  expect(inside).toEqual(all("EXPOSE")[0]?.split(" "));
  const listening = command.filter((flag: string) => /^--(listen|https)=/.test(flag));
  expect(listening.map((flag: string) => flag.split(":").at(-1))).toEqual(inside);
  const [home, certificates] = mounts.map((mount: string) => mount.split(":"));
  expect([Object.keys(volumes), home]).toEqual([["home"], ["home", all("VOLUME")[0]]]);
  expect(certificates.at(-1)).toBe("ro");
  for (const name of ["cert", "key"])
    expect(command.some((flag: string) => flag.startsWith(`--${name}=${certificates[1]}/`))).toBe(true);
  const known = ["cap_drop", "init", "read_only", "restart", "security_opt", "tmpfs"];
  expect(Object.keys(rest).sort()).toEqual(known);
  expect(rest).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
});

test("a mistake in either is noticed", () => {
  expect(faults("FROM x:1\nCOPPY a b\nEXPOSE 70x\n")).toEqual([
    "line 2: Unknown instruction: COPPY",
    "line 3: Invalid containerPort: 70x",
  ]);
  expect(() => parse("services:\n  relay: 1\n  relay: 2\n", { uniqueKeys: true })).toThrow("unique");
});
