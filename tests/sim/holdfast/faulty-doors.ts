// What one process reaches of the machine, any call of which may fail: the other processes are spared.
// FO1. A call fails only with what the system may say there: a full disk refuses no read, and a fork finds no disk.
import type { Children, Command } from "../../../src/world/children.ts";
import type { Disk } from "../../../src/world/disk.ts";
import type { Sockets } from "../../../src/world/socket.ts";
import { type Before, faultyDisk } from "./faulty-disk.ts";

type Doors = { readonly disk: Disk; readonly sockets: Sockets; readonly children: Children };

/** What a call may fail with. */
export const CODES = ["EIO", "EROFS", "ENOSPC", "EMFILE", "EAGAIN", "ENOMEM"] as const;
export type Code = (typeof CODES)[number];

export function isCode(word: string): word is Code {
  return CODES.some((code) => code === word);
}

const CHANGING = ["create", "write", "truncate", "makeDirectory", "rename", "link", "unlink", "removeDirectory"];
const SYNCING = ["datasync", "sync", "syncDirectory"];
const STARTING = ["start"];
const CONNECTING = ["connect"];
const OPENING = ["open", "create", "list", "syncDirectory", "listen", ...CONNECTING];

/** FO1: the calls that fail like this; ENOMEM fits any. */
const FITTING: Readonly<Record<Code, (operation: string) => boolean>> = {
  EIO: (operation) => !CONNECTING.includes(operation),
  EROFS: (operation) => ["listen", ...CHANGING].includes(operation),
  ENOSPC: (operation) => ["listen", ...CHANGING, ...SYNCING].includes(operation),
  EMFILE: (operation) => [...STARTING, ...OPENING].includes(operation),
  EAGAIN: (operation) => [...STARTING, ...CONNECTING].includes(operation),
  ENOMEM: () => true,
};

export function fits(code: Code, operation: string): boolean {
  return FITTING[code](operation);
}

export function faultyDoors<D extends Doors>(doors: D, before: Before): D {
  return {
    ...doors,
    disk: faultyDisk(doors.disk, before),
    sockets: faultySockets(doors.sockets, before),
    children: faultyChildren(doors.children, before),
  };
}

function faultySockets(sockets: Sockets, before: Before): Sockets {
  return {
    listen: async (path, accept) => {
      before("listen", path);
      return sockets.listen(path, accept);
    },
    connect: async (path, events) => {
      before("connect", path);
      return sockets.connect(path, events);
    },
  };
}

function faultyChildren(children: Children, before: Before): Children {
  const starting = ({ argv: [program] }: Command) => {
    before("start", program);
    return children;
  };
  return {
    pty: (command, size, events) => starting(command).pty(command, size, events),
    pipes: (command, events) => starting(command).pipes(command, events),
    detached: (command, log) => starting(command).detached(command, log),
    told: (command, ended) => starting(command).told(command, ended),
    watched: (command, ended) => starting(command).watched(command, ended),
  };
}
