// The text that the page offers for a bug report: versions, the last recoveries and crashes, and what `holdfast doctor`
// says.
// BR1. It names neither this home nor its user, and contains no secret of ours: their paths, names and everything that
//      looks like a token are replaced. In a fleet, the checks of it name hosts and homes: people see the text first.
import type { WebReports } from "../wire/page/messages.ts";
import { VERSION } from "../wire/version.ts";
import { type DoctorWorld, doctorSays } from "./doctor.ts";

/** Older ones say little about a bug of today. */
const MAX_REPORTS = 5;
const MAX_CRASHES = 20;
const SECRET = /\b[0-9a-f]{32,}\b/g;

export async function bugReport(world: DoctorWorld, { reports, crashes }: WebReports): Promise<string> {
  const doctor = await doctorSays(world);
  const recent = reports.slice(0, MAX_REPORTS);
  const lines = (list: readonly unknown[]) => list.map((one) => JSON.stringify(one)).join("\n") || "none";
  const parts = [
    `Holdfast ${VERSION}`,
    `Last crashes:\n${lines(crashes.slice(0, MAX_CRASHES))}`,
    `Last recoveries:\n${lines(recent)}`,
    `holdfast doctor:\n${doctor}`,
  ];
  return redacted(world, `${parts.join("\n\n")}\n`);
}

/** BR1. The longer ones first: a home is usually in that of its user. */
function redacted({ self, home }: DoctorWorld, text: string): string {
  const { HOME = "", USER = "" } = self.environment();
  const hidden = text.replaceAll(home, "HOLDFAST_HOME");
  const homeless = HOME.length > 1 ? hidden.replaceAll(HOME, "~") : hidden;
  const nameless =
    USER === "" ? homeless : homeless.replaceAll(new RegExp(`\\b${RegExp.escape(USER)}\\b`, "g"), "USER");
  return nameless.replaceAll(SECRET, (secret) => `${secret.slice(0, 4)}…`);
}
