// `holdfast service status`: whether the service is installed, enabled and active, and outlives the login. It only
// looks.

import { ok } from "../../base/result.ts";
import { visible, visibleLine } from "../../base/visible.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { chosenHome, meantHome } from "../home.ts";
import { PACKAGED_UNIT, packagedUnit } from "./packaged.ts";
import { installedText, serviceFacts, unitPath } from "./place.ts";
import { Systemd } from "./systemd.ts";
import { doTheSame, homeInUnit, unitText } from "./unit.ts";

export type ServiceState = {
  readonly manager: "systemd";
  /** Why the manager cannot be asked; null if it answers. */
  readonly unreachable: string | null;
  readonly unit: string | null;
  readonly installed: boolean;
  /** Whether the unit does the same as one that `install` would write now; false if Holdfast was moved. */
  readonly current: boolean;
  readonly enabled: boolean;
  readonly active: boolean;
  readonly state: string | null;
  readonly pid: number | null;
  readonly linger: boolean | null;
  /** The home the unit is for. */
  readonly home: string | null;
};

export async function serviceState(world: DaemonCommandWorld): Promise<ServiceState> {
  const systemd = new Systemd(world);
  const [unit, linger] = await Promise.all([systemd.unit(), systemd.linger()]);
  const { path, text, home, current } = unitInUse(world, unit.ok && unit.value.enabled);
  return {
    manager: "systemd",
    unreachable: unit.ok ? null : unit.error.message,
    unit: path ?? null,
    installed: text !== undefined,
    current,
    enabled: unit.ok && unit.value.enabled,
    active: unit.ok && unit.value.active,
    state: unit.ok ? unit.value.state : null,
    pid: unit.ok ? unit.value.pid : null,
    linger: linger ?? null,
    home: home ?? null,
  };
}

/** The package's unit counts only if it is enabled, and no other one takes its place. */
function unitInUse(world: DaemonCommandWorld, isEnabled: boolean) {
  const path = unitPath(world);
  const text = path === undefined ? undefined : installedText(world, path);
  const packaged = text === undefined && isEnabled ? installedText(world, PACKAGED_UNIT) : undefined;
  if (packaged !== undefined)
    return {
      path: PACKAGED_UNIT,
      text: packaged,
      home: chosenHome(world.console, undefined),
      current: packaged === packagedUnit(),
    };
  const home = homeInUnit(text ?? "");
  const current = home !== undefined && doTheSame(text ?? "", unitText(serviceFacts(world, home)));
  return { path, text, home, current };
}

async function status(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const state = await serviceState(world);
  const text = flags.json ? visibleLine(JSON.stringify(state)) : visible(words(state).join("\n"));
  await world.console.out.write(`${text}\n`);
  return ok(EXIT.ok);
}

function words({ unreachable, unit, installed, current, enabled, active, state, pid, linger, home }: ServiceState) {
  const answer = (is: boolean | null) => (is === null ? "unknown" : is ? "yes" : "no");
  if (!installed && unreachable !== null)
    return ["installed  no", unreachable, "  → holdfast up   works without a service"];
  if (!installed) return ["installed  no", "  → holdfast service install"];
  return [
    `installed  ${unit}`,
    `home       ${home ?? "not ours"}`,
    ...(unreachable === null ? [] : [`systemd    ${unreachable}`]),
    `enabled    ${answer(enabled)}`,
    `active     ${answer(active)}${state === null ? "" : ` (${state}${pid === null ? "" : `, pid ${pid}`})`}`,
    `linger     ${answer(linger)}`,
    ...(current && enabled && linger === true ? [] : ["  → holdfast service install"]),
  ];
}

export const serviceStatusCommand = withDaemonWorld(status);
