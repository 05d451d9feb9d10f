// The pages for people: every link leads somewhere, and no page cites one that the repository does not have.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT, readAll, type SourceFile } from "../scripts/files.ts";

const pages: readonly SourceFile[] = ["*.md", "docs/**/*.md", "examples/**/*.md"].flatMap(readAll);

type Link = { readonly page: string; readonly target: string };

/** Code is not prose: what looks like a link or a page in it belongs to somebody's program. */
function proseOf(text: string): string {
  return text.replaceAll(/^```.*?^```/gms, "");
}

/** Links to this repository, not to the web. */
function linksOf({ path, text }: SourceFile): Link[] {
  const targets = [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  return targets.filter((target) => !target.includes("://")).map((target) => ({ page: path, target }));
}

/** The anchors of a page, as GitHub makes them from headings. */
function anchorsOf(text: string): string[] {
  const headings = [...proseOf(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** Undefined if the link leads somewhere. */
function problemWith({ page, target }: Link): string | undefined {
  const [file = "", anchor] = target.split("#");
  const path = file === "" ? page : join(dirname(page), file);
  if (!existsSync(join(ROOT, path))) return `${page}: there is no ${path}`;
  const text = pages.find((one) => one.path === path)?.text;
  if (anchor === undefined || text === undefined || anchorsOf(text).includes(anchor)) return undefined;
  return `${page}: ${path} has no #${anchor}`;
}

test("every link between pages leads to a file, and to a heading of it", () => {
  const links = pages.flatMap(linksOf);
  expect(links.length).toBeGreaterThan(50);
  expect(links.map(problemWith).filter((problem) => problem !== undefined)).toEqual([]);
});

test("a broken link is noticed", () => {
  const page = pages.find(({ path }) => path === "README.md") ?? { path: "README.md", text: "" };
  const [link] = linksOf({ ...page, text: "[a](docs/NONE.md)" });
  expect(link && problemWith(link)).toBe("README.md: there is no docs/NONE.md");
  expect(problemWith({ page: "README.md", target: "docs/AGENTS.md#none" })).toBe(
    "README.md: docs/AGENTS.md has no #none",
  );
});

test("a page that is named exists", () => {
  const missing = pages.flatMap(({ path, text }) =>
    [...proseOf(text).matchAll(/(?<![\w/-])([A-Za-z_]+\.md)\b/g)]
      .map(([, name = ""]) => name)
      .filter((name) => !["", dirname(path), "docs"].some((folder) => existsSync(join(ROOT, folder, name))))
      .map((name) => `${path}: ${name}`),
  );
  expect(missing).toEqual([]);
});
