// The time slider: a terminal's screen at any earlier moment, by time or, on tapes without times, by bytes.
// RV1. The address names the moment that is shown, unless it plays: a link leads back to it.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { BriefTerminal, PastScreen } from "../../wire/rpc/rpc.ts";
import { every, minutesAhead, replaceHash } from "../browser.ts";
import { Empty, localised, Words } from "../parts/frame.tsx";
import { hashOf, route } from "../state/route.ts";
import { call, canAct, feeds } from "../state/session.ts";
import { sizeText } from "../words.ts";
import { type Axis, fromLocalInput, keyed, localInput, placeAt, placeIn, placeText, STEPS, stepOf } from "./past.ts";
import { PastWindow } from "./past-window.ts";
import { Replay } from "./replay.ts";

const SPEEDS = [1, 4, 16, 64];

export function ReplayView({ id, at }: { readonly id: string; readonly at: string }): JSX.Element {
  const terminal = feeds.terminals.value.value?.find((one) => one.id === id || one.name === id);
  if (terminal !== undefined) return <Past key={terminal.id} terminal={terminal} at={at} />;
  return (
    <div class="view">
      <h1>History</h1>
      <Empty>
        {feeds.terminals.value.value === undefined ? "Looking…" : `There is no terminal ${id}.`}{" "}
        <a href={hashOf({ view: "terminals" })}>All terminals</a>
      </Empty>
    </div>
  );
}

type PastProps = { readonly terminal: BriefTerminal; readonly at: string };

function Past({ terminal: { id, name }, at }: PastProps): JSX.Element {
  const replay = useMemo(() => new Replay({ ask: (wish) => call("terminal.screenAt", { id, ...wish }), every }), [id]);
  useEffect(() => () => replay.pause(), [replay]);
  const isUp = canAct.value;
  const followed = route.value; // Another one each time that a link is followed, also the same link again.
  useEffect(() => replay.to(placeIn(at)), [followed]);
  useEffect(() => {
    if (isUp && replay.refusal.peek() !== undefined) replay.to(replay.place.peek()); // The daemon was down.
  }, [isUp]);
  const { screen, refusal, place, isPlaying } = replay;
  useEffect(() => {
    if (!isPlaying.value && screen.value !== undefined)
      replaceHash(hashOf({ view: "terminal", id, at: placeText(place.value) })); // RV1
  }, [place.value, screen.value, isPlaying.value]);
  useEffect(() => {
    const key = (event: KeyboardEvent) => pressed(replay, event);
    document.addEventListener("keydown", key);
    return () => document.removeEventListener("keydown", key);
  }, [replay]);
  return (
    <div class="terminal-view past">
      <div class="toolbar" role="toolbar" aria-label="History">
        <a href={hashOf({ view: "terminal", id })} aria-label={`Back to ${name}`}>
          ←
        </a>
        <h1>History of {name}</h1>
        <Shown screen={screen.value} />
        <span class="grow" />
        <a class="button primary" href={hashOf({ view: "terminal", id })}>
          Back to live
        </a>
      </div>
      {refusal.value !== undefined && (
        <p class="note warn" role="alert">
          <Words text={`${refusal.value.message} ${refusal.value.hint}`} />
        </p>
      )}
      <Screen name={name} screen={screen.value} />
      {replay.axis.value !== undefined && <Controls replay={replay} axis={replay.axis.value} />}
    </div>
  );
}

function pressed(replay: Replay, event: KeyboardEvent): void {
  const axis = replay.axis.value;
  const isField = event.target instanceof HTMLInputElement && event.target.type !== "range";
  if (axis === undefined || isField || event.target instanceof HTMLSelectElement) return;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const to = keyed(axis, replay.value.value, event);
  if (to === undefined && event.key !== " ") return;
  if (to !== undefined) replay.to(to);
  else if (event.target instanceof HTMLButtonElement)
    return; // It is pressed by this key.
  else if (replay.isPlaying.value) replay.pause();
  else replay.play();
  event.preventDefault();
}

/** When the screen was as it is shown. */
function Shown({ screen }: { readonly screen: PastScreen | undefined }): JSX.Element {
  if (screen === undefined) return <span class="soft">Looking…</span>;
  const { time, until, exact } = screen;
  return (
    <span class="soft nowrap" role="status">
      {time === null ? `byte ${until}` : `as of the output of ${localised(time)}`}
      {!exact && " · its beginning is not known, so parts may be missing"}
    </span>
  );
}

function Screen({ name, screen }: { readonly name: string; readonly screen: PastScreen | undefined }): JSX.Element {
  const place = useRef<HTMLElement>(null);
  const window = useRef<PastWindow | undefined>(undefined);
  useEffect(() => {
    if (place.current === null) return undefined;
    const made = new PastWindow(place.current);
    window.current = made;
    return () => made.close();
  }, []);
  useEffect(() => {
    if (screen !== undefined) window.current?.draw(screen);
  }, [screen]);
  return <section class="screen" ref={place} tabIndex={0} aria-label={`Past screen of ${name}`} />;
}

type ControlsProps = { readonly replay: Replay; readonly axis: Axis };

function Controls({ replay, axis }: ControlsProps): JSX.Element {
  const value = replay.value.value;
  const move = (steps: number) => replay.to(placeAt(axis, value + stepOf(axis, steps)));
  const unit = axis.by === "time" ? "s" : "KB";
  return (
    <fieldset class="time-line" aria-label="Time">
      {axis.by === "bytes" && (
        <p class="soft">This tape has no times: an older version recorded it. The slider moves by bytes.</p>
      )}
      <Slider replay={replay} axis={axis} />
      <div class="controls">
        <button
          type="button"
          class="button primary"
          onClick={() => (replay.isPlaying.value ? replay.pause() : replay.play())}
        >
          {replay.isPlaying.value ? "Pause" : "Play"}
        </button>
        {[-STEPS.large, -STEPS.small, STEPS.small, STEPS.large].map((steps) => (
          <button key={steps} type="button" class="button" onClick={() => move(steps)}>
            {steps < 0 ? "−" : "+"}
            {Math.abs(steps)} {unit}
          </button>
        ))}
        <label class="choice">
          Speed
          <select
            value={replay.speed.value}
            onChange={(event) => (replay.speed.value = Number(event.currentTarget.value))}
          >
            {SPEEDS.map((speed) => (
              <option key={speed} value={speed}>
                {speed}×
              </option>
            ))}
          </select>
        </label>
        {axis.by === "time" && <Jump replay={replay} axis={axis} />}
      </div>
    </fieldset>
  );
}

function Slider({ replay, axis }: ControlsProps): JSX.Element {
  const value = replay.value.value;
  const words = (at: number) => (axis.by === "time" ? localised(new Date(at).toISOString()) : sizeText(at));
  return (
    <div class="slider">
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={words(value)}
        min={axis.min}
        max={axis.max}
        step={1}
        value={value}
        onInput={(event) => replay.to(placeAt(axis, Number(event.currentTarget.value)))}
      />
      <p class="ends soft">
        <span>{words(axis.min)}</span>
        <strong>{words(value)}</strong>
        <span>{words(axis.max)}</span>
      </p>
    </div>
  );
}

function Jump({ replay, axis }: ControlsProps): JSX.Element {
  const jump = (text: string) => {
    const ms = fromLocalInput(text, minutesAhead);
    if (ms !== undefined) replay.to(placeAt(axis, ms));
  };
  return (
    <label class="choice">
      Go to
      <input
        type="datetime-local"
        step={1}
        min={localInput(axis.min, minutesAhead)}
        max={localInput(axis.max, minutesAhead)}
        value={localInput(replay.value.value, minutesAhead)}
        onChange={(event) => jump(event.currentTarget.value)}
      />
    </label>
  );
}
