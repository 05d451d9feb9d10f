// The entry of the watchdog: `bun src/watchdog/main.ts HOME`. It is program.ts, from one file where that is up to date.
import { builtProgram } from "../world/built.ts";

void import(builtProgram("watchdog") ?? "./program.ts");
