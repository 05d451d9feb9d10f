// Where the service's unit lies, and what is written there.
import { type ServiceFacts, serviceEnvironment, UNIT_NAME } from "../../core/service-unit.ts";
import { joinPath, readWhole } from "../../log/file.ts";
import { logPath } from "../../log/run-log.ts";
import type { Reach } from "../reach.ts";

/** In ~/.config whatever XDG_CONFIG_HOME says here: what a shell sets, the manager, which starts before any shell, does not know. */
export function unitPath({ console }: Reach): string | undefined {
  const user = console.env("HOME");
  return user?.startsWith("/") ? joinPath(user, `.config/systemd/user/${UNIT_NAME}`) : undefined;
}

export function installedText({ disk }: Reach, path: string): string | undefined {
  const bytes = readWhole(disk, path);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

export function serviceFacts({ self }: Reach, home: string): ServiceFacts {
  return {
    start: self.command("src/watchdog/main.ts", home),
    condition: self.command("src/cli/main.ts", "__ready", "--home", home),
    home,
    log: logPath(home),
    environment: serviceEnvironment(self.environment(), home),
  };
}
