// Notifications: whether the last calls reached those who want to be called, from what the daemon has recorded.
import { readNotifyBook } from "../../home/notify-files.ts";
import { count } from "../print.ts";
import { type Finding, fine, type Site, warning } from "./check.ts";

const NAME = "notifications";

export async function checkNotify({ world, home }: Site): Promise<Finding[]> {
  const { records, subscriptions } = readNotifyBook(world.disk, home);
  if (records.size === 0 && subscriptions.length === 0) return [];
  const failing = [...records.values()].filter(({ failures }) => failures > 0);
  const [first] = failing;
  if (first === undefined) return [fine(NAME, `the last calls arrived; ${count(subscriptions.length, "browser")}`)];
  const { why, failedAt, failures } = first;
  return [
    warning(NAME, {
      what: `the last calls of ${count(failing.length, "target")} failed, ${count(failures, "time")} in a row, at ${failedAt}`,
      why,
      next: "holdfast notify test",
    }),
  ];
}
