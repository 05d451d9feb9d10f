// Writes docs/workflow.schema.json from the table of what a workflow file may contain. `--check` only compares.
import { workflowJsonSchema } from "../src/wire/files/workflow-json-schema.ts";
import { publish } from "./files.ts";

const current = publish({ path: "docs/workflow.schema.json", text: workflowJsonSchema() }, Bun.argv.slice(2));
process.exit(current ? 0 : 1);
