// The version of the program, as its processes tell it to each other. Not read from package.json: that may be replaced while we run.
export const VERSION = "0.1.0";
