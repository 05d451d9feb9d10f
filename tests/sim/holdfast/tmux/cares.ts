// The tmux sessions under Holdfast's care as their person knows them, and what docs/TMUX.md promises: the oracle.
// CA1. What was adopted is listed until it is released, and nothing else is.
// CA2. A session is made again at most once, and whole: as it was when it was last saved, or later. What could not be
//      done is named, and only if a call failed. A released session is not listed: if it was back by then, the reply to
//      the release names it; if it was still being made, nothing does.
// CA3. Nothing is made again that is known to be closed by its person, that was released before it was lost, or that
//      waits for its person by its policy. `ended` is only what a person has ended.
// CA4. Holdfast ends and changes no session of a person, and leaves none of its own behind.
// CA5. In the end everything is there that should be.
import type { ListedTmux } from "../../../../src/wire/rpc/rpc.ts";
import type { SimTmux } from "./client.ts";
import { difference, looksOf, type Picture, pictureOf } from "./picture.ts";
import type { Session, TmuxServer } from "./server.ts";

type Answer = "no" | "asked" | "acknowledged";
/** How it went: `closed` alone, or with its server, in order or not. */
type Gone = "closed" | "orderly" | "lost";

export type KnownTmux = {
  name: string;
  readonly policy: "auto" | "ask";
  /** Undefined: it is gone. */
  session: Session | undefined;
  gone: Gone | undefined;
  /** The server on which its person closed it. */
  closedOn: TmuxServer | undefined;
  id: string | undefined;
  adoption: Answer;
  release: Answer;
  /** Whether it was there when its release was acknowledged. */
  wasReleasedAlive: boolean;
  /** CA2: the notes in the reply to its release. */
  notesAtRelease: readonly string[] | undefined;
  /** Whether its person wants it back. */
  isWanted: boolean;
  /** Whether Holdfast has said that it has ended. */
  isEnded: boolean;
  /** How often it was made again, and whether its looks were compared since. */
  returns: number;
  isCompared: boolean;
  /** Whether a call has failed since it was lost. */
  isHarmed: boolean;
  /** How it has looked, and since which of them it is saved; undefined if that was never acknowledged. */
  readonly pictures: Picture[];
  savedFrom: number | undefined;
};

const MARK = "@holdfast";
const OURS = /^holdfast-(?:rebuilding|leftover)-(.*)$/;
/** What is always noted. */
const USUAL_NOTE = /^(?:as it was at|not set any more: |there is another session )/;

export class Cares {
  readonly all: KnownTmux[] = [];
  readonly #tmux: SimTmux;
  /** Whether a call of this life has failed. */
  readonly #isHarmed: () => boolean;

  constructor(tmux: SimTmux, isHarmed: () => boolean) {
    this.#tmux = tmux;
    this.#isHarmed = isHarmed;
    tmux.ended = (server, isOrderly) => this.#serverEnds(server, isOrderly);
  }

  add(session: Session, policy: KnownTmux["policy"]): KnownTmux {
    const asked = { id: undefined, adoption: "no", release: "no", wasReleasedAlive: false } as const;
    const past = {
      notesAtRelease: undefined,
      gone: undefined,
      closedOn: undefined,
      isWanted: false,
      isEnded: false,
      returns: 0,
      isCompared: true,
      isHarmed: false,
    };
    const known: KnownTmux = {
      name: session.name,
      policy,
      session,
      ...asked,
      ...past,
      pictures: [],
      savedFrom: undefined,
    };
    this.all.push(known);
    this.changed(known);
    return known;
  }

  changed(known: KnownTmux): void {
    if (known.session !== undefined) known.pictures.push(pictureOf(known.session));
  }

  /** A person closes it: alone, or with its server if it is the last one. */
  close(known: KnownTmux): void {
    const { session } = known;
    if (session === undefined) return;
    const closedOn = this.#tmux.server;
    Object.assign(known, { session: undefined, gone: "closed", closedOn, isCompared: true });
    this.#tmux.server?.kill(session);
    if (this.#tmux.server === undefined) known.gone = "orderly";
  }

  /** A server ends, with all that was on it. */
  #serverEnds(server: TmuxServer, isOrderly: boolean): void {
    for (const session of server.sessions) {
      const known = this.all.find((one) => one.session === session) ?? this.#marked(session);
      if (known === undefined) continue;
      if (known.session === undefined) known.returns += 1; // It was made again, and has not been seen.
      known.pictures.push(pictureOf(session));
      Object.assign(known, { session: undefined, gone: isOrderly ? "orderly" : "lost", isCompared: true });
      known.isEnded = false;
    }
  }

  #marked(session: Session): KnownTmux | undefined {
    return this.all.find(({ id }) => id !== undefined && id === session.options.get(MARK));
  }

  /** A life is over. */
  rest(): void {
    const open = this.all.filter(({ session, isCompared }) => session === undefined || !isCompared);
    for (const known of open) known.isHarmed ||= this.#isHarmed();
  }

  /** What was acknowledged as saved now. */
  saved(known: KnownTmux): void {
    known.savedFrom = known.pictures.length - 1;
    const panes = known.session?.windows.flatMap((window) => window.panes) ?? [];
    for (const pane of panes) if (pane.currentPath !== "") pane.savedFrom = pane.directories.length - 1;
  }

  /** CA1 to CA4, in any life. */
  wrong(listed: readonly ListedTmux[]): string[] {
    this.#learn(listed);
    return [
      ...this.#stolen(),
      ...this.all.flatMap((known) => this.#ofOne(known, listed)),
      ...this.#strangers(listed),
      ...this.#found(listed),
    ];
  }

  /** CA4 */
  #stolen(): string[] {
    const sessions = this.#tmux.server?.sessions ?? [];
    const missing = this.all.filter(({ session }) => session !== undefined && !sessions.includes(session));
    return missing.map(({ name }) => `${name} was closed, and by nobody`);
  }

  /** An adoption without an answer may have been carried out. */
  #learn(listed: readonly ListedTmux[]): void {
    for (const known of this.all) {
      if (known.adoption === "asked" && known.id === undefined)
        known.id = listed.find(({ id, name }) => name === known.name && !this.all.some((other) => other.id === id))?.id;
    }
  }

  #ofOne(known: KnownTmux, listed: readonly ListedTmux[]): string[] {
    const found = listed.find(({ id }) => id === known.id);
    if (known.release === "acknowledged") return found === undefined ? [] : [`${known.name} is back after its release`];
    if (found === undefined) {
      const isLost = known.adoption === "acknowledged" && known.release === "no";
      return isLost ? [`the tmux session ${known.name} is gone`] : []; // CA1
    }
    if (found.state.kind === "uncertain") return [`${known.name} is set aside: ${found.state.reason}`];
    if (found.state.kind === "kept" && known.session !== undefined) known.isWanted = false; // It is durable.
    if (found.state.kind !== "ended") return [];
    const mayEnd = known.gone === "closed" || (known.gone === "orderly" && known.returns > 0); // CA3
    known.isEnded = true;
    return mayEnd ? [] : [`${known.name} has ended (${found.state.reason}), and nobody has ended it (${known.gone})`];
  }

  #strangers(listed: readonly ListedTmux[]): string[] {
    const ids = this.all.map(({ id }) => id);
    return listed.filter(({ id }) => !ids.includes(id)).map(({ name }) => `nobody has adopted ${name}`); // CA1
  }

  /** CA2, CA3: the sessions on the server. */
  #found(listed: readonly ListedTmux[]): string[] {
    const sessions = this.#tmux.server?.sessions ?? [];
    return sessions.flatMap((session) => {
      const mine = this.all.find((known) => known.session === session);
      if (mine !== undefined) return mine.isCompared ? untouched(mine, session) : this.#compare(session, listed);
      const [, half] = OURS.exec(session.name) ?? [];
      const known = half === undefined ? this.#marked(session) : this.all.find(({ id }) => id === half);
      if (known === undefined) return [`nobody has made the session ${session.name}`];
      return half === undefined ? this.#isBack(known, session, listed) : [];
    });
  }

  #isBack(known: KnownTmux, session: Session, listed: readonly ListedTmux[]): string[] {
    if (known.session !== undefined) return [`${known.name} is there twice`]; // CA2
    const mayReturn =
      known.isWanted || (known.policy === "auto" && !known.isEnded && known.closedOn !== this.#tmux.server);
    if (!mayReturn || known.wasReleasedAlive) return [`${known.name} is made again, and nobody wants it`]; // CA3
    Object.assign(known, {
      session,
      gone: undefined,
      closedOn: undefined,
      isEnded: false,
      isCompared: false,
    });
    known.returns += 1;
    return this.#compare(session, listed);
  }

  /** CA2, once its panes have begun. */
  #compare(session: Session, listed: readonly ListedTmux[]): string[] {
    const known = this.all.find((one) => one.session === session);
    const begins = session.windows.some(({ panes }) => panes.some(({ state }) => state === "beginning"));
    if (known === undefined || known.isCompared || begins) return [];
    const pictures = known.pictures.slice(known.savedFrom ?? 0);
    const differences = pictures.map((picture) => difference(session, picture));
    const found = listed.find(({ id }) => id === known.id);
    const notes = (found === undefined ? known.notesAtRelease : found.recreated?.notes) ?? [];
    const isUntold = found === undefined && known.release !== "no" && known.notesAtRelease === undefined; // CA2
    const isNamed = (known.isHarmed || this.#isHarmed()) && (isUntold || notes.some((note) => !USUAL_NOTE.test(note)));
    if (!isNamed && differences.every(({ length }) => length > 0))
      return [`${known.name} is not as it was: ${differences.at(-1)?.join("; ")} (${notes.join("; ")})`];
    Object.assign(known, { isCompared: true, isHarmed: false, name: session.name });
    this.changed(known);
    return [];
  }

  /** CA5: why this is not the end yet. */
  unfinished(listed: readonly ListedTmux[]): string[] {
    const { server } = this.#tmux;
    const halves = (server?.sessions ?? []).filter(({ name }) => OURS.test(name));
    return [
      ...this.all.flatMap((known) => this.#unfinishedOne(known, listed)),
      ...halves.map(({ name }) => `there is ${name}`), // CA4
      ...((server?.waiting.size ?? 0) > 1 ? ["several clients wait at tmux's server"] : []),
    ];
  }

  #unfinishedOne(known: KnownTmux, listed: readonly ListedTmux[]): string[] {
    const found = listed.find(({ id }) => id === known.id);
    if (known.release !== "no" || found === undefined) return [];
    const { state, trouble } = found;
    const what = `the tmux session ${known.name} (${known.gone}) is ${state.kind}: ${trouble}`;
    if (known.session !== undefined) return state.kind === "kept" && trouble === null && known.isCompared ? [] : [what];
    if (state.kind === "ended") return [];
    const mayBeLost = known.policy === "ask" || known.savedFrom === undefined;
    return state.kind === "lost" && mayBeLost ? [] : [what];
  }
}

/** CA4: why it is not as its person left it. */
function untouched({ name, pictures }: KnownTmux, session: Session): string[] {
  const [left, found] = [pictures.at(-1), pictureOf(session)].map((picture) => JSON.stringify(looksOf(picture ?? [])));
  return left === found ? [] : [`${name} was ${left}, and nobody has made it ${found}`];
}
