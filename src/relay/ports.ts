// What the relay gets of the world.
import type { Certificates } from "../world/certificates.ts";
import type { Clock } from "../world/clock.ts";
import type { Disk } from "../world/disk.ts";
import type { PublicHttp } from "../world/http.ts";
import type { PageFiles } from "../world/page-files.ts";
import type { Processes } from "../world/process.ts";
import type { Random } from "../world/random.ts";
import type { Sockets } from "../world/socket.ts";
import type { Tunnels } from "../world/tunnel.ts";

export type RelayWorld = {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  readonly processes: Processes;
  readonly sockets: Sockets;
  readonly http: PublicHttp;
  readonly tunnels: Tunnels;
  readonly certificates: Certificates;
  files(): Promise<PageFiles>;
};

/** For the log that people read. */
export type Say = (words: string) => void;
