// How soon a prompt is seen on a device: a real home, our own push service (tests/notify), and the service worker of a
// real Chromium.
// web.notify: from the time that the prompt has in its agent's log until the notification is shown, in milliseconds,
// the longest of all prompts. On the way are the outbox on disk, encryption, HTTPS to the push service, decryption
// there in the browser's place, and the delivery to the worker by DevTools in place of the push service's own
// connection to a browser, which is the one part that is not measured. The peer is the bar: within a second.
import { ACTOR } from "../tests/agent/agent-home.ts";
import { PushServer } from "../tests/notify/push-server.ts";
import { PushTab } from "../tests/page/push-tab.ts";
import type { Run } from "./benches.ts";
import { signedIn, type Web, withBrowser } from "./browser.ts";
import { median } from "./rounds.ts";
import { costRow } from "./row.ts";
import { until } from "./waiting.ts";

const MAX_MS = 1_000;
const PROMPTS = 20;
const PATIENCE_MS = 60_000;
const AGENT = "asks";
const PHONE = "phone";

export const webNotify: Run = async (_names, bench, emit) => {
  const push = await PushServer.open();
  try {
    await withBrowser(bench, `[agents]\nsandbox = false\n[push]\nallow = ["${push.host}"]\n`, async (web) => {
      const called = await calledTab(web, push);
      const took: number[] = [];
      const posted: number[] = [];
      for (let count = bench.quick ? 2 : PROMPTS; count > 0; count -= 1) {
        const { shownMs, postedMs } = await once(web, push, called);
        took.push(shownMs);
        posted.push(postedMs);
      }
      bench.say(
        `  web.notify: at the push service after ${median(posted).toFixed(0)} ms, shown after ${median(took).toFixed(0)} (medians)`,
      );
      emit(costRow({ name: "web.notify", value: Math.max(...took), unit: "ms", bar: MAX_MS }));
    });
  } finally {
    await push.close();
  }
};

/** With a daemon that trusts the push service, and an agent that asks. */
async function calledTab(web: Web, push: PushServer): Promise<PushTab> {
  const { home } = web;
  home.env = { ...home.env, NODE_EXTRA_CA_CERTS: push.certificate };
  await home.run("down");
  await home.run("up");
  await home.run("agent", "new", AGENT, "--provider", "scripted", "--", ...ACTOR);
  let called: PushTab | undefined;
  const page = await signedIn(web, async (tab) => {
    called = await PushTab.on({ page: tab, strange: [] }, push, PHONE);
  });
  await page.getByRole("navigation").getByRole("link", { name: "Access" }).click();
  if (called === undefined) throw new Error("the tab was not prepared");
  await called.turnOn();
  return called;
}

async function once({ home }: Web, push: PushServer, called: PushTab) {
  const { arrived } = push.browser(PHONE);
  const before = arrived.length;
  const isPosted = until("the push service has it", PATIENCE_MS, async () =>
    arrived.length > before ? Date.now() : undefined,
  );
  await home.run("agent", "send", AGENT, ">> ask Bash make");
  const postedAt = await isPosted;
  const tag = arrived[before]?.message.tag ?? "";
  await called.deliver();
  const shownAt = Date.now();
  const client = await home.dial();
  const prompts = await client?.call("prompt.list", {});
  const since = prompts?.ok === true ? prompts.value.find(({ id }) => id === tag)?.since : undefined;
  await client?.call("prompt.answer", {
    prompt: tag,
    answer: crypto.randomUUID().replaceAll("-", ""),
    decision: "allow",
  });
  client?.close();
  await until("its end has come", PATIENCE_MS, async () => (arrived.length > before + 1 ? true : undefined));
  await called.deliver();
  const from = Date.parse(since ?? "");
  return { shownMs: shownAt - from, postedMs: postedAt - from };
}
