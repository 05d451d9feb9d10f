// kill -9 of the device between every two messages of a prompt that is answered from afar (kill-points.ts).
import { test } from "bun:test";
import { killedAt, MESSAGES } from "./kill-points.ts";

test.each(MESSAGES)(
  "PR-3(b) with the device killed, a prompt is delivered exactly once or shown as waiting: %s",
  (message) => killedAt("device", message),
);
