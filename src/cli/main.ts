// The entry point of `holdfast`: program.ts, from the single built file if that is up to date.
import { builtProgram } from "../world/built.ts";

void import(builtProgram("cli") ?? "./program.ts");
