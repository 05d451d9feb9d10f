// The mutants in src/page (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const PAGE: readonly Mutant[] = [
  {
    mutant: "a list that cannot be fetched is shown as empty",
    file: "src/page/state/feed.ts",
    from: "if (fetched.ok) this.value.value = fetched.value;",
    to: "this.value.value = fetched.ok ? fetched.value : undefined;",
    killedBy: { file: "src/page/state/feed.test.ts", test: "FE3 a refusal is shown, and the last value stays" },
  },
  {
    mutant: "what is typed before a terminal is connected is dropped",
    file: "src/page/terminal/terminal-session.ts",
    from: "else if (this.#early.length < MAX_EARLY) this.#early.push(() => this.input(bytes));",
    to: "else if (this.#early.length < MAX_EARLY) return;",
    killedBy: {
      file: "src/page/terminal/terminal-session.test.ts",
      test: "TS1 what is typed before the first connection is typed then, and what another program would get is reported",
    },
  },
  {
    mutant: "a lost connection is made again by another writer, from the beginning",
    file: "src/page/terminal/terminal-session.ts",
    from: "this.#client ??= await this.#firstLook();",
    to: "this.#client = await this.#firstLook();",
    killedBy: {
      file: "src/page/terminal/terminal-session.test.ts",
      test: "TS1 TS5 what is typed while the connection is lost is typed once, after it, and output goes on where it was",
    },
  },
  {
    mutant: "a window that does not answer sees the question",
    file: "src/page/terminal/terminal-session.ts",
    from: "this.#screen.write(this.#silent?.push(bytes) ?? bytes,",
    to: "this.#screen.write(bytes,",
    killedBy: {
      file: "src/page/terminal/terminal-session.test.ts",
      test: "TS4 a window that does not answer does not see the question",
    },
  },
  {
    mutant: "the host is told what has come, not what was parsed",
    file: "src/page/terminal/stream.ts",
    from: "if (this.#parsing === 0) this.#took(this.#received);",
    to: "this.#took(this.#received);",
    killedBy: {
      file: "src/page/terminal/terminal-session.test.ts",
      test: "ST1 the host is told what was parsed, not what has come, and never waits for more than it may send",
    },
  },
  {
    mutant: "any click opens a link",
    file: "src/page/terminal/links.ts",
    from: "if ((click.ctrlKey || click.metaKey) && isOfTheWeb(address)) open(address); // LI1",
    to: "if (isOfTheWeb(address)) open(address);",
    killedBy: {
      file: "src/page/terminal/links.test.ts",
      test: "LI1, LI2 a link is opened with Ctrl or Cmd, and only if it is one of the web",
    },
  },
  {
    mutant: "a link may lead to a script or a file",
    file: "src/page/terminal/links.ts",
    from: 'return URL.canParse(address) && ["http:", "https:"].includes(new URL(address).protocol);',
    to: "return URL.canParse(address);",
    killedBy: {
      file: "src/page/terminal/links.test.ts",
      test: "LI1, LI2 a link is opened with Ctrl or Cmd, and only if it is one of the web",
    },
  },
  {
    mutant: "a rule that was edited is the one before",
    file: "src/page/agent/rule-draft.ts",
    from: "isEdited || exact === undefined ? { ...head, tool, args }",
    to: "exact === undefined ? { ...head, tool, args }",
    killedBy: {
      file: "src/page/agent/rule-draft.test.ts",
      test: "RD2 an edited draft allows what its patterns say, and a broken one is refused",
    },
  },
];
