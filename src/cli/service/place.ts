// Where the service's unit lies, and what is written there.

import { joinPath } from "../../base/path.ts";
import { logPath } from "../../home/run-log.ts";
import { readWhole } from "../../log/file/file.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { type ServiceFacts, serviceEnvironment, UNIT_NAME } from "./unit.ts";

/** In ~/.config whatever XDG_CONFIG_HOME says here: what a shell sets, the manager, which starts before any shell, does not know. */
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
    start: self.command("src/watchdog/main.ts", home),
    condition: self.command("src/cli/main.ts", "__ready", "--home", home),
    home,
    log: logPath(home),
    environment: serviceEnvironment(self.environment(), home),
  };
}
