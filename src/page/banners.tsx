// What is true for every view: no host, no daemon, a recovery, safe mode; and the page of a browser that is signed out.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { plainLine } from "../base/visible.ts";
import { CLOSE } from "../wire/page/messages.ts";
import { VERSION } from "../wire/version.ts";
import { address, isRemote } from "./browser.ts";
import { Action } from "./parts/action.tsx";
import { localised } from "./parts/frame.tsx";
import { showReport } from "./recovery/bug-report.tsx";
import { follows, homes, membership, pageOf } from "./state/fleet.ts";
import { otherVersion } from "./state/page-version.ts";
import { hashOf } from "./state/route.ts";
import { call, daemon, feeds, link, reconnect, refresh, safeMode } from "./state/session.ts";
import { signInTrouble } from "./state/sign-in.ts";

export function Banners(): JSX.Element {
  return (
    <div class="banners">
      <Down />
      <Elsewhere />
      <Recovering />
      <SafeMode />
      <OtherVersion />
    </div>
  );
}

/** PV2 of state/page-version.ts. */
function OtherVersion(): JSX.Element | null {
  if (otherVersion.value === undefined || link.value.kind !== "up") return null;
  return (
    <div class="banner info" role="status">
      <strong>
        This page is of version {VERSION}, and the home of {otherVersion.value}.
      </strong>
      <p>
        {isRemote
          ? "Some of it may not work until the relay, or whoever serves this page, has the same version. "
          : "Some of it may not work until it is loaded again. "}
        <button type="button" class="link" onClick={address.reload}>
          Reload
        </button>
      </p>
    </div>
  );
}

/** A connection that is made within moments is nothing to speak of. */
const WORTH_SAYING = 2;

function Down(): JSX.Element | null {
  const state = link.value;
  if (state.kind === "connecting" && state.failures >= WORTH_SAYING && isRemote) return <FarAway code={state.code} />;
  if (state.kind === "connecting" && state.failures >= WORTH_SAYING)
    return (
      <div class="banner bad" role="alert">
        <strong>The web host does not answer.</strong>
        <p>
          The page connects again by itself and catches up. What you see may be old. If it stays like this:{" "}
          <code>holdfast up</code>, then <code>holdfast logs</code>.{" "}
          <button type="button" class="link" onClick={reconnect}>
            Try now
          </button>
        </p>
      </div>
    );
  if (state.kind !== "up" || daemon.value.up || daemon.value.why === "") return null;
  return (
    <div class="banner bad" role="alert">
      <strong>{localised(daemon.value.why)}</strong>
      <p>
        Terminals keep working here. Everything else is read-only until the daemon is back, and catches up by itself. If
        it stays like this: <code>holdfast up</code>, then <code>holdfast logs</code>.
      </p>
    </div>
  );
}

/** Through a relay. What it says is a hint, and enough for a banner. */
function FarAway({ code }: { readonly code: number }): JSX.Element {
  const isAway = code === CLOSE.noHome;
  return (
    <div class="banner bad" role="alert">
      <strong>{isAway ? "The home is not connected to the relay." : "There is no connection to the home."}</strong>
      <p>
        The page connects again by itself and catches up. What you see may be old.{" "}
        {isAway && (
          <>
            On the home's machine, <code>holdfast tunnel status</code> says why.{" "}
          </>
        )}
        <button type="button" class="link" onClick={reconnect}>
          Try now
        </button>
      </p>
    </div>
  );
}

/** Another host of the fleet has this home, or may have it. */
function Elsewhere(): JSX.Element | null {
  const member = membership.value;
  const id = member?.home;
  useEffect(() => {
    if (follows.value) homes.refresh();
  }, [follows.value, member?.owner]);
  if (member === undefined || member.role === "owner" || !daemon.value.up) return null;
  if (member.role === "waiting")
    return (
      <div class="banner warn" role="alert">
        <strong>The database of the fleet has not said yet whether this home may run here.</strong>
        <p>
          It goes on by itself when the database answers. <code>holdfast fleet status</code> says why it does not.
        </p>
      </div>
    );
  const there = homes.value.value?.homes.find((home) => home.id === id);
  const page = there && pageOf(there);
  return (
    <div class="banner warn" role="alert">
      <strong>This home is on {plainLine(member.owner ?? "another host")} now.</strong>
      <p>
        Nothing is done here any more. What it has there is shown below, and cannot be changed from here.{" "}
        {page !== undefined && (
          <a href={page} rel="noreferrer">
            Go to its page
          </a>
        )}{" "}
        <a href={hashOf({ view: "homes" })}>All homes</a>
      </p>
    </div>
  );
}

function Recovering(): JSX.Element | null {
  const recovery = feeds.status.value.value?.recovery;
  const isOurs = (membership.value?.role ?? "owner") === "owner"; // It is not read before.
  if (recovery === undefined || !daemon.value.up || recovery.stage === "LIVE" || !isOurs) return null;
  const { stage, progress, reading } = recovery;
  const isFailed = stage.endsWith("_FAILED");
  const how = reading
    ? `reading ${reading.what}, ${reading.done} of ${reading.total}`
    : progress && `${progress.done} of ${progress.total} terminals are back`;
  return (
    <div class={`banner ${isFailed ? "bad" : "info"}`} role="status">
      <strong>
        {isFailed ? "The recovery failed" : "Recovering"}: {stage.toLowerCase().replaceAll("_", " ")}
      </strong>
      <p>
        {how ? `${how}. ` : ""}
        <a href={hashOf({ view: "recovery", report: undefined })}>Watch it</a>
      </p>
    </div>
  );
}

function SafeMode(): JSX.Element | null {
  const state = safeMode.value;
  if (!state.active) return null;
  return (
    <div class="banner warn" role="alert">
      <strong>Safe mode</strong>
      <p>{localised(state.reason)}</p>
      <ul>
        {state.off.map((what) => (
          <li key={what}>{what}</li>
        ))}
      </ul>
      <p class="buttons">
        <Action
          kind="primary"
          needs="safe-mode.exit"
          run={() => call("safe-mode.exit", {})}
          success="Safe mode is off."
          done={() => refresh("status", "terminals", "agents", "runs")}
        >
          Leave safe mode
        </Action>
        <Action isOfHost needs="web.bundle" run={showReport}>
          Report…
        </Action>
      </p>
    </div>
  );
}

export function SignedOut(): JSX.Element {
  const said = link.value.kind === "signed out" ? link.value.why : signInTrouble.value;
  const why = said.split(/(?<=\.)\s/)[0] ?? ""; // The rest says what is below.
  return (
    <section class="signed-out" role="alert">
      <h1>{why === "" ? "This browser is not signed in." : localised(why)}</h1>
      <p>
        {isRemote ? (
          <>
            On the home's machine, <code>holdfast pair</code> prints a link and a QR code that pair this device. They
            work once.
          </>
        ) : (
          <>
            In a shell of yours, <code>holdfast open</code> prints a link that signs this browser in. It works once.
          </>
        )}
      </p>
    </section>
  );
}
