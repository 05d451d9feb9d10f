// The states of a home's tunnel to its relay, as the source document names them (TN-1 … TN-3).
import { machine } from "../../base/machine.ts";

export type TunnelState =
  | "Disconnected"
  | "Connecting"
  | "Authenticating"
  | "Connected"
  | "AuthFailed"
  | "CertExpired"
  | "CertRevoked"
  | "RequestRenewal"
  | "BackoffWait"
  | "HeartbeatTimeout"
  /** Until a person enrols again. */
  | "Ended";

export type TunnelEvent =
  | "initiate connection"
  | "TCP established"
  | "connection failed"
  | "mTLS success"
  | "certificate rejected"
  | "cert expired"
  | "cert revoked"
  | "transient error"
  | "auto-renew"
  | "new cert obtained"
  | "renewal failed"
  | "manual re-registration"
  | "connection lost"
  | "no response"
  | "assume dead"
  | "backoff elapsed"
  | "turned off";

export const tunnelMachine = machine<TunnelState, TunnelEvent>({
  name: "Tunnel",
  initial: "Disconnected",
  table: {
    Disconnected: { "initiate connection": "Connecting" },
    Connecting: {
      "TCP established": "Authenticating",
      "connection failed": "BackoffWait",
      "turned off": "Disconnected",
    },
    Authenticating: {
      "mTLS success": "Connected",
      "certificate rejected": "AuthFailed",
      "connection failed": "BackoffWait",
      "turned off": "Disconnected",
    },
    Connected: { "connection lost": "Disconnected", "no response": "HeartbeatTimeout", "turned off": "Disconnected" },
    AuthFailed: { "cert expired": "CertExpired", "cert revoked": "CertRevoked", "transient error": "BackoffWait" },
    CertExpired: { "auto-renew": "RequestRenewal" },
    CertRevoked: { "manual re-registration": "Ended" },
    RequestRenewal: {
      "new cert obtained": "Connecting",
      "renewal failed": "Ended",
      "connection failed": "BackoffWait",
      "turned off": "Disconnected",
    },
    BackoffWait: { "backoff elapsed": "Connecting", "turned off": "Disconnected" },
    HeartbeatTimeout: { "assume dead": "Disconnected" },
    Ended: {},
  },
});
