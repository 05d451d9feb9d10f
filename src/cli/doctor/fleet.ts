// The fleet of this host. Without one there is nothing to say, and no database client is loaded.
import { readConfig } from "../../home/start-watchdog.ts";
import type { Finding, Site } from "./check.ts";

export async function checkFleet(site: Site): Promise<readonly Finding[]> {
  const config = readConfig(site.world);
  if (!config.ok || config.value.config.fleet.url === "") return [];
  return (await import("./fleet/all.ts")).checkAll(site, config.value.config.fleet);
}
