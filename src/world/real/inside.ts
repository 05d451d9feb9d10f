// The entry of our single binary (scripts/binary.ts): the first word chooses one of the programs inside. Only `Self`
// makes such a word; with any other, the command line runs.
import { INSIDE } from "../../base/bun.ts";
import { programs } from "./inside-programs.ts";

const COMMAND_LINE = "src/cli/main.ts";

const word = process.argv[2] ?? "";
const entry = word.startsWith(INSIDE) ? word.slice(INSIDE.length) : "";
const isNamed = Object.hasOwn(programs, entry);
const chosen = isNamed ? entry : COMMAND_LINE;
if (isNamed) process.argv.splice(1, 1); // The program's own arguments begin at the same place as from the sources.
if (chosen !== COMMAND_LINE) Bun.unsafe.setJITPolicy(1); // S5 of self.ts: the build made the compilers begin late.
void programs[chosen]?.();
