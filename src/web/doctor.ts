// `holdfast doctor`, run for the page: its words for a bug report, its checks for the view of this home's health.
// WD1. It comes within a bounded time and has a bounded length: a doctor that hangs is ended.
import { isFault } from "../base/fault.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { fitting } from "../wire/check.ts";
import { decodeLine } from "../wire/lines.ts";
import { DOCTOR, type DoctorCheck } from "../wire/page/messages.ts";
import type { Children } from "../world/children.ts";
import type { Clock } from "../world/clock.ts";
import type { Self } from "../world/self.ts";

const DOCTOR_MS = 20_000;
const MAX_OUTPUT = 256 << 10;

export type DoctorWorld = {
  readonly children: Children;
  readonly clock: Clock;
  readonly self: Self;
  readonly home: string;
};

/** WD1 */
export function doctorSays({ children, clock, self, home }: DoctorWorld, ...flags: readonly string[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const utf8 = new TextDecoder();
  let said = "";
  const output = (bytes: Uint8Array) => {
    if (said.length < MAX_OUTPUT) said += utf8.decode(bytes, { stream: true });
  };
  const env = { ...self.environment(), HOLDFAST_HOME: home, NO_COLOR: "1" };
  const argv = self.command("src/cli/main.ts", "doctor", ...flags);
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

export async function doctorChecks(world: DoctorWorld): Promise<Result<{ readonly checks: readonly DoctorCheck[] }>> {
  const said = await doctorSays(world, "--json");
  const found = fitting(DOCTOR, decodeLine(said.trimEnd()));
  if (found !== undefined) return ok(found);
  return refused("doctor", "The checks did not come to an end.", "Run `holdfast doctor` in a shell: it shows how far.");
}
