// The path of the service's unit, and its text.

import { joinPath } from "../../base/path.ts";
import { logPath } from "../../home/run-log.ts";
import { readWhole } from "../../log/file/file.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { type ServiceFacts, serviceEnvironment, UNIT_NAME } from "./unit.ts";

/** Always ~/.config: the manager starts before any shell, so it does not know a shell's XDG_CONFIG_HOME. */
export function unitPath({ console }: DaemonCommandWorld): string | undefined {
  const user = console.env("HOME");
  return user?.startsWith("/") ? joinPath(user, `.config/systemd/user/${UNIT_NAME}`) : undefined;
}

export function installedText({ disk }: DaemonCommandWorld, path: string): string | undefined {
  const bytes = readWhole(disk, path);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

export function serviceFacts({ self }: DaemonCommandWorld, home: string): ServiceFacts {
  return {
    start: self.lasting("src/watchdog/main.ts", home),
    condition: self.lasting("src/cli/main.ts", "__ready", "--home", home),
    home,
    log: logPath(home),
    environment: serviceEnvironment(self.environment(), home),
  };
}
