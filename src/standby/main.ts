// The entry of the standby program: `bun src/standby/main.ts HOME`. It runs program.ts, or its bundle if that is
// current.
import { builtProgram } from "../world/built.ts";

void import(builtProgram("standby") ?? "./program.ts");
