// What the launcher starts if it was built: it answers `--version` itself, runs a frequent command from its bundle, and
// leaves everything else to the whole program.
// QK1. Its file waits for the end of the command. Once a first file has run, Bun collects all garbage, which takes as
//      long as half an empty script; before that it only does so if there is need.
import { VERSION } from "../wire/version.ts";
import { endOnErrors, goOnAs, goOnAsWhole, isCurrent } from "../world/quick.ts";
import { realProgram } from "../world/real/program.ts";
import { bundleFor } from "./frequent.ts";

const { args } = realProgram();
const [first = ""] = args;
const isVersion = args.length === 1 && (first === "--version" || first === "-v");
const bundle = bundleFor(args);

endOnErrors((error) => console.error(error));
// The sources of this file are among those of each bundle (scripts/build.ts): one look is enough.
if (!isCurrent(bundle ?? "quick")) await goOnAsWhole();
else if (isVersion) console.log(VERSION);
else if (bundle !== undefined) await goOnAs(bundle);
else await goOnAsWhole();
