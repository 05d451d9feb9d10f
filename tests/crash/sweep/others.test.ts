// Calls of the other real programs fail, while they start and while they work: the watchdog, a holder, the page's host
// and the screen program.
import { sweepTests } from "./sweep.ts";

sweepTests(["watchdog", "holder", "web", "screen"]);
