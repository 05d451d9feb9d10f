// The text of the relay's systemd unit.
// RU1. systemd runs the relay itself, so that a reload (SIGHUP) reads the certificate for browsers again.
// RU2. It is restarted without a limit, and gets no more rights than it has.
import { commandLine } from "../service/unit.ts";

export const RELAY_UNIT = "holdfast-relay.service";

/** `start`: the command that runs the relay in the foreground. */
export function relayUnit(start: readonly string[], manager: "user" | "system"): string {
  return [
    "# Written by `holdfast relay service install`, which overwrites it; `holdfast relay service remove` removes it.",
    "[Unit]",
    "Description=Holdfast relay: joins browsers with homes that have no open port",
    ...(manager === "system" ? ["Wants=network-online.target", "After=network-online.target"] : []),
    "StartLimitIntervalSec=0",
    "",
    "[Service]",
    "Type=exec",
    `ExecStart=${commandLine(start)}`,
    "ExecReload=/bin/kill -HUP $MAINPID",
    "Restart=always",
    "RestartSec=1s",
    "TimeoutStopSec=45s",
    "UMask=0077",
    "LimitNOFILE=65536",
    "NoNewPrivileges=yes",
    "",
    "[Install]",
    `WantedBy=${manager === "system" ? "multi-user.target" : "default.target"}`,
    "",
  ].join("\n");
}
