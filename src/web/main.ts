// The entry of the web host: `bun src/web/main.ts HOME`. It is program.ts, from one file where that is up to date.
import { builtProgram } from "../world/built.ts";

void import(builtProgram("web") ?? "./program.ts");
