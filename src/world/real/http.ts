// The HTTP server, through Bun.
import type {
  Answer,
  Answered,
  Http,
  HttpListener,
  HttpResponse,
  ListenOptions,
  PublicRequest,
  TlsFiles,
} from "../http.ts";
import { attempt } from "./attempt.ts";
import { RealWebSocket, WEBSOCKET_HANDLERS } from "./websocket.ts";

const LOOPBACK = "127.0.0.1"; // HT1
/** Browsers have no reason to send us bodies (HT3). */
const MAX_BODY = 1024;
/** HT6 */
const MAX_MESSAGE = 64 << 10;
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
const NO_WEBSOCKET: HttpResponse = {
  status: 426,
  headers: { "content-type": "text/plain", upgrade: "websocket" },
  body: "This is for WebSockets.\n",
};

export function realHttp(): Http {
  return { listen: (options, answer) => listenerOf(serve({ ...options, host: LOOPBACK }, answer)) };
}

type Server = Bun.Server<RealWebSocket>;
export type ServeOptions = ListenOptions & { readonly host: string; readonly tls?: TlsFiles };

function listenerOf(server: Server): HttpListener {
  return { port: server.port ?? 0, close: () => server.stop(true) };
}

/** Listens anywhere: only for those that may (HT1). */
export function serve(
  { host, port, maxBody, maxMessage, failed, tls }: ServeOptions,
  answer: (request: PublicRequest) => ReturnType<Answer>,
): Server {
  const fetch = async (raw: Request, serving: Server) => {
    const request = requestOf(raw, serving.requestIP(raw)?.address ?? "");
    const answered = request === undefined ? NO_TARGET : await tried(() => answer(request), failed);
    if (!("accept" in answered)) return responseOf(answered);
    const data = new RealWebSocket(answered.accept, failed);
    return serving.upgrade(raw, { data }) ? undefined : responseOf(NO_WEBSOCKET);
  };
  const error = () => responseOf(BROKEN);
  return attempt("listen", `${host}:${port}`, () =>
    Bun.serve<RealWebSocket>({
      hostname: host,
      port,
      fetch,
      error,
      ...(tls && { tls: { key: tls.key, cert: tls.certificate } }),
      maxRequestBodySize: maxBody ?? MAX_BODY,
      idleTimeout: IDLE_S,
      development: false,
      // Bun sets it outside of development: then two programs could share the port, and each would get some of the
      // requests.
      reusePort: false,
      websocket: { ...WEBSOCKET_HANDLERS, maxPayloadLength: maxMessage ?? MAX_MESSAGE },
    }),
  );
}

async function tried(answer: () => ReturnType<Answer>, failed: (error: unknown) => void): Promise<Answered> {
  try {
    return await answer();
  } catch (error) {
    failed(error);
    return BROKEN; // HT2
  }
}

/** HT5 */
function requestOf(request: Request, address: string): PublicRequest | undefined {
  const url = URL.parse(request.url);
  if (url === null || url.pathname.startsWith("//")) return undefined;
  const { pathname, search } = url;
  const header = (name: string) => request.headers.get(name) ?? undefined;
  return { method: request.method, target: `${pathname}${search}`, header, body: () => request.text(), address };
}

function responseOf({ status, headers, body }: HttpResponse): Response {
  return new Response(body, { status, headers });
}
