// kill -9 of relay, web host, daemon and device between every two messages of a prompt that is answered from afar
// (kill-points.ts). The gate tries a quarter of the messages with each of them, others for each commit.
import { describe, test } from "bun:test";
import { sampleOf } from "../sim/fuzz/profile.ts";
import { killedAt, MESSAGES, VICTIMS } from "./kill-points.ts";

describe.each(VICTIMS)("with the %s killed", (victim) => {
  test.each(sampleOf(MESSAGES, 4, VICTIMS.indexOf(victim)))(
    "PR-3(b) a prompt is delivered exactly once or shown as waiting: %s",
    (message) => killedAt(victim, message),
  );
});
