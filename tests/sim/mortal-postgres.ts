// The database as one process on a simulated machine reaches it: its connections end with it, and around every call it
// may be killed (MO2 of mortal.ts).
import { ok } from "../../src/base/result.ts";
import type { Postgres } from "../../src/world/postgres.ts";
import type { Life, Moment } from "./mortal.ts";

export function mortalPostgres(postgres: Postgres, life: Life, moment: Moment): Postgres {
  return {
    connect: (target) =>
      life.whileAlive(async () => {
        const made = await postgres.connect(target);
        if (!made.ok) return made;
        const connection = made.value;
        life.onEnd(() => connection.close());
        const run: typeof connection.run = (statement, values, ms) =>
          life.whileAlive(async () => {
            moment(`call of ${statement.name}`);
            const outcome = life.dead ? undefined : await connection.run(statement, values, ms);
            moment(`answer to ${statement.name}`);
            return outcome ?? { kind: "unknown", why: "dead" };
          });
        const value = { host: "simulated", run, cancel: () => connection.cancel(), close: () => connection.close() };
        return ok(Object.defineProperty({ ...value, isOpen: true }, "isOpen", { get: () => connection.isOpen }));
      }),
  };
}
