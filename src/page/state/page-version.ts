// Whether the page is as old as its home: a kept copy of the page, or a relay's, may be of another version.
// PV1. A page that finds this out when it starts loads itself again from the network, once, without what is kept of it.
//      One that is in use only says so: what is typed there must not be lost.
// PV2. If that does not help, everyone sees it: messages are only ever added to, so both go on with what they know.
import { signal } from "@preact/signals";
import { VERSION } from "../../wire/version.ts";
import { reloadFresh } from "../browser.ts";

/** The version of the home, if it is not the page's. */
export const otherVersion = signal<string | undefined>(undefined);
let isStarting = true;

export function compareVersions(home: string): void {
  otherVersion.value = home === VERSION ? undefined : home;
  if (home !== VERSION && isStarting) void reloadFresh(home); // PV1
  isStarting = false;
}
