// The mutants in src/web (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const WEB: readonly Mutant[] = [
  {
    mutant: "the Origin of a request is not checked",
    file: "src/web/guard.ts",
    from: `  if (origin !== undefined && !names.some((name) => origin === \`http://\${name}\`)) return true;
`,
    to: "",
    killedBy: {
      file: "src/web/host.test.ts",
      test: "access > only names of this machine are served, only for our own page, only with GET",
    },
  },
  {
    mutant: "a foreign name that resolves to this machine is served",
    file: "src/web/guard.ts",
    from: '  if (!names.includes(request.header("host") ?? "")) return refuse(403, "This name is not served here."); // G1\n',
    to: "",
    killedBy: {
      file: "src/web/host.test.ts",
      test: "access > only names of this machine are served, only for our own page, only with GET",
    },
    isSentinel: true,
  },
  {
    mutant: "scripts can read the cookie",
    file: "src/web/guard.ts",
    from: "Path=/; HttpOnly; SameSite=Strict;",
    to: "Path=/; SameSite=Strict;",
    killedBy: {
      file: "src/web/host.test.ts",
      test: "access > the token becomes a cookie that scripts and other sites cannot use, and leaves the address",
    },
  },
  {
    mutant: "the page's data contains the address with the token",
    file: "src/web/daemon-link.ts",
    from: "status: withoutToken(status.value)",
    to: "status: status.value",
    killedBy: {
      file: "src/web/host.test.ts",
      test: "what it shows > what the daemon reports, without any environment",
    },
  },
  {
    mutant: "the time limit of an answered request is not cancelled",
    file: "src/web/daemon-link.ts",
    from: "      work.then(done, failed).finally(cancel);",
    to: "      work.then(done, failed);",
    killedBy: {
      file: "src/web/daemon-link.test.ts",
      test: "an answered request leaves no timer",
    },
  },
  {
    mutant: "any value of the right cookie opens the page",
    file: "src/web/guard.ts",
    from: "if (kept !== undefined && sameSecret(kept, access.token))",
    to: "if (kept !== undefined)",
    killedBy: {
      file: "src/web/host.test.ts",
      test: "access > without the token the only answer is how to get it",
    },
  },
];
