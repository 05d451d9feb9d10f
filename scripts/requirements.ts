// Writes docs/REQUIREMENTS.md: clause of a requirement → tests. With `--check` it only compares. Fails if the table and
// the names of the tests do not agree.
import { publish, readAll, readText } from "./files.ts";
import { claimsByClause, clausesOf, groupsOfTsv, problemsOf, toPage } from "./requirement-rows.ts";

const groups = groupsOfTsv(readText("docs/requirements.tsv"));
const claims = claimsByClause([...readAll("src/**/*.test.ts"), ...readAll("tests/**/*.test.ts")]);
const problems = problemsOf(clausesOf(groups), claims);
for (const problem of problems) console.error(`requirements: ${problem}`);
const isCurrent = publish({ path: "docs/REQUIREMENTS.md", text: toPage(groups, claims) }, Bun.argv.slice(2));
process.exit(isCurrent && problems.length === 0 ? 0 : 1);
