// HTTP to remote services, through Bun's fetch.
import { Fault } from "../../base/fault.ts";
import type { HttpClient, Posted, Posting } from "../http.ts";

export function realHttpClient(): HttpClient {
  return { post };
}

async function post({ url, headers, body }: Posting, stopped: Promise<void>): Promise<Posted> {
  const abort = new AbortController();
  const stop = () => abort.abort();
  void stopped.then(stop);
  const request = { method: "POST", headers: { ...headers }, body, signal: abort.signal, redirect: "manual" } as const;
  const response = await tried(url, () => fetch(url, request));
  const header = (name: string) => response.headers.get(name);
  return { status: response.status, header, text: () => textOf(url, response), stop };
}

async function* textOf(url: string, response: Response): AsyncGenerator<string> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await tried(url, () => reader.read());
    if (done) break;
    yield decoder.decode(value, { stream: true });
  }
  yield decoder.decode();
}

/**
 * HT4. fetch throws errors of many kinds; for us they all mean that the other side could not be reached, or went away.
 */
async function tried<T>(url: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const { origin } = new URL(url); // Without the query: it may contain a secret.
    const code =
      error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "ECONNRESET";
    throw new Fault({ code, operation: "post", path: origin }, error);
  }
}
