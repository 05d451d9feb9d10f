// The entry of the screen program: `bun src/screen/main.ts`. It runs program.ts, or its bundle if that is current.
import { builtProgram } from "../world/built.ts";

void import(builtProgram("screen") ?? "./program.ts");
