// What a Holdfast says about itself, as one line of JSON (`holdfast __about`), so that another version can tell whether
// it may take its place.
// AB1. Formats are added to, never changed. The few of which an older version refuses a newer one have a number here:
//      a version reads what another one has written if each of its numbers is at least as high.
import { CHECKPOINT_VERSION as AGENT } from "../core/agent/checkpoint.ts";
import { CHECKPOINT_VERSION as TERMINALS } from "../core/terminal/checkpoint.ts";
import { CHECKPOINT_VERSION as RUN } from "../core/workflow/checkpoint.ts";
import { fitting } from "./check.ts";
import { decodeLine } from "./lines.ts";
import { RPC_PROTOCOL } from "./rpc/rpc.ts";
import { type Infer, literal, object, table, text, whole } from "./shape.ts";
import { VERSION } from "./version.ts";

const ABOUT = object({ name: literal("holdfast"), version: text, platform: text, formats: table(whole(0)) });
export type About = Infer<typeof ABOUT>;

/** AB1. The log and the holders' protocol have no such number: nothing in them was ever changed. */
const FORMATS = { terminals: TERMINALS, agent: AGENT, workflow: RUN, rpc: RPC_PROTOCOL };

/** `platform`: as in the name of the binary, `linux-x64`. */
export function aboutUs(platform: string): About {
  return { name: "holdfast", version: VERSION, platform, formats: FORMATS };
}

export function parseAbout(line: string): About | undefined {
  return fitting(ABOUT, decodeLine(line));
}

/** The formats that `writer` writes and `reader` cannot read (AB1). */
export function unreadable(reader: About, writer: About): string[] {
  const formats = Object.entries(writer.formats);
  return formats.filter(([name, number]) => (reader.formats[name] ?? 0) < number).map(([name]) => name);
}
