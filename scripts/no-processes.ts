// Preloaded into the deterministic tests: starting a process or opening a socket throws (scripts/pools.ts, P2).
for (const name of ["spawn", "spawnSync", "listen", "connect", "serve", "udpSocket"]) {
  Object.defineProperty(Bun, name, {
    value: () => {
      throw new Error(`Bun.${name} was called in a test that scripts/pools.ts takes for deterministic`);
    },
  });
}
