// The entry of the search program: `bun src/search/main.ts`. It runs program.ts, or its bundle if that is current.
import { builtProgram } from "../world/built.ts";

void import(builtProgram("search") ?? "./program.ts");
