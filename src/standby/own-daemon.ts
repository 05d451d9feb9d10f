// The daemon of a home, as its standby program asks it.
import { isFault } from "../base/fault.ts";
import { type DialWorld, dial } from "../home/dial.ts";
import type { RpcClient } from "../wire/rpc/client.ts";
import type { OwnDaemon } from "./ports.ts";

export function ownDaemon(world: DialWorld, home: string): OwnDaemon {
  const asking = async <T>(ask: (client: RpcClient) => Promise<T>): Promise<T | undefined> => {
    const made = await dial(world, home);
    if (!made.ok || made.value === undefined) return undefined;
    try {
      return await ask(made.value);
    } catch (error) {
      if (!isFault(error)) throw error;
      return undefined;
    } finally {
      made.value.close();
    }
  };
  return {
    role: async () => {
      const status = await asking((client) => client.call("status", {}));
      return status?.ok === true ? status.value.fleet?.role : undefined;
    },
    handOver: async () => {
      await asking((client) => client.call("fleet.hand-over", {}));
    },
  };
}
