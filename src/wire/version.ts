// The version that the processes tell each other. Not read from package.json, which may be replaced while they run.
export const VERSION = "0.1.0";
