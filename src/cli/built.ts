// The entry of `holdfast` in one file, which scripts/build-cli.ts makes: it starts a third faster than the sources do. Where it is out of date,
// the sources run.
import { sourceInstead } from "../world/built.ts";

const instead = sourceInstead("src/cli/main.ts");
void (instead === undefined ? import("./main.ts") : import(instead));
