// The version of the program, as the CLI and the daemon tell it to each other.
export const VERSION = "0.1.0";
