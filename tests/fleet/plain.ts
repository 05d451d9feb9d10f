// Everything that the database has of homes, unsealed: for tests that look for what must not be there.
import { join } from "node:path";
import { unpack } from "../../src/fleet/blob-form.ts";
import { getBlob, listBlobs } from "../../src/fleet/blobs.ts";
import type { Database } from "../../src/fleet/database.ts";
import { readBatches } from "../../src/fleet/history.ts";
import { FleetSeal } from "../../src/fleet/seal.ts";
import { realWorld } from "../../src/world/world.ts";

/** `place`: where the key is. Throws if anything cannot be opened. */
export async function plainText(database: Database, place: string, homes: readonly string[]): Promise<string> {
  const seal = orThrow(FleetSeal.read(realWorld(), join(place, "fleet.key")));
  const parts: string[] = [];
  for (const home of homes) {
    for (const { path } of orThrow(await listBlobs(database, home))) {
      const blob = orThrow(await getBlob(database, home, path));
      if (blob === undefined) continue; // It was dropped meanwhile.
      const bytes = orThrow(unpack(path, orThrow(seal.openBlob(home, blob))));
      parts.push(`${path}\n${Buffer.from(bytes).toString()}`);
    }
    for (const row of orThrow(await readBatches(database, home, 0)))
      for (const { bytes } of orThrow(seal.openBatches(home, row))) parts.push(Buffer.from(bytes).toString());
  }
  return parts.join("\n");
}

function orThrow<T>(result: { ok: true; value: T } | { ok: false; error: { message: string } }): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}
