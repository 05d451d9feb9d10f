// The entry of the web host: `bun src/web/main.ts HOME`. It runs program.ts, or its bundle if that is current.
import { builtProgram } from "../world/built.ts";

void import(builtProgram("web") ?? "./program.ts");
