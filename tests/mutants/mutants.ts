// All mutants, room by room; those of principals, notifications and fleets are of several rooms.
import type { Mutant } from "./mutant.ts";
import { BASE } from "./rooms/base.ts";
import { CLI } from "./rooms/cli.ts";
import { CORE } from "./rooms/core.ts";
import { DAEMON } from "./rooms/daemon.ts";
import { DATABASE } from "./rooms/database.ts";
import { DRILL } from "./rooms/drill.ts";
import { FLEET } from "./rooms/fleet.ts";
import { HOLDER } from "./rooms/holder.ts";
import { HOME } from "./rooms/home.ts";
import { LOG } from "./rooms/log.ts";
import { NOTIFY_MUTANTS } from "./rooms/notify.ts";
import { PAGE } from "./rooms/page.ts";
import { PRINCIPALS } from "./rooms/principals.ts";
import { PROXY } from "./rooms/proxy.ts";
import { RELAY_MUTANTS } from "./rooms/relay.ts";
import { SCREEN } from "./rooms/screen.ts";
import { SEARCH } from "./rooms/search.ts";
import { SHIM } from "./rooms/shim.ts";
import { STANDBY } from "./rooms/standby.ts";
import { VT } from "./rooms/vt.ts";
import { WATCHDOG } from "./rooms/watchdog.ts";
import { WEB } from "./rooms/web.ts";
import { WIRE } from "./rooms/wire.ts";
import { WORLD } from "./rooms/world.ts";

export const MUTANTS: readonly Mutant[] = [
  ...BASE,
  ...CLI,
  ...CORE,
  ...DAEMON,
  ...DATABASE,
  ...DRILL,
  ...FLEET,
  ...HOLDER,
  ...HOME,
  ...LOG,
  ...NOTIFY_MUTANTS,
  ...PAGE,
  ...PRINCIPALS,
  ...PROXY,
  ...SCREEN,
  ...SEARCH,
  ...SHIM,
  ...STANDBY,
  ...VT,
  ...WATCHDOG,
  ...WEB,
  ...RELAY_MUTANTS,
  ...WIRE,
  ...WORLD,
];
