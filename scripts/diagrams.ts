// Writes docs/STATE_MACHINES.md: a Mermaid diagram of every machine that src/ exports. `--check` only compares.
// S1. Only files that export a machine are loaded, and those must do nothing when loaded.
import { type Machine, toMermaid } from "../src/base/machine.ts";
import { isTest, publish, ROOT, readAll, type SourceFile } from "./files.ts";

const EXPORTED = /^export const (\w+) = machine\b/gm;

function isMachine(value: unknown): value is Machine<string, string> {
  return typeof value === "object" && value !== null && "table" in value && "states" in value && "next" in value;
}

async function section(file: SourceFile, name: string): Promise<string> {
  const module: Record<string, unknown> = await import(`${ROOT}/${file.path}`);
  const found = module[name];
  if (!isMachine(found)) throw new Error(`${file.path} exports ${name}, but it is no machine`);
  return `## ${found.name}\n\n\`${name}\` in \`${file.path}\`.\n\n\`\`\`mermaid\n${toMermaid(found)}\`\`\`\n`;
}

const sections: string[] = [];
for (const file of readAll("src/**/*.ts").filter((file) => !isTest(file.path))) {
  for (const [, name = ""] of file.text.matchAll(EXPORTED)) sections.push(await section(file, name));
}
const intro =
  "# State machines\n\nGenerated from the tables in the code by `npm run docs`; CI fails where it is out of date.\n";
const current = publish({ path: "docs/STATE_MACHINES.md", text: [intro, ...sections].join("\n") }, Bun.argv.slice(2));
process.exit(current ? 0 : 1);
