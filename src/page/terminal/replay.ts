// Moves through the past of a terminal: asks for the screen at a place, and plays.
// RE1. One request at a time. While one is awaited, only the newest place counts: a slider is dragged over many.
// RE2. A refused place leaves the screen that was there before, with the reason.
// RE3. While it plays, pauses of the program are skipped: a terminal may have waited for a night.
import { computed, type Signal, signal } from "@preact/signals";
import type { Refusal, Result } from "../../base/result.ts";
import type { PastScreen } from "../../wire/rpc/rpc.ts";
import {
  type Axis,
  axisOf,
  END,
  isQuiet,
  type Place,
  placeAt,
  sliderValue,
  stepOf,
  type Wish,
  wishFor,
} from "./past.ts";

/** Fast enough for eyes, slow enough for a home at the other end of a relay. */
const TICK_MS = 250;
/** How many bytes a second are played if there are no times, in steps of the slider. */
const BYTES_A_SECOND = 4;

export type ReplayPorts = {
  ask(wish: Wish): Promise<Result<PastScreen>>;
  /** Returns the function that ends it. */
  every(ms: number, fn: () => void): () => void;
};

export class Replay {
  readonly screen: Signal<PastScreen | undefined> = signal(undefined);
  readonly refusal: Signal<Refusal | undefined> = signal(undefined);
  /** What was asked for last; its screen may not have come yet. */
  readonly place: Signal<Place> = signal(END);
  readonly speed = signal(1);
  readonly isPlaying = signal(false);
  readonly axis = computed<Axis | undefined>(() => this.screen.value && axisOf(this.screen.value));
  readonly value = computed(() => {
    const [axis, screen] = [this.axis.value, this.screen.value];
    return axis === undefined || screen === undefined ? 0 : sliderValue(axis, this.place.value, screen);
  });
  readonly #ports: ReplayPorts;
  #next: Place | undefined;
  #isAsking = false;
  #stop: (() => void) | undefined;

  constructor(ports: ReplayPorts) {
    this.#ports = ports;
  }

  /** By a person: they look at it there. */
  to(place: Place): void {
    this.pause();
    this.#show(place);
  }

  play(): void {
    const axis = this.axis.value;
    if (axis === undefined || this.isPlaying.value) return;
    if (this.value.value >= axis.max) this.#show(placeAt(axis, axis.min));
    this.isPlaying.value = true;
    this.#stop = this.#ports.every(TICK_MS, () => this.#tick());
  }

  pause(): void {
    this.isPlaying.value = false;
    this.#stop?.();
    this.#stop = undefined;
  }

  #tick(): void {
    const [axis, screen] = [this.axis.value, this.screen.value];
    if (this.#isAsking || axis === undefined || screen === undefined) return;
    const value = this.value.value;
    if (value >= axis.max) this.pause();
    else if (isQuiet(axis, value, screen))
      this.#show({ kind: "offset", offset: screen.until + 1 }); // RE3
    else this.#show(placeAt(axis, value + stepOf(axis, this.#stepsATick(axis))));
  }

  #stepsATick({ by }: Axis): number {
    const seconds = (TICK_MS / 1000) * this.speed.value;
    return by === "time" ? seconds : seconds * BYTES_A_SECOND;
  }

  #show(place: Place): void {
    this.place.value = place;
    this.#next = place;
    if (!this.#isAsking) void this.#ask();
  }

  /** RE1 */
  async #ask(): Promise<void> {
    this.#isAsking = true;
    for (let place = this.#next; place !== undefined; place = this.#next) {
      this.#next = undefined;
      const asked = await this.#ports.ask(wishFor(place));
      this.refusal.value = asked.ok ? undefined : asked.error; // RE2
      if (asked.ok) this.screen.value = asked.value;
      else this.pause();
    }
    this.#isAsking = false;
  }
}
