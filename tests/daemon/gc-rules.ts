// The retention of tests.
import type { Config } from "../../src/wire/files/config-schema.ts";

export const RULES: Config["retention"] = {
  removedDays: 1,
  endedDays: 30,
  tapeBytes: 1_000_000,
  runDays: 30,
  runBytes: 1_000_000,
  agentDays: 30,
  agentBytes: 1_000_000,
  reportDays: 90,
  reports: 50,
  quarantineDays: 90,
  quarantineBytes: 1_000_000,
  histories: 2,
  archiveAfterMin: 60,
  archiveDays: 365,
  archiveBytes: 1e9,
  logDays: 365,
  logBytes: 1e9,
};
