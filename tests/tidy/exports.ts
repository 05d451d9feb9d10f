// No dead exports in src/: what a file offers is used by the product, by a script or by a benchmark. A test alone does
// not count, because nothing would be missing without both.
import { isTest, type SourceFile } from "../../scripts/files.ts";
import { codeOf } from "./source.ts";

const EXPORT = /^export (?:abstract |async )*(?:class|const|function\*?|let|type) (\w+)/gm;
const USERS = /^(?:bench|scripts|src)\/.*\.tsx?$/;

/** Each unused export as `path: name`. A use is a second mention anywhere: a name is rarely given twice. */
export function deadExports(files: readonly SourceFile[]): string[] {
  const users = files.filter(({ path }) => USERS.test(path) && !isTest(path));
  const mentions = new Map<string, number>();
  for (const { text } of users)
    for (const [word] of codeOf(text).matchAll(/\w+/g)) mentions.set(word, (mentions.get(word) ?? 0) + 1);
  const exports = users.filter(({ path }) => path.startsWith("src/"));
  return exports.flatMap(({ path, text }) => {
    const names = [...text.matchAll(EXPORT)].map(([, name = ""]) => name);
    return names.filter((name) => (mentions.get(name) ?? 0) < 2).map((name) => `${path}: ${name}`);
  });
}
