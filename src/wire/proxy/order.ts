// The settings of a sandbox's proxy, sent when it is started: one line on its standard input, because there may be a
// key in it.
// PO1. The key is in no argument, no variable and no file, and the proxy tells it to nobody but the service.
import { fitting } from "../check.ts";
import { decodeLine } from "../lines.ts";
import { type Infer, list, nullable, object, optional, table, text } from "../shape.ts";
import { upstream } from "./upstream.ts";

/** Where the program in the sandbox finds its proxy, on a loopback of its own. */
export const PROXY_PORT = 18_733;

const service = object({
  /** Requests without a host go there: `https://api.anthropic.com`. */
  url: text,
  /** Headers that say who asks (PO1); none if the program has its own key. */
  identity: table(text),
});

const order = object({
  /** Where it listens. */
  socket: text,
  /** The words of egress.ts. */
  egress: list(text),
  service: nullable(service),
  /** Left out by older versions, which know no other proxy. */
  upstream: optional(upstream),
});

export type ProxyOrder = Infer<typeof order>;

export function parseProxyOrder(line: string): ProxyOrder | undefined {
  return fitting(order, decodeLine(line));
}
