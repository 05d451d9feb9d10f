// Nothing but files, as anybody's web server serves an exported page: with the headers of its README, or without.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { EXPORT_HEADERS } from "../../src/world/page-answers.ts";

type Headers = Readonly<Record<string, string>>;

/** Returns its port. */
export function serveFiles(directory: string, closers: (() => unknown)[], headers: Headers = EXPORT_HEADERS): number {
  const fetch = (request: Request) => {
    const { pathname } = new URL(request.url);
    const path = join(directory, pathname === "/" ? "index.html" : pathname);
    if (!existsSync(path)) return new Response("", { status: 404 });
    return new Response(Bun.file(path), { headers });
  };
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
  closers.push(() => server.stop(true));
  return server.port ?? 0;
}
