// The licences of the packages that are inside of our programs: those of package-lock.json that are no tools. They ask
// to come along with every copy.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, readText } from "./files.ts";

type Locked = { readonly dev?: boolean; readonly optional?: boolean; readonly link?: boolean };
type Package = { readonly name: string; readonly version: string; readonly license: string };

const TEXT = /^(?:licen[cs]e|copyrightnotice)/i;
/** A dependency of its own, which brings its licence. */
const RUNTIME = "node_modules/bun";

/** Each text once, below the names of the packages that have it. */
export function licenses(): string {
  const packages: Readonly<Record<string, Locked>> = JSON.parse(readText("package-lock.json")).packages;
  const inside = Object.keys(packages).filter((path) => isInside(path, packages[path] ?? {}));
  const byText = Map.groupBy(inside, textOf);
  const parts = [...byText].map(([text, paths]) => `${[...new Set(paths.map(nameOf))].join("\n")}\n\n${text}`);
  return ["Holdfast contains these packages.", ...parts].join(`\n\n${"-".repeat(80)}\n\n`).concat("\n");
}

function isInside(path: string, { dev, optional, link }: Locked): boolean {
  return path.startsWith("node_modules/") && path !== RUNTIME && !dev && !optional && !link;
}

function aboutOf(path: string): Package {
  return JSON.parse(readText(join(path, "package.json")));
}

function nameOf(path: string): string {
  const { name, version } = aboutOf(path);
  return `${name} ${version}`;
}

/** Some packages only name their licence. */
function textOf(path: string): string {
  const files = readdirSync(join(ROOT, path)).filter((name) => TEXT.test(name));
  const texts = files.toSorted().map((name) => readFileSync(join(ROOT, path, name), "utf8").trim());
  return texts.length === 0 ? `Licence: ${aboutOf(path).license}` : texts.join("\n\n");
}
