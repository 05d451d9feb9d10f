import { expect, test } from "bun:test";
import { AssertionError, assert } from "./assert.ts";
import { breakerMachine, CircuitBreaker, type Pass } from "./breaker.ts";
import { cells, unreachable } from "./machine.ts";

const TIMEOUT = 1_000;
const newBreaker = (): CircuitBreaker => new CircuitBreaker({ name: "provider", threshold: 3, timeoutMs: TIMEOUT });

function admitted(breaker: CircuitBreaker, now: number): Pass {
  const pass = breaker.admit(now);
  assert(pass.ok, `admitted at ${now}`);
  return pass.value;
}

function failTimes(breaker: CircuitBreaker, times: number, now: number): void {
  for (let n = 0; n < times; n++) breaker.failed(admitted(breaker, now), now);
}

function opened(now: number): CircuitBreaker {
  const breaker = newBreaker();
  failTimes(breaker, 3, now);
  return breaker;
}

test("CB-1(a,b,c) the table matches the diagram in the document, cell by cell", () => {
  const legal = cells(breakerMachine).filter((cell) => cell.next !== undefined);
  expect(legal.map((cell) => `${cell.state} --> ${cell.next}: ${cell.event}`)).toEqual([
    "Closed --> Closed: success",
    "Closed --> Closed: failure below threshold",
    "Closed --> Open: failure at threshold",
    "Open --> HalfOpen: timeout elapsed",
    "HalfOpen --> Closed: success",
    "HalfOpen --> Open: failure at threshold",
  ]);
  expect(unreachable(breakerMachine)).toEqual([]);
});

test("CB-1(a) failures below the threshold leave it Closed, and one success resets the count", () => {
  const breaker = newBreaker();
  failTimes(breaker, 2, 0);
  breaker.succeeded(admitted(breaker, 0), 0);
  failTimes(breaker, 2, 0);
  expect(breaker.state).toBe("Closed");
});

test("CB-1(a) the failure that reaches the threshold opens it", () => {
  expect(opened(0).state).toBe("Open");
});

test("CB-1(b) C1 Open fails fast until its timeout, with a refusal that says when to try again", () => {
  const breaker = opened(500);
  const refusal = breaker.admit(500 + TIMEOUT - 1);
  expect(refusal.ok ? "admitted" : refusal.error).toEqual({
    code: "circuit-open",
    message: "provider is not being called: it failed too often.",
    hint: "Try again in 1 s.",
  });
  expect(breaker.admit(500 + TIMEOUT).ok).toBe(true);
});

test("CB-1(b) the refusal says why the last call failed, if that was told, and while the probe is out as well", () => {
  const breaker = newBreaker();
  for (const cause of ["500", "502", "503: on fire"]) breaker.failed(admitted(breaker, 0), 0, cause);
  const why = (now: number) => {
    const refusal = breaker.admit(now);
    return refusal.ok ? "admitted" : refusal.error.message;
  };
  expect(why(1)).toBe("provider is not being called: it failed too often. It failed with: 503: on fire");
  admitted(breaker, TIMEOUT);
  expect(why(TIMEOUT)).toContain("one call is testing whether it has recovered. It failed with: 503: on fire");
});

test("CB-1(c) C2 HalfOpen lets exactly one probe through", () => {
  const breaker = opened(0);
  admitted(breaker, TIMEOUT);
  expect(breaker.state).toBe("HalfOpen");
  for (let n = 0; n < 10; n++) expect(breaker.admit(TIMEOUT + n).ok).toBe(false);
});

test("CB-1(c) a successful probe closes it and resets the count of failures", () => {
  const breaker = opened(0);
  breaker.succeeded(admitted(breaker, TIMEOUT), TIMEOUT);
  expect(breaker.state).toBe("Closed");
  failTimes(breaker, 2, TIMEOUT);
  expect(breaker.state).toBe("Closed");
});

test("CB-1(c) a failed probe opens it again for a full timeout", () => {
  const breaker = opened(0);
  breaker.failed(admitted(breaker, TIMEOUT), TIMEOUT + 10);
  expect(breaker.state).toBe("Open");
  expect(breaker.admit(2 * TIMEOUT + 9).ok).toBe(false);
  expect(breaker.admit(2 * TIMEOUT + 10).ok).toBe(true);
});

test("C3 the outcome of a call from before it opened does not count for the probe", () => {
  const breaker = newBreaker();
  const late = admitted(breaker, 0);
  failTimes(breaker, 3, 0);
  breaker.succeeded(late, 1);
  expect(breaker.state).toBe("Open");
  admitted(breaker, TIMEOUT);
  breaker.succeeded(late, TIMEOUT);
  breaker.failed(late, TIMEOUT);
  expect(breaker.state).toBe("HalfOpen");
});

test("C4 a probe that never reports has failed, and the next timeout allows another", () => {
  const breaker = opened(0);
  const lost = admitted(breaker, TIMEOUT);
  expect(breaker.admit(2 * TIMEOUT).ok).toBe(false);
  expect(breaker.state).toBe("Open");
  breaker.succeeded(admitted(breaker, 3 * TIMEOUT), 3 * TIMEOUT);
  expect(breaker.state).toBe("Closed");
  breaker.failed(lost, 3 * TIMEOUT);
  expect(breaker.state).toBe("Closed");
});

test("a breaker that never opens or never waits is a bug in the caller", () => {
  expect(() => new CircuitBreaker({ name: "x", threshold: 0, timeoutMs: 1 })).toThrow(AssertionError);
  expect(() => new CircuitBreaker({ name: "x", threshold: 1, timeoutMs: 0 })).toThrow(AssertionError);
});

test("C5 a call that was cancelled counts as neither, and leaves the probe to the next one", () => {
  const breaker = newBreaker();
  failTimes(breaker, 2, 0);
  breaker.cancelled(admitted(breaker, 0));
  expect(breaker.state).toBe("Closed");
  failTimes(breaker, 1, 0);
  expect(breaker.state).toBe("Open");
  const probe = admitted(breaker, TIMEOUT);
  expect(breaker.admit(TIMEOUT).ok).toBe(false);
  breaker.cancelled(probe);
  const next = admitted(breaker, TIMEOUT + 1);
  expect(breaker.admit(TIMEOUT + 1).ok).toBe(false);
  breaker.succeeded(next, TIMEOUT + 2);
  expect(breaker.state).toBe("Closed");
});
