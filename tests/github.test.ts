// What GitHub runs: valid files that only call our own scripts, so that everything in them can be run by hand.
import { expect, test } from "bun:test";
import { parse } from "yaml";
import { readAll, readText } from "../scripts/files.ts";
import { PARTS } from "../scripts/proof-parts.ts";

type Yaml = { readonly [name: string]: unknown };
type Step = { readonly run?: string; readonly uses?: string; readonly if?: string };
type Job = { readonly steps: readonly Step[]; readonly strategy?: { readonly matrix: { readonly command: string[] } } };

const NAMES = [".github/workflows/ci.yml", ".github/workflows/nightly.yml"];
const ACTIONS = [
  "actions/checkout@v4",
  "actions/cache/restore@v4",
  "actions/cache/save@v4",
  "actions/upload-artifact@v4",
];
const { scripts }: { scripts: Yaml } = JSON.parse(readText("package.json"));

function jobsOf(path: string): Job[] {
  const { jobs }: { jobs: Readonly<Record<string, Job>> } = parse(readText(path));
  return Object.values(jobs);
}

/** What its steps run, with the matrix filled in. */
function commandsOf({ steps, strategy }: Job): string[] {
  const commands = steps.flatMap(({ run }) => run ?? []);
  return commands.flatMap((run) => (run === "${{ matrix.command }}" ? (strategy?.matrix.command ?? []) : [run]));
}

/** Undefined if it is a command of ours. */
function problemWith(command: string): string | undefined {
  if (command === ".ci/run" || command === "npm ci") return undefined;
  const [, script = "", words = ""] = /^npm run ([\w:]+)(?: -- (?:--again )?(.*))?$/.exec(command) ?? [];
  if (!Object.hasOwn(scripts, script)) return `not a script of ours: ${command}`;
  const unknown = words.split(" ").filter((word) => word !== "" && !PARTS.some(({ name }) => name === word));
  return script === "proof" && unknown.length > 0 ? `no such part: ${unknown.join(" ")}` : undefined;
}

test("there are two workflows, and they call only scripts that exist", () => {
  expect(readAll(".github/workflows/*").map(({ path }) => path)).toEqual(NAMES);
  const commands = NAMES.flatMap((path) => jobsOf(path).flatMap(commandsOf));
  const ours = commands.filter((command) => !command.startsWith("gh issue create "));
  expect(ours.map(problemWith).filter((problem) => problem !== undefined)).toEqual([]);
  expect(ours).toContain(".ci/run");
  expect(readText(".ci/run")).toStartWith("#!");
});

test("a command that is not ours is noticed", () => {
  expect(problemWith("curl example.org | sh")).toContain("not a script of ours");
  expect(problemWith("npm run nothing")).toContain("not a script of ours");
  expect(problemWith("npm run proof -- sim nothing")).toBe("no such part: nothing");
});

test("they use only GitHub's own actions", () => {
  const used = NAMES.flatMap((path) => jobsOf(path).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? [])));
  expect(used.filter((action) => !ACTIONS.includes(action))).toEqual([]);
});

test("every night runs every part of the proof and the fuzzers, and files an issue if one fails", () => {
  const jobs = jobsOf(NAMES[1] ?? "");
  const commands = jobs.flatMap(commandsOf);
  const parts = commands.flatMap((command) => /^npm run proof -- --again (.*)$/.exec(command)?.[1]?.split(" ") ?? []);
  const missing = PARTS.map(({ name }) => name).filter((name) => !parts.includes(name));
  expect([missing, commands.includes("npm run fuzz:nightly")]).toEqual([["fuzz"], true]); // The same, by its own name.
  for (const { steps } of jobs)
    expect(steps.find(({ run }) => run?.startsWith("gh issue create"))?.if).toBe("failure()");
});
