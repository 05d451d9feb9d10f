// The entry of the watchdog: `bun src/watchdog/main.ts HOME`. It runs program.ts, or its bundle if that is current.
import { builtProgram } from "../world/built.ts";

void import(builtProgram("watchdog") ?? "./program.ts");
