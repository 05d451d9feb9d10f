// The relay's program: `holdfast relay serve` runs it in the foreground, or systemd does.
// RP1. SIGTERM and SIGINT close it in order; nothing depends on that. SIGHUP reads the certificate for browsers again.
// RP2. A log that has stopped ends the process: nothing could be acknowledged any more.
import { isFault } from "../base/fault.ts";
import { decodeSettings } from "../wire/relay/serve.ts";
import { realCertificates } from "../world/real/certificates.ts";
import { realConsole } from "../world/real/console.ts";
import { pageFiles } from "../world/real/page-files.ts";
import { realProgram } from "../world/real/program.ts";
import { realPublicHttp } from "../world/real/public-http.ts";
import { realSockets } from "../world/real/socket.ts";
import { realTunnels } from "../world/real/tunnel.ts";
import { realWorld } from "../world/world.ts";
import { startRelay } from "./relay.ts";

const FAILED = 1;
const USAGE = 2;

const program = realProgram();
const outlet = realConsole();
const doors = {
  ...{ sockets: realSockets(), http: realPublicHttp(), tunnels: realTunnels() },
  ...{ certificates: realCertificates(), files: pageFiles },
};
const world = { ...realWorld(), ...doors };

function say(words: string): void {
  const line = `${new Date(world.clock.now()).toISOString()} relay ${world.processes.pid}: ${words}\n`;
  // No one reads it any more, and there is nowhere else to report it.
  void outlet.err.write(line).catch(() => undefined);
}

function leave(words: string, code: number): number {
  say(words);
  return code;
}

async function main(): Promise<number> {
  const settings = decodeSettings(program.args[0] ?? "");
  if (settings === undefined) return leave("it is started by `holdfast relay serve`", USAGE);
  const told = Promise.withResolvers<"told">();
  for (const signal of ["SIGTERM", "SIGINT"] as const) program.onSignal(signal, () => told.resolve("told")); // RP1
  const relay = await startRelay({ world, settings, say });
  if (!relay.ok) return leave(`${relay.error.message} ${relay.error.hint}`, FAILED);
  program.onSignal("SIGHUP", () => relay.value.rereadCertificate());
  const end = await Promise.race([told.promise, relay.value.halted]);
  if (end !== "told") return leave(`its log has stopped: ${String(end)}`, FAILED); // RP2
  await relay.value.close();
  return 0;
}

async function orFault(work: Promise<number>): Promise<number> {
  try {
    return await work;
  } catch (error) {
    if (!isFault(error)) throw error;
    return leave(`${error.message}. ${error.hint}`, FAILED);
  }
}

// Not awaited: the bundle is not a module.
void outlet.staying(orFault(main())).then((code) => program.exit(code));
