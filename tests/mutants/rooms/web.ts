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
      test: "access > G1, G2 only names of this machine are served, only for our own page, only as it asks",
    },
  },
  {
    mutant: "a foreign name that resolves to this machine is served",
    file: "src/web/guard.ts",
    from: '  if (!names.includes(request.header("host") ?? "")) return refuse(403, "This name is not served here."); // G1\n',
    to: "",
    killedBy: {
      file: "src/web/host.test.ts",
      test: "access > G1, G2 only names of this machine are served, only for our own page, only as it asks",
    },
    isSentinel: true,
  },
  {
    mutant: "a page on another port may post, if its browser sends no Origin",
    file: "src/web/guard.ts",
    from: 'if (Object.hasOwn(ROUTES, path) && request.header("origin") === undefined)',
    to: "if (request.target === undefined)",
    killedBy: {
      file: "src/web/host.test.ts",
      test: "access > G1, G2 only names of this machine are served, only for our own page, only as it asks",
    },
  },
  {
    mutant: "the daemon does not see which browser asks",
    file: "src/web/page-socket.ts",
    from: "...{ dial, clock: world.clock, token },",
    to: '...{ dial, clock: world.clock, token: "" },',
    killedBy: {
      file: "src/web/page-socket.test.ts",
      test: "what a page gets > the outcome of what it asks the daemon for, and nothing that it may not ask",
    },
  },
  {
    mutant: "the host does for a device what it has no right to",
    file: "src/web/page-socket.ts",
    from: "if (!pageMay(rights, method))",
    to: 'if (!pageMay("type", method))',
    killedBy: {
      file: "src/web/page-socket.test.ts",
      test: "PS5 a device that may only look is refused what the host does, and reads the rest",
    },
  },
  {
    mutant: "every answer has the same nonce",
    file: "src/world/page-answers.ts",
    from: "const nonce = random.toBase64();",
    to: "const nonce = new Uint8Array(random.length).toBase64();",
    killedBy: {
      file: "src/web/host.test.ts",
      test: "access > A1, A2 all answers forbid framing and foreign code; each page has a nonce of its own",
    },
  },
  {
    mutant: "any browser's token is good while one is signed in",
    file: "src/web/browsers.ts",
    from: "return deviceOf(this.#readable(), sha256(token), this.#world.clock.now());",
    to: "return this.#readable().devices[0];",
    killedBy: {
      file: "src/web/host.test.ts",
      test: "access > G3, PS1 without a browser's own token a tab is closed, and learns how to get one",
    },
  },
  {
    mutant: "a terminal that the page does not take is read on",
    file: "src/web/holder-stream.ts",
    from: "      this.#side?.pause(); // HS3\n",
    to: "",
    killedBy: {
      file: "tests/web/terminals.test.ts",
      test: "HS3 a flooding terminal that the page does not take delays neither another one nor a call",
    },
  },
  {
    mutant: "a token with something behind it is good",
    file: "src/web/browsers.ts",
    from: "deviceOf(this.#readable(), sha256(token), ",
    to: "deviceOf(this.#readable(), sha256(token.slice(0, 64)), ",
    killedBy: {
      file: "src/web/host.test.ts",
      test: "access > G3, PS1 without a browser's own token a tab is closed, and learns how to get one",
    },
  },
  {
    mutant: "wrong tokens are tried without a limit",
    file: "src/web/browsers.ts",
    from: "const tooMany = isExhausted(this.#wrong, now);",
    to: "const tooMany = false;",
    killedBy: {
      file: "src/web/host.test.ts",
      test: "access > BW2 many wrong tokens are refused with less, and a right one still works",
    },
  },
  {
    mutant: "a page may send a holder everything",
    file: "src/web/holder-stream.ts",
    from: "return PASSED.includes(tag) && this.#send(encodeFrame(tag, payload)); // HS2",
    to: "return this.#send(encodeFrame(tag, payload));",
    killedBy: {
      file: "tests/web/terminals.test.ts",
      test: "HS2 what is not a window's closes that stream alone, and web.screen says how to draw it",
      says: /never true: the page gets closed/,
    },
  },
  {
    mutant: "the end of an earlier generation ends the terminal",
    file: "src/web/holder-stream.ts",
    from: "return exit !== undefined && exit.generation === readSpec(place)?.generation ? exit : null;",
    to: "return exit ?? null;",
    killedBy: {
      file: "src/web/page-socket.test.ts",
      test: "HS4 how an earlier generation ended is not the end of the terminal",
      says: /never true: the page gets closed/,
    },
  },
  {
    mutant: "a tab that does not read is sent more and more",
    file: "src/web/page-socket.ts",
    from: "if (this.#socket.waiting <= MAX_WAITING) {",
    to: "if (this.#socket.waiting >= 0) {",
    killedBy: {
      file: "src/web/page-socket.test.ts",
      test: "PS4 a tab that does not read is closed, and what it was to get is dropped",
    },
  },
];
