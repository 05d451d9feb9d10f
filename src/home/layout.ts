// The names of everything below HOLDFAST_HOME that is neither a log nor a tape, once. Other programs see them: names
// are added, never changed (docs/FORMATS.md). The logs' own names are in log/session/places.ts, which cannot import
// this room.

/** Sockets, locks and notes: nothing in it has to survive a power cut. */
export const RUN = "run";
export const TOKEN = "run/token";
export const DAEMON_SOCKET = "run/daemon.sock";
export const DAEMON_LOCK = "run/daemon.lock";
export const WATCHDOG_SOCKET = "run/watchdog.sock";
export const WATCHDOG_LOCK = "run/watchdog.lock";
export const WATCHDOG_SETTINGS = "run/watchdog.json";
export const WEB_LOCK = "run/web.lock";
export const STANDBY_LOCK = "run/standby.lock";
/** What the standby program does now. */
export const STANDBY_STATUS = "run/standby.json";
/** Exists while the programs of agents and steps are stopped, because the lease of this home may have ended. */
export const FROZEN = "run/frozen.json";
export const WEB_ADDRESS = "run/web.json";
export const MCP_ADDRESS = "run/mcp.json";
/** What a sandboxed agent sees instead of `run/`. */
export const TOOL_DOOR = "run/door";
export const RUN_LOG = "run/watchdog.log";
export const HOLDER_PROGRAMS = "run/bin";
export const LAST_ALIVE = "run/seen.json";
export const SSH_LINKS = "run/ssh";
/** A link to the terminal that was attached last. */
export const LAST_ATTACHED = "run/attached/last";

/** Held by the process that writes the log; beside `wal/`, so that removing `run/` lets no second writer in. */
export const WAL_LOCK = "wal.lock";

export const RECOVERY = "recovery";
export const RECOVERY_STATE = "recovery/recovery-state.json";
export const REPORTS = "recovery/reports";
export const MIGRATIONS = "recovery/migrations";
export const CRASH_HISTORY = "recovery/crash-history.json";
/** What agents tried and may not do (attempts.ts). */
export const ATTEMPTS = "recovery/attempts.jsonl";
export const SAFE_MODE = "recovery/safe-mode.json";
export const WANTED = "recovery/wanted.json";
export const SERVICE_MARK = "recovery/service.json";
export const CLEAN_SHUTDOWN = "recovery/clean-shutdown.json";
/** Its id, and where it was last started (identity.ts). */
export const IDENTITY = "recovery/home.json";
/** Exists in a home that was restored from a backup and never started since (identity.ts). */
export const RESTORED = "recovery/restored.json";
/** The key of ids that agents must not foresee (prompt-key.ts). */
export const PROMPT_KEY = "recovery/prompt-key";
/** Browsers that may use the page (devices-file.ts). */
export const DEVICES = "recovery/devices.json";
/** Who is to be called about prompts, and how far that is (notify-files.ts). */
export const NOTIFY = "recovery/notify.json";
/** The key by which push services know this home. */
export const PUSH_KEY = "recovery/push-key.json";
/** Who this home is at its relay, with its key and certificate (tunnel-files.ts). */
export const TUNNEL_IDENTITY = "tunnel/identity.json";
/** Whether the operator wants the tunnel. */
export const TUNNEL_WANTED = "tunnel/wanted.json";
/** This home's key for devices that come through a relay; they know it by its public half. */
export const TUNNEL_DEVICE_KEY = "tunnel/device-key.json";
/** What the tunnel does now. */
export const TUNNEL_STATUS = "run/tunnel.json";
/** Exists once an agent CLI was seen in a terminal: from then on, who types there is looked at (callers.ts). */
export const AGENTS_TYPED = "recovery/agents-typed";
/** What was seen of running terminals since the last checkpoint (daemon/terminal/sightings.ts). */
export const SIGHTINGS = "recovery/sightings.json";
export const LAST_BOOT = "recovery/last-boot.json";
export const CLOCK = "recovery/clock.json";
/** An upgrade of our binary that is under way (upgrade.ts). */
export const UPGRADE = "recovery/upgrade.json";

/** Under which take this home is ours (docs/FLEET.md). */
export const FLEET_OWNER = "fleet/owner.json";
/** Exists while another host has this home. */
export const FLEET_FENCED = "fleet/fenced.json";
/** Exists in a home that was taken over from another host, until that is reported. */
export const TAKEN = "recovery/taken.json";
export const UNCLAIMED_SESSIONS = "recovery/unclaimed.json";
/** What agents of this home have outside of it (outside-files.ts). */
export const FLEET_OUTSIDE = "fleet/outside.json";
/** Git directories of ours, beside those of agents (standby/carry-work.ts). A cache. */
export const FLEET_WORKS = "fleet/works";
/** Copies of that, for the host that takes the home over. */
export const CARRIED = "carried";
export const CARRIED_INDEX = "carried/index.json";
/** When the lease of this home ends. */
export const LEASE = "run/lease.json";

export const TERMINALS = "terminals";
export const AGENTS = "agents";
export const TMUX = "tmux";
/** Clones of repositories, in which sandboxed agents work; they are the user's, and nothing removes them. */
export const CLONES = "clones";
/** What holders of attempts record: claims and exits (held/journals.ts). */
export const JOURNALS = "journals";
export const QUEUED = "queue";
/** Runs of workflows. */
export const STATE = "state";
