// The items of a map as a grid of squares, and the item that is chosen.
// IT1. The squares are drawn on a canvas as large as the window, whatever the number of items is (IG1).
// IT2. By keyboard: the grid takes the focus, arrows choose an item, and what is chosen is said.
import { effect, useSignal } from "@preact/signals";
import type { JSX, TargetedKeyboardEvent, TargetedMouseEvent } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { ItemProgress } from "../../core/workflow/progress.ts";
import type { ShownRun } from "../../wire/rpc/workflow.ts";
import { Section } from "../parts/frame.tsx";
import { drawItems } from "./draw-items.ts";
import {
  type GridShape,
  heightOf,
  itemAt,
  itemsIn,
  movedBy,
  piecesIn,
  scrolledTo,
  shapeOf,
  stateOf,
} from "./item-grid.ts";
import { ItemPanel } from "./item-panel.tsx";
import type { RunWatch } from "./run-watch.ts";
import { followSize } from "./timeline.tsx";

const LEGEND = [
  ["pending", "soft"],
  ["active", "info"],
  ["succeeded", "good"],
  ["failed", "bad"],
  ["cleared", "warn"],
] as const;

type ItemsProps = { readonly run: ShownRun; readonly items: ItemProgress; readonly watch: RunWatch };

export function Items({ run, items, watch }: ItemsProps): JSX.Element {
  const { total, succeeded, failed, active, complete } = items;
  const chosen = useSignal<number | undefined>(undefined);
  return (
    <Section title="Items" many={total}>
      <p class="soft">
        {succeeded} of {total}
        {!complete && "+"} succeeded, {failed} failed, {active} being worked on.
      </p>
      <Grid
        name={run.name}
        total={total}
        watch={watch}
        chosen={chosen.value}
        choose={(item) => (chosen.value = item)}
      />
      <p class="legend">
        {LEGEND.map(([word, tone]) => (
          <span key={word} class={`state ${tone}`}>
            {word}
          </span>
        ))}
        <label class="jump">
          <span class="soft">Item</span>
          <input
            type="number"
            min={0}
            max={total - 1}
            onChange={(event) => {
              const item = Math.floor(Number(event.currentTarget.value));
              if (item >= 0 && item < total) chosen.value = item;
            }}
          />
        </label>
      </p>
      {chosen.value !== undefined && <ItemPanel key={chosen.value} run={run} item={chosen.value} />}
    </Section>
  );
}

type GridProps = {
  readonly name: string;
  readonly total: number;
  readonly watch: RunWatch;
  readonly chosen: number | undefined;
  readonly choose: (item: number) => void;
};

function Grid({ name, total, watch, chosen, choose }: GridProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const sight = useSignal({ top: 0, height: 0, width: 0 });
  const shape = shapeOf(sight.value.width, total);
  const seen = itemsIn(shape, sight.value.top, sight.value.height);
  useLayoutEffect(
    () => followSize(box.current, (height, width) => (sight.value = { ...sight.peek(), height, width })),
    [],
  );
  useEffect(() => watch.showsItems(piecesIn(seen)), [seen.first, seen.end]);
  useEffect(
    () =>
      effect(() => {
        const { top, height, width } = sight.value;
        if (canvas.current !== null) drawItems(canvas.current, { shape, top, height, width }, watch.pieces, chosen);
      }),
    [total, chosen, sight.value],
  );
  const show = (item: number) => {
    const { top, height } = sight.peek();
    if (box.current !== null) box.current.scrollTop = scrolledTo(item, shape.columns, top, height);
  };
  useEffect(() => {
    if (chosen !== undefined) show(chosen);
  }, [chosen]);
  return (
    <>
      <div
        ref={box}
        class="item-box"
        tabIndex={0}
        role="application"
        aria-roledescription="grid of items"
        aria-label={`${total} items of ${name}. Arrow keys choose one.`}
        onScroll={(event) => (sight.value = { ...sight.peek(), top: event.currentTarget.scrollTop })}
        onClick={(event) => pointed(event, shape, choose)}
        onKeyDown={(event) => moved(event, chosen, shape, choose)}
      >
        <div class="item-room" style={{ height: `${heightOf(shape)}px` }}>
          <canvas ref={canvas} />
        </div>
      </div>
      <p class="soft" role="status">
        {chosen === undefined ? "No item is chosen." : `Item ${chosen}: ${stateOf(watch.pieces, chosen)}.`}
      </p>
    </>
  );
}

type Pointed = TargetedMouseEvent<HTMLElement>;

function pointed(event: Pointed, shape: GridShape, choose: (item: number) => void): void {
  const { left, top } = event.currentTarget.getBoundingClientRect();
  const y = event.clientY - top + event.currentTarget.scrollTop;
  const item = itemAt(shape, event.clientX - left, y);
  if (item !== undefined) choose(item);
}

/** IT2 */
function moved(
  event: TargetedKeyboardEvent<HTMLElement>,
  chosen: number | undefined,
  shape: GridShape,
  choose: (item: number) => void,
): void {
  const item = chosen === undefined && event.key.startsWith("Arrow") ? 0 : movedBy(event.key, chosen ?? 0, shape);
  if (item === undefined) return;
  event.preventDefault();
  choose(item);
}
