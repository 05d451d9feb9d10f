// The unit that comes with the Debian package (scripts/deb.ts): `systemctl --user enable --now holdfast` turns it on.
// PU1. It is for everyone's usual home, and has the environment of the user's manager. `holdfast service install`
//      writes a unit that has the shell's, and takes its place.
// PU2. Nobody has installed it in a home, so it says where it is at each start (RY3 of ready.ts).
// PU3. The log's directory is made before the first start (RY3), and systemd would open the log before that. So a shell
//      opens it, and becomes the watchdog.
import { INSIDE } from "../../base/bun.ts";
import { RUN_LOG } from "../../home/layout.ts";
import { unitText } from "./unit.ts";

export const PACKAGED_UNIT = "/usr/lib/systemd/user/holdfast.service";
export const PACKAGED_BINARY = "/usr/bin/holdfast";

const HOME = '"${HOLDFAST_HOME:-${XDG_STATE_HOME:-$HOME/.local/state}/holdfast}"';
/** PU3 */
const WATCHDOG = `home=${HOME}; exec "$0" "$1" "$home" >>"$home/${RUN_LOG}" 2>&1`;

export function packagedUnit(): string {
  const written =
    "# The unit of the package. `holdfast service install` writes one that takes its place, with your shell's PATH.";
  return unitText({
    written,
    start: ["/bin/sh", "-c", WATCHDOG, PACKAGED_BINARY, `${INSIDE}src/watchdog/main.ts`],
    condition: [PACKAGED_BINARY, "__ready", "--unit", PACKAGED_UNIT],
    environment: {},
  });
}
