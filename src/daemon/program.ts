// The process of a daemon: run.ts in the real world. It exits with 0 when asked to, and logs to stderr, which its
// starter keeps in a file.
import { realChildren } from "../world/real/children.ts";
import { realConsole } from "../world/real/console.ts";
import { realHttp } from "../world/real/http.ts";
import { realHttpClient } from "../world/real/http-client.ts";
import { realMachine } from "../world/real/machine.ts";
import { realNetwork } from "../world/real/network.ts";
import { realPathSteps } from "../world/real/path-steps.ts";
import { realPostgres } from "../world/real/postgres/client.ts";
import { realProgram } from "../world/real/program.ts";
import { realSockets } from "../world/real/socket.ts";
import { realWatch } from "../world/real/watch.ts";
import { realSelf } from "../world/self.ts";
import { realWorld } from "../world/world.ts";
import { runDaemon } from "./run.ts";

const USAGE = 2;

const program = realProgram();
const out = realConsole();
const base = realWorld();

function say(words: string): void {
  const line = `${new Date(base.clock.now()).toISOString()} daemon ${base.processes.pid}: ${words}\n`;
  // Nothing reads it any more, and there is nowhere else to report it.
  void out.err.write(line).catch(() => undefined);
}

async function main(): Promise<number> {
  const [home] = program.args;
  if (home === undefined || !home.startsWith("/")) {
    say("the first word is the home, as a full path");
    return USAGE;
  }
  const world = {
    ...{ ...base, home, self: realSelf(), http: realHttp(), httpClient: realHttpClient() },
    ...{ network: realNetwork(), subtle: crypto.subtle },
    ...{ sockets: realSockets(), children: realChildren(), watch: realWatch(), paths: realPathSteps() },
  };
  const told = Promise.withResolvers<void>();
  for (const signal of ["SIGTERM", "SIGINT"] as const) program.onSignal(signal, told.resolve);
  let reload = (): void => undefined;
  program.onSignal("SIGHUP", () => reload());
  const onReload = (fn: () => void) => {
    reload = fn;
  };
  const { onExit } = program;
  const exit = (code: number) => program.exit(code);
  const { hostName } = realMachine();
  const fleet = { postgres: realPostgres(), hostName };
  return runDaemon({ ...fleet, world, absolute: out.absolute, say, told: told.promise, onReload, exit, onExit });
}

void out.staying(main()).then((code) => program.exit(code)); // Not awaited: the bundle is not a module.
