// The HTTP server, through Bun.

import type { Answer, Http, HttpListener, HttpRequest, HttpResponse, ListenOptions } from "../http.ts";
import { attempt } from "./attempt.ts";

const LOOPBACK = "127.0.0.1"; // HT1
/** Browsers have no reason to send us bodies (HT3). */
const MAX_BODY = 1024;
/** A connection that is idle for this long is closed; browsers open a new one. */
const IDLE_S = 30;
const BROKEN: HttpResponse = {
  status: 500,
  headers: { "content-type": "text/plain" },
  body: "Something broke here.\n",
};
const NO_TARGET: HttpResponse = {
  status: 400,
  headers: { "content-type": "text/plain" },
  body: "This is no address of this server.\n",
};

export function realHttp(): Http {
  return { listen };
}

function listen({ port, maxBody, failed }: ListenOptions, answer: Answer): HttpListener {
  const fetch = async (raw: Request) => {
    const request = requestOf(raw);
    return responseOf(request === undefined ? NO_TARGET : await tried(request, answer, failed));
  };
  const error = () => responseOf(BROKEN);
  const server = attempt("listen", `${LOOPBACK}:${port}`, () =>
    Bun.serve({
      hostname: LOOPBACK,
      port,
      fetch,
      error,
      maxRequestBodySize: maxBody ?? MAX_BODY,
      idleTimeout: IDLE_S,
      development: false,
      // Bun sets it outside of development: then two programs could share the port, and each would get some of the
      // requests.
      reusePort: false,
    }),
  );
  return { port: server.port ?? port, close: () => server.stop(true) };
}

async function tried(request: HttpRequest, answer: Answer, failed: (error: unknown) => void): Promise<HttpResponse> {
  try {
    return await answer(request);
  } catch (error) {
    failed(error);
    return BROKEN; // HT2
  }
}

/** HT5 */
function requestOf(request: Request): HttpRequest | undefined {
  const url = URL.parse(request.url);
  if (url === null || url.pathname.startsWith("//")) return undefined;
  const { pathname, search } = url;
  const header = (name: string) => request.headers.get(name) ?? undefined;
  return { method: request.method, target: `${pathname}${search}`, header, body: () => request.text() };
}

function responseOf({ status, headers, body }: HttpResponse): Response {
  return new Response(body, { status, headers });
}
