// The rules of CONTRIBUTING.md that a text can break, each as a function from a file to its violations. They read text,
// not syntax trees: simple enough to be seen through, and each is proved to bite by a bad sample.
import { isTest, type SourceFile } from "../../scripts/files.ts";
import { hasReason } from "../../scripts/junit.ts";
import { requirementsIn, testNames } from "../../scripts/test-names.ts";
import { codeOf, commentsOf, lineOf, withoutComments } from "./source.ts";

export type Violation = { readonly path: string; readonly line: number; readonly what: string };
export type Rule = (file: SourceFile) => Violation[];

/** More than this cannot be read in one go; 50 to 200 is what we aim at. */
const MAX_LINES = 400;

/** The room that may touch the outside, and the command line's program, which may touch `process` alone. */
const DOORS = "src/world/";
/** The page runs in a browser, where world/ does not: its doors are this file. Only its room knows the document, since
 *  the types of browsers are only known there (src/page/tsconfig.json). */
const PAGE_DOORS = "src/page/browser.ts";
const ENTRY = "src/cli/program.ts";

const OUTSIDE: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["Bun", /\bBun\./g],
  ["the wall clock", /\bDate\.now\b|\bnew Date\(\s*\)|\bnew Date\b(?!\s*\()/g],
  ["chance", /\bMath\.random\b|\bcrypto\.(?:getRandomValues|randomUUID)\b/g],
  ["timers", /\b(?:setTimeout|setInterval|setImmediate|queueMicrotask)\b/g],
  ["performance", /\bperformance\./g],
  ["the network", /(?<![.\w])fetch\s*\(|\bnew WebSocket\b/g],
];

export const onlyWorldTouchesTheOutside: Rule = (file) => {
  if (!isSource(file.path) || file.path.startsWith(DOORS) || file.path === PAGE_DOORS) return [];
  const code = codeOf(file.text);
  const found = OUTSIDE.flatMap(([what, pattern]) => find(file, code, pattern, `touches ${what} outside world/`));
  const modules = /\b(?:from|import)\s*\(?\s*["'](?:node:[^"']+|bun|bun:[^"']+)["']/g;
  found.push(...find(file, withoutComments(file.text), modules, "imports a system module outside world/"));
  if (file.path === ENTRY) return found;
  return [...found, ...find(file, code, /(?<![.\w])process\./g, "touches process outside world/")];
};

/** Wider than this, a comment cannot be read beside another file. */
const MAX_COLUMNS = 120;

export const commentsAreNarrow: Rule = (file) => {
  if (!isTypeScript(file.path)) return [];
  return file.text.split("\n").flatMap((line, index) => {
    const isWide = line.length > MAX_COLUMNS && /^\s*(?:\/\/|\/\*\*|\* )/.test(line) && !line.includes("://");
    return isWide ? [{ path: file.path, line: index + 1, what: `has a comment of ${line.length} columns` }] : [];
  });
};

/** What another process may change at any moment: its state in /proc, and everything that tmux says. */
const OTHERS_STATE =
  /\bexpect\([^\n]*(?:readProc\(|\/proc\/|(?<!world\.)\bprocesses\.(?:alive|startTime|foreground)\(|\.tmux\(|\bisGone\()[^\n]*/g;
/** Simulated processes, the tests of these very functions, and the samples of this rule. */
const ITS_OWN_SUBJECT = /^(?:tests\/(?:sim|world)\/|src\/world\/|tests\/tidy)/;
const SETTLED = /\/\/ Settled: \S/;

/** A single look proves nothing about a process that is still changing: wait with `until`, or say why it is settled. */
export const looksAtOthersWait: Rule = (file) => {
  if (!isTest(file.path) || ITS_OWN_SUBJECT.test(file.path)) return [];
  const lines = file.text.split("\n");
  return [...withoutComments(file.text).matchAll(OTHERS_STATE)].flatMap((match) => {
    const line = lineOf(file.text, match.index);
    const isSettled = [lines[line - 1], lines[line - 2]].some((text) => SETTLED.test(text ?? ""));
    return isSettled ? [] : [{ path: file.path, line, what: "looks once at another process: use `until`" }];
  });
};

export const startsWithHeader: Rule = (file) => {
  if (!isSource(file.path) || /^(?:#![^\n]*\n)?\/\/ \S/.test(file.text)) return [];
  return [{ path: file.path, line: 1, what: "has no header that says what it is" }];
};

export const noLeftovers: Rule = (file) => {
  if (!isTypeScript(file.path)) return [];
  const code = codeOf(file.text);
  const found = [
    ...find(file, commentsOf(file.text), /\b(?:TODO|FIXME|XXX)\b/g, "has a leftover note"),
    ...find(file, code, /\bdebugger\b/g, "stops in the debugger"),
    ...find(file, code, /\.only\s*\(/g, "runs only one test"),
  ];
  if (!isSource(file.path) || /^src\/(cli|drill)\//.test(file.path)) return found;
  return [...found, ...find(file, code, /\bconsole\./g, "writes to the console")];
};

/** The name of a test that may be skipped says what it needs, so that the reason is printed with it. */
export const skipsSayWhy: Rule = (file) => {
  if (!isTest(file.path)) return [];
  const skip = /(?<![.\w])(?:test|it|describe)(?:\.\w+)*\.(?:skip|skipIf|if|todo|todoIf)\b/g;
  return [...codeOf(file.text).matchAll(skip)]
    .filter((match) => !hasReason(testNames(file.text.slice(match.index))[0] ?? ""))
    .map((match) => at(file, file.text, match.index, 'may be skipped, but its name has no "(needs …)"'));
};

export const plainShapes: Rule = (file) => {
  if (!isTypeScript(file.path)) return [];
  const code = codeOf(file.text);
  return [
    ...find(file, code, /\bexport\s+default\b/g, "has a default export"),
    ...find(file, code, /\bexport\s+\*/g, "re-exports a whole file"),
    ...find(file, code, /(?<![.\w])(?:const\s+)?enum\s+\w/g, "has an enum"),
    ...find(file, code, /[:<,|&(=]\s*any\b(?!\s*[:(])|\bany\[\]/g, "uses any"),
    ...find(file, code, /\bcatch\s*(?:\([^)]*\))?\s*\{\s*\}/g, "swallows an error"),
    ...swallowedRejections(file, code),
  ];
};

/** A rejection that is reported elsewhere may be dropped here, but only under a comment that says where. */
function swallowedRejections(file: SourceFile, code: string): Violation[] {
  const lines = file.text.split("\n");
  const dropped = /\.catch\(\s*\(?\w*\)?\s*=>\s*(?:\{\s*\}|undefined|null)\s*\)/g;
  return find(file, code, dropped, "swallows a rejection without saying why").filter(({ line }) => {
    const here = lines[line - 1] ?? "";
    return !here.includes("// ") && !lines[line - 2]?.trim().startsWith("//");
  });
}

/** wire/ turns the unknown into types, and world/ meets foreign code at the edge: only there may a type be claimed. */
export const noCasts: Rule = (file) => {
  if (!isSource(file.path) || file.path.startsWith("src/wire/") || file.path.startsWith(DOORS)) return [];
  // In imports and exports `as` is a rename.
  const code = codeOf(file.text).replace(/\b(?:import|export)\s*(?:type\s*)?[{*][^;]*?;/g, (rename) =>
    rename.replace(/\bas\b/g, "  "),
  );
  return find(file, code, /(?<=[\w)\]}"'`>]\s+)as\s+(?!const\b)(?=[\w{["'(])/g, "casts with `as` outside wire/");
};

/** Both write in place and without fsync: a crash leaves half a file. */
export const noWritesInPlace: Rule = (file) => {
  if (!isSource(file.path)) return [];
  return find(
    file,
    codeOf(file.text),
    /\b(?:writeFile|writeFileSync|appendFile|appendFileSync)\b|\bBun\.write\b/g,
    "writes in place",
  );
};

export const notTooLong: Rule = (file) => {
  const lines = file.text.split("\n").length - 1;
  if (!isTypeScript(file.path) || lines <= MAX_LINES) return [];
  return [{ path: file.path, line: MAX_LINES, what: `has ${lines} lines; ${MAX_LINES} is the limit` }];
};

/**
 * A clone works on any machine, behind any registry. On a simulated disk "home" is a home of Holdfast's, not a
 * person's.
 */
export const noMachineOrRegistry: Rule = (file) => {
  const simulated = isTest(file.path) || file.path.startsWith("tests/sim/");
  const places = simulated ? /(?<![\w.~$})\]\\-])\/(?:work|root)\/\w/g : /(?<![\w.~$})\]\\-])\/(?:work|root|home)\/\w/g;
  const registries = /\bregistry\.[\w-]+\.\w+|\/\/[^\s"'/]*\b(?:npmjs|npmmirror|artifactory|verdaccio)\b/g;
  return [
    ...find(file, file.text, places, "names a path of one machine"),
    ...find(file, file.text, registries, "names a registry"),
  ];
};

export function knownRequirements(known: ReadonlySet<string>): Rule {
  return (file) => {
    if (!isTest(file.path)) return [];
    const unknown = testNames(file.text).flatMap((name) => requirementsIn(name).filter((id) => !known.has(id)));
    const what = (id: string) => `claims ${id}, which is no clause of docs/requirements.tsv`;
    return unknown.map((id) => at(file, file.text, file.text.indexOf(id.replace(/[a-z]$/, "")), what(id)));
  };
}

function isSource(path: string): boolean {
  return path.startsWith("src/") && isTypeScript(path) && !isTest(path);
}

function isTypeScript(path: string): boolean {
  return /\.tsx?$/.test(path);
}

function find(file: SourceFile, text: string, pattern: RegExp, what: string): Violation[] {
  return [...text.matchAll(pattern)].map((match) => at(file, text, match.index, `${what}: ${match[0].trim()}`));
}

function at(file: SourceFile, text: string, index: number, what: string): Violation {
  return { path: file.path, line: lineOf(text, index), what };
}
