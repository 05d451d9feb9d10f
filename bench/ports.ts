// Ports on loopback.

/** One that nobody has right now. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  listener.stop(true);
  return listener.port;
}

/** True if somebody listens there. */
export async function isTaken(port: number): Promise<true | undefined> {
  try {
    (await Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => undefined } })).end();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}
