// Writes docs/CLI.md from the tree of commands, which `--help` prints as well. `--check` only compares.
import { generateHelpTextForAllCommands } from "@stricli/core";
import { appFor } from "../src/cli/app.ts";
import { publish } from "./files.ts";

const app = await appFor();
const intro = `# Command line

Generated from the commands themselves by \`npm run docs\`; CI fails where it is out of date.

${app.root.fullDescription ?? app.root.brief}
`;

const sections = generateHelpTextForAllCommands(app).map(
  ([route, help]) => `## ${route}\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\`\n`,
);
const current = publish({ path: "docs/CLI.md", text: [intro, ...sections].join("\n") }, Bun.argv.slice(2));
process.exit(current ? 0 : 1);
