// The HTTP server of the relay: on the address that its operator chooses, with a certificate from files (HT1).
// PH1. Bun cannot change the certificate of a server: the next one takes its port, and the old one keeps its clients.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { Fault } from "../../base/fault.ts";
import type { PublicHttp, PublicListener, TlsFiles } from "../http.ts";
import { type ServeOptions, serve } from "./http.ts";

export function realPublicHttp(): PublicHttp {
  return { listen };
}

function listen(options: ServeOptions, answer: Parameters<PublicHttp["listen"]>[1]): PublicListener {
  if (options.tls !== undefined) check(options.tls, options.host);
  const first = serve(options, answer);
  const servers = [first];
  const port = first.port ?? options.port;
  const renew = (tls: TlsFiles) => {
    check(tls, options.host);
    void servers.at(-1)?.stop(false); // PH1
    servers.push(serve({ ...options, port, tls }, answer));
  };
  return { port, renew, close: async () => void (await Promise.all(servers.map((server) => server.stop(true)))) };
}

function check({ key, certificate }: TlsFiles, path: string): void {
  const hint = "The key has to be the one of the certificate, and both have to be PEM. A chain begins with its own.";
  const facts = { code: "EINVAL", operation: "use the certificate of", path, hint };
  let isPair = false;
  try {
    isPair = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch (error) {
    throw new Fault(facts, error);
  }
  if (!isPair) throw new Fault(facts);
}
