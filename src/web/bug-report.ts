// The text that the page offers for a bug report: versions, the last recoveries and crashes, and what `holdfast doctor`
// says.
// BR1. It names neither this home nor its user, and contains no secret of ours: their paths, names and everything that
//      looks like a token are replaced.
// BR2. It comes within a bounded time and has a bounded length: a doctor that hangs is ended.
import { isFault } from "../base/fault.ts";
import type { WebReports } from "../wire/page/messages.ts";
import { VERSION } from "../wire/version.ts";
import type { Children } from "../world/children.ts";
import type { Clock } from "../world/clock.ts";
import type { Self } from "../world/self.ts";

const DOCTOR_MS = 20_000;
const MAX_OUTPUT = 256 << 10;
/** Older ones say little about a bug of today. */
const MAX_REPORTS = 5;
const SECRET = /\b[0-9a-f]{32,}\b/g;

export type BugReportWorld = {
  readonly children: Children;
  readonly clock: Clock;
  readonly self: Self;
  readonly home: string;
};

export async function bugReport(world: BugReportWorld, { reports, crashes }: WebReports): Promise<string> {
  const doctor = await doctorSays(world);
  const recent = reports.slice(0, MAX_REPORTS);
  const lines = (list: readonly unknown[]) => list.map((one) => JSON.stringify(one)).join("\n") || "none";
  const parts = [
    `Holdfast ${VERSION}`,
    `Last crash of each program:\n${lines(crashes)}`,
    `Last recoveries:\n${lines(recent)}`,
    `holdfast doctor:\n${doctor}`,
  ];
  return redacted(world, `${parts.join("\n\n")}\n`);
}

/** BR2 */
function doctorSays({ children, clock, self, home }: BugReportWorld): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const utf8 = new TextDecoder();
  let said = "";
  const output = (bytes: Uint8Array) => {
    if (said.length < MAX_OUTPUT) said += utf8.decode(bytes, { stream: true });
  };
  const env = { ...self.environment(), HOLDFAST_HOME: home, NO_COLOR: "1" };
  const argv = self.command("src/cli/main.ts", "doctor");
  try {
    const child = children.pipes({ argv, cwd: home, env }, { output, ended: () => resolve(said) });
    child.closeInput();
    clock.after(DOCTOR_MS, () => child.signal("SIGKILL"));
  } catch (error) {
    if (!isFault(error)) throw error;
    resolve(`It could not be started: ${error.message}`);
  }
  return promise;
}

/** BR1. The longer ones first: a home is usually in that of its user. */
function redacted({ self, home }: BugReportWorld, text: string): string {
  const { HOME = "", USER = "" } = self.environment();
  const hidden = text.replaceAll(home, "HOLDFAST_HOME");
  const homeless = HOME.length > 1 ? hidden.replaceAll(HOME, "~") : hidden;
  const nameless =
    USER === "" ? homeless : homeless.replaceAll(new RegExp(`\\b${RegExp.escape(USER)}\\b`, "g"), "USER");
  return nameless.replaceAll(SECRET, (secret) => `${secret.slice(0, 4)}…`);
}
