// The commands of a home's tunnel to a relay, and of the devices that come through it: names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { DeviceRights } from "../../core/devices.ts";
import type { Context } from "../command-world.ts";
import { type DataFlags, described, flag, home, text, textFlag } from "../flags.ts";
import type { EnrollFlags } from "./enroll.ts";
import type { PairFlags } from "./pair.ts";

/** Not imported: this file is loaded by every command. */
const RIGHTS = ["look", "answer", "type"] as const satisfies readonly DeviceRights[];
const STATUS = "{enrolled, relay, id, wanted, state, since, why, dialAt, url, certificateUntil, authorityUntil, next}";

const enroll = buildCommand<EnrollFlags, [string, string], Context>({
  loader: async () => (await import("./enroll.ts")).enrollCommand,
  parameters: {
    flags: {
      home,
      name: textFlag("name", "What the relay calls this home [default = the machine's name]"),
      json: flag("One JSON object {id, relay}"),
    },
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: text,
          placeholder: "relay",
          brief: "Where homes reach the relay: a name, and :port unless it is 7443",
        },
        { parse: text, placeholder: "token", brief: "What `holdfast relay token` printed there" },
      ],
    },
  },
  docs: described(
    "Enrol this home at a relay, so that your devices reach it without an open port",
    "The home makes a key, which never leaves it, and gets a certificate that it renews by itself. From then on it",
    "connects to the relay whenever Holdfast is up. A home has one relay: enrolling again replaces the enrolment.",
  ),
});

const status = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./status.ts")).statusCommand,
  parameters: { flags: { home, json: flag(`One JSON object ${STATUS}`) } },
  docs: { brief: "Show whether this home is connected to its relay, and why not" },
});

const on = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./status.ts")).onCommand,
  parameters: { flags: { home, json: flag("One JSON object {wanted}") } },
  docs: { brief: "Connect to the relay from now on" },
});

const off = buildCommand<DataFlags, [], Context>({
  loader: async () => (await import("./status.ts")).offCommand,
  parameters: { flags: { home, json: flag("One JSON object {wanted}") } },
  docs: { brief: "Disconnect from the relay, until `tunnel on`" },
});

const pair = buildCommand<PairFlags, [], Context>({
  loader: async () => (await import("./pair.ts")).pairCommand,
  parameters: {
    flags: {
      home,
      rights: {
        ...{ kind: "enum", values: RIGHTS, default: "type" },
        brief: "look: see everything; answer: also prompts and uncertain steps; type: everything on the page",
      },
      name: textFlag("name", "What `holdfast devices` calls it"),
      page: textFlag("url", "Where the page of `holdfast page export` is served [default = at the relay]"),
      json: flag("One JSON object {url, rights, until}"),
    },
  },
  docs: described(
    "Print a link that lets one phone or browser reach this home through its relay",
    "The link works once, for ten minutes. Open it on the device, and show it to nobody else: its secret is behind the",
    "#, which browsers send nowhere. What the device and this home say to each other is encrypted, and the relay cannot",
    "read it. `holdfast devices` lists the devices and signs them out. Agents get no link.",
  ),
});

const tunnel = buildRouteMap({
  routes: { enroll, status, on, off },
  docs: { brief: "The way to this home from anywhere, through a relay: enroll, status, on, off" },
});

export const tunnelRoutes = { tunnel, pair };
