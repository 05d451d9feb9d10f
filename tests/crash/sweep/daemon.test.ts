// Calls of a real daemon fail, while it starts and recovers, and while it works.
import { sweepTests } from "./sweep.ts";

sweepTests(["daemon"]);
