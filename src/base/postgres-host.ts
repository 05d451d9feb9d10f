// Where a PostgreSQL server is, and how it is spoken to.

/** As `sslmode`. Only `verify-full` proves who the server is; `require` stops nobody who can change what is sent. */
export type PostgresTls = "disable" | "require" | "verify-ca" | "verify-full";

export type PostgresHost =
  | { readonly kind: "tcp"; readonly host: string; readonly port: number; readonly tls: PostgresTls }
  | { readonly kind: "unix"; readonly directory: string; readonly port: number };

/** For messages: `db1:5432`, or the path of the socket. */
export function hostText(host: PostgresHost): string {
  if (host.kind === "unix") return socketPath(host);
  return host.host.includes(":") ? `[${host.host}]:${host.port}` : `${host.host}:${host.port}`;
}

export function socketPath({ directory, port }: Extract<PostgresHost, { kind: "unix" }>): string {
  return `${directory}/.s.PGSQL.${port}`;
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}
