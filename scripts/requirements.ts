// Writes docs/REQUIREMENTS.md: requirement row → tests. `--check` only compares; `--refresh` takes the rows anew from
// the shared requirements, where they are next to this repository.
import { publish, ROOT, readAll, readText } from "./files.ts";
import { claimsByRow, rowsOfDocument, rowsOfTsv, toPage, toTsv } from "./requirement-rows.ts";

const ROWS = "docs/requirements.tsv";

async function refresh(): Promise<void> {
  const document = Bun.file(`${ROOT}/../shared/requirements.md`);
  if (!(await document.exists())) return console.log("no ../shared/requirements.md here: the rows stay as they are");
  publish({ path: ROWS, text: toTsv(rowsOfDocument(await document.text())) }, []);
}

const args = Bun.argv.slice(2);
if (args.includes("--refresh")) await refresh();
const rows = rowsOfTsv(readText(ROWS));
const claims = claimsByRow([...readAll("src/**/*.test.ts"), ...readAll("tests/**/*.test.ts")]);
const current = publish({ path: "docs/REQUIREMENTS.md", text: toPage(rows, claims) }, args);
console.log(`requirements: ${rows.filter((row) => claims.has(row.id)).length} of ${rows.length} rows have a test`);
process.exit(current ? 0 : 1);
