// The entry of the daemon: `bun src/daemon/main.ts HOME`. It is program.ts, from one file where that is up to date.
import { builtProgram } from "../world/built.ts";

void import(builtProgram("daemon") ?? "./program.ts");
