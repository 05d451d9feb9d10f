// What the launcher starts if it was built: it answers `--version` itself, runs a frequent command from its bundle, and
// leaves everything else to the whole program.
import about from "../../package.json" with { type: "json" };
import { goOnAs, goOnAsWhole, isCurrent } from "../world/quick.ts";
import { realProgram } from "../world/real/program.ts";
import { FREQUENT } from "./frequent.ts";

const { args } = realProgram();
const [first = ""] = args;
const bundle = FREQUENT.get(first);

if (!isCurrent("quick")) goOnAsWhole();
else if (args.length === 1 && (first === "--version" || first === "-v")) console.log(about.version);
else if (bundle !== undefined && isCurrent(bundle)) goOnAs(bundle);
else goOnAsWhole();
