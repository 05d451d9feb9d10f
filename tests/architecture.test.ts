// docs/ARCHITECTURE.md against the code: what it names exists, and its four walks are no longer than they may be.
// AW1. A hop is one line: "12. `path` `name` — why", where the name is a function, `Class.method` or `Class.#method`.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parse } from "@babel/parser";
import { ROOT, readText } from "../scripts/files.ts";

const page = readText("docs/ARCHITECTURE.md");

/** The most calls that each walk may have. */
const LIMITS = { "A key": 45, "A message": 70, "A step": 74, "A crash": 59 } as const;

type Hop = { readonly number: number; readonly path: string; readonly name: string };

function walkOf(text: string, title: string): { readonly stated: number; readonly hops: readonly Hop[] } {
  const [, stated = "", rest = ""] = new RegExp(`^### ${title}: (\\d+) calls$(.*)`, "ms").exec(text) ?? [];
  const body = rest.split(/^##/m)[0] ?? "";
  const lines = body.matchAll(/^(\d+)\. (?:`([^`]+)` `([^`]+)` — )?/gm); // AW1
  return {
    stated: Number(stated),
    hops: [...lines].map(([, number, path = "", name = ""]) => ({ number: Number(number), path, name })),
  };
}

const DECLARED = new Map<string, ReadonlySet<string>>();

/** Everything a file declares: functions at any depth, and methods under the name of their class. */
function declaredIn(path: string): ReadonlySet<string> {
  const known = DECLARED.get(path);
  if (known !== undefined) return known;
  const { program } = parse(readText(path), { sourceType: "module", plugins: ["typescript", "importAttributes"] });
  const names = new Set(namesIn(program.body, ""));
  DECLARED.set(path, names);
  return names;
}

function* namesIn(value: unknown, owner: string): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  const declared = isNode(value) ? declaredBy(value, owner) : undefined;
  if (declared !== undefined) yield declared;
  const within = isNode(value) && value.type === "ClassDeclaration" ? nameOf(value["id"]) : owner;
  for (const child of Object.values(value)) yield* namesIn(child, within);
}

function declaredBy(node: Node, owner: string): string | undefined {
  if (node.type === "FunctionDeclaration") return nameOf(node["id"]);
  return /^Class(?:Private)?Method$/.test(node.type) ? `${owner}.${nameOf(node["key"])}` : undefined;
}

type Node = { readonly type: string; readonly [key: string]: unknown };

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function nameOf(key: unknown): string {
  if (!isNode(key)) return "";
  if (key.type === "PrivateName") return `#${nameOf(key["id"])}`;
  return typeof key["name"] === "string" ? key["name"] : "";
}

/** What is wrong with a walk; empty if nothing is. */
function problemsWith(text: string, title: keyof typeof LIMITS): string[] {
  const { stated, hops } = walkOf(text, title);
  const problems = hops.flatMap(({ number, path, name }, at) => {
    if (number !== at + 1) return [`${title}: hop ${at + 1} has the number ${number}`];
    if (!path.startsWith("src/") || !existsSync(join(ROOT, path))) return [`${title} ${number}: there is no ${path}`];
    return declaredIn(path).has(name) ? [] : [`${title} ${number}: ${path} declares no ${name}`];
  });
  if (hops.length === 0) problems.push(`${title}: there is no such walk`);
  if (hops.length !== stated) problems.push(`${title}: it has ${hops.length} hops, and says ${stated}`);
  if (hops.length > LIMITS[title]) problems.push(`${title}: ${hops.length} hops, at most ${LIMITS[title]}`);
  return problems;
}

for (const title of ["A key", "A message", "A step", "A crash"] as const) {
  test(`walk "${title}": every hop names a file and a function in it, and there are at most ${LIMITS[title]}`, () => {
    expect(problemsWith(page, title)).toEqual([]);
  });
}

test("a walk that is wrong is noticed: a file, a function, a method of another class, a number, a length", () => {
  const store = "src/daemon/session-store.ts";
  const walk = (hops: readonly string[]) =>
    `### A key: ${hops.length} calls\n\n${hops.join("\n")}\n\n## Next\n\n1. no hop\n`;
  const hop = (path: string, name: string, number = 1) => `${number}. \`${path}\` \`${name}\` — why`;
  expect(problemsWith(walk([hop(store, "SessionStore.submit")]), "A key")).toEqual([]);
  expect(problemsWith(walk([hop(store, "SessionStore.#settle")]), "A key")).toEqual([]);
  expect(problemsWith(walk([hop("src/none.ts", "a")]), "A key")).toEqual(["A key 1: there is no src/none.ts"]);
  for (const name of ["submit", "SessionStore.none", "SessionStore.settle", "Store.submit"])
    expect(problemsWith(walk([hop(store, name)]), "A key")).toEqual([`A key 1: ${store} declares no ${name}`]);
  expect(problemsWith(walk([hop(store, "SessionStore.submit", 2)]), "A key")).toHaveLength(1);
  expect(problemsWith(walk(["1. something else"]), "A key")).toHaveLength(1);
  expect(problemsWith("", "A key")).toHaveLength(1);
  expect(problemsWith(walk([]).replace("0 calls", "1 calls"), "A key")).toHaveLength(2);
  const long = Array.from({ length: LIMITS["A key"] + 1 }, (_, at) => hop(store, "SessionStore.submit", at + 1));
  expect(problemsWith(walk(long), "A key")).toEqual(["A key: 46 hops, at most 45"]);
});

test("every file and folder that the page names exists", () => {
  const named = [...page.matchAll(/`((?:src|tests|docs)\/[\w./-]*)`/g)].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
