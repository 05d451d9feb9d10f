// How a daemon starts, as a table (DS-1 … DS-3).
import { machine } from "../base/machine.ts";

export type StartupState =
  | "LoadConfig"
  | "ConfigError"
  | "InitStorage"
  | "CorruptionDetected"
  | "AttemptRecovery"
  | "RecoveryFailed"
  | "ReconcileState"
  | "StartServers"
  | "LocalServerFailed"
  | "ServerExhausted"
  | "Running"
  | "Stopped";

export type StartupEvent =
  | "config valid"
  | "config invalid"
  | "storage healthy"
  | "integrity check failed"
  | "attempt"
  | "recovery worked"
  | "recovery failed"
  | "state reconciled"
  | "bind failed"
  | "bound"
  | "max retries"
  | "shutdown signal";

export const startupMachine = machine<StartupState, StartupEvent>({
  name: "daemon start-up",
  initial: "LoadConfig",
  table: {
    LoadConfig: { "config valid": "InitStorage", "config invalid": "ConfigError" },
    ConfigError: {},
    InitStorage: { "storage healthy": "ReconcileState", "integrity check failed": "CorruptionDetected" },
    CorruptionDetected: { attempt: "AttemptRecovery" },
    AttemptRecovery: { "recovery worked": "ReconcileState", "recovery failed": "RecoveryFailed" },
    RecoveryFailed: {},
    ReconcileState: { "state reconciled": "StartServers" },
    StartServers: { "bind failed": "LocalServerFailed", bound: "Running" },
    LocalServerFailed: { "bind failed": "LocalServerFailed", bound: "Running", "max retries": "ServerExhausted" },
    ServerExhausted: {},
    Running: { "shutdown signal": "Stopped" },
    Stopped: {},
  },
});
