// What the fuzzer does, as plain data: a step can be generated, shrunk, printed, saved and replayed.
import fc from "fast-check";

/** `again`: the following start dies too, at that disk call; 0 if it survives. */
export type Death = {
  readonly how: Ending;
  readonly seed: number;
  readonly again: { readonly calls: number; readonly how: Ending };
};
type Ending = "kill" | "power cut";

export type Step =
  | { readonly kind: "append"; readonly sessions: readonly number[]; readonly size: number }
  | { readonly kind: "settle" }
  | { readonly kind: "drain" }
  | { readonly kind: "rotate" }
  | { readonly kind: "idle"; readonly ms: number }
  | { readonly kind: "read" }
  | { readonly kind: "checkpoint"; readonly size: number }
  | { readonly kind: "tape"; readonly size: number }
  | { readonly kind: "sync tape" }
  /** Now, with everything in progress. */
  | { readonly kind: "crash"; readonly death: Death }
  /** The crash counter: so many disk calls from now. */
  | { readonly kind: "crash at call"; readonly calls: number; readonly death: Death }
  | { readonly kind: "restart" }
  | {
      readonly kind: "fail sync";
      readonly after: number;
      readonly code: "EIO" | "EINTR";
      readonly reached: boolean;
      readonly death: Death;
    }
  | { readonly kind: "full disk"; readonly room: number }
  /** The next batch finds its segment full after this many bytes: on a copy-on-write disk. */
  | { readonly kind: "full segment"; readonly bytes: number }
  | { readonly kind: "room again" }
  | { readonly kind: "short calls"; readonly bytes: number; readonly calls: number }
  | { readonly kind: "interruptions"; readonly calls: number };

const ending = fc.constantFrom<Ending>("kill", "power cut");
const never = fc.constant(0);
const death: fc.Arbitrary<Death> = fc.record({
  how: ending,
  seed: fc.nat(9999),
  again: fc.record({ calls: fc.oneof(never, fc.nat(80)), how: ending }),
});
const sessions = fc.uniqueArray(fc.nat(4), { minLength: 1, maxLength: 3 });

const append = fc.record({
  kind: fc.constant("append"),
  sessions,
  size: fc.oneof({ weight: 4, arbitrary: fc.nat(40) }, { weight: 1, arbitrary: fc.nat(500) }),
});

const crashes = [
  fc.record({ kind: fc.constant("crash"), death }),
  fc.record({
    kind: fc.constant("crash at call"),
    calls: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 80 })),
    death,
  }),
  fc.record({ kind: fc.constant("restart") }),
] as const;

const faults = [
  fc.record({
    kind: fc.constant("fail sync"),
    after: fc.nat(5),
    code: fc.constantFrom("EIO", "EINTR"),
    reached: fc.boolean(),
    death,
  }),
  fc.record({ kind: fc.constant("full disk"), room: fc.nat(3000) }),
  fc.record({ kind: fc.constant("full segment"), bytes: fc.nat(600) }),
  fc.record({ kind: fc.constant("room again") }),
  fc.record({ kind: fc.constant("short calls"), bytes: fc.integer({ min: 1, max: 100 }), calls: fc.nat(40) }),
  fc.record({ kind: fc.constant("interruptions"), calls: fc.nat(20) }),
] as const;

/** Each arbitrary makes one kind of step; repetition in this list is frequency. */
export const STEPS: readonly fc.Arbitrary<Step>[] = [
  append,
  append,
  append,
  append,
  fc.record({ kind: fc.constant("settle") }),
  fc.record({ kind: fc.constant("settle") }),
  fc.record({ kind: fc.constant("drain") }),
  fc.record({ kind: fc.constant("rotate") }),
  fc.record({ kind: fc.constant("idle"), ms: fc.constantFrom(50, 100, 1000) }),
  fc.record({ kind: fc.constant("read") }),
  fc.record({ kind: fc.constant("checkpoint"), size: fc.nat(300) }),
  fc.record({ kind: fc.constant("tape"), size: fc.integer({ min: 1, max: 50 }) }),
  fc.record({ kind: fc.constant("sync tape") }),
  ...crashes,
  ...faults,
];
