// What this browser may do. It is offered nothing else; who refuses the rest is not the page.
// RG1. A browser of this machine may do everything, so nothing waits until its host has answered. A device that came
//      through a relay may do nothing until its home has said what it may; what it said stays while it is away.
import { computed, signal } from "@preact/signals";
import { type DeviceRights, deviceMayType } from "../../core/devices.ts";
import type { Welcome } from "../../wire/page/client.ts";
import type { PageMethods } from "../../wire/page/messages.ts";
import { pageMay } from "../../wire/page/rights.ts";
import { isRemote } from "../browser.ts";

export type Method = keyof PageMethods;

/** RG1 */
export const rights = signal<DeviceRights | undefined>(isRemote ? undefined : "type");
/** The id of this browser, among the devices of its home. */
export const thisDevice = signal<string | undefined>(undefined);

export function welcomed(welcome: Pick<Welcome, "device" | "rights">): void {
  rights.value = welcome.rights;
  thisDevice.value = welcome.device;
}

export function may(method: Method): boolean {
  return rights.value !== undefined && pageMay(rights.value, method);
}

/** Undefined until it is known. */
export const mayType = computed(() => rights.value && deviceMayType(rights.value));

const WORDS: Readonly<Record<DeviceRights, string>> = {
  look: "may look",
  answer: "may look, answer prompts and decide on steps",
  type: "may do everything",
};

export function rightsText(of: DeviceRights): string {
  return WORDS[of];
}
