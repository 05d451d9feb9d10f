// What a browser and a relay say to each other: bytes for the home in binary messages of a WebSocket. Where one message
// ends and the next begins means nothing: the stream to the home has no messages.

export const TUNNEL_SOCKET_PATH = "/api/tunnel";

/** Why the relay closes a WebSocket. */
export const TAB_CLOSED = {
  /** The home is not connected to the relay, or has just left. */
  away: 4503,
  /** There are too many tabs, of this home or in all. */
  full: 4529,
  /** It sends faster than the home reads. */
  flooded: 4508,
  /** It has sent text, which no page does. */
  notBinary: 1003,
  /** The home has ended this tab. */
  ended: 1000,
} as const;
