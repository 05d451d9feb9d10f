// The entry of `holdfast`: program.ts, from one file where that is up to date.
import { builtProgram } from "../world/built.ts";

void import(builtProgram("cli") ?? "./program.ts");
