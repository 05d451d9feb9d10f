// The entry of the relay: `bun src/relay/main.ts SETTINGS`. It runs program.ts, or its bundle if that is current.
import { builtProgram } from "../world/built.ts";

void import(builtProgram("relay") ?? "./program.ts");
