// Writes docs/CONFIG.md from the schema of the configuration. `--check` only compares.
import { configReference } from "../src/wire/files/config-show.ts";
import { publish } from "./files.ts";

const current = publish({ path: "docs/CONFIG.md", text: configReference() }, Bun.argv.slice(2));
process.exit(current ? 0 : 1);
