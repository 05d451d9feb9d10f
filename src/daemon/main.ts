// The entry point of the daemon: `bun src/daemon/main.ts HOME`. Runs program.ts, from its bundle if that is up to date.
import { builtProgram } from "../world/built.ts";

void import(builtProgram("daemon") ?? "./program.ts");
