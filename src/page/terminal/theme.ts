// The colours of terminals, light and dark, by what the system prefers.
import { signal } from "@preact/signals";
import type { ITheme } from "@xterm/xterm";

const LIGHT: ITheme = {
  ...{ foreground: "#1c2024", background: "#ffffff", cursor: "#1c2024", cursorAccent: "#ffffff" },
  selectionBackground: "#b5d5ff",
  ...{ black: "#24292f", red: "#c62a2f", green: "#18794e", yellow: "#8a5a00", blue: "#0b5cad", magenta: "#8145b5" },
  ...{ cyan: "#0e7490", white: "#57606a", brightBlack: "#6e7781", brightRed: "#dc3d43", brightGreen: "#218358" },
  ...{ brightYellow: "#946800", brightBlue: "#0b68cb", brightMagenta: "#953ea3", brightCyan: "#107d98" },
  brightWhite: "#8c959f",
};

const DARK: ITheme = {
  ...{ foreground: "#e6e8eb", background: "#0f1012", cursor: "#e6e8eb", cursorAccent: "#0f1012" },
  selectionBackground: "#2c4a73",
  ...{ black: "#2b2f36", red: "#ff7b72", green: "#4cc38a", yellow: "#e3b341", blue: "#6cb0ff", magenta: "#d2a8ff" },
  ...{ cyan: "#56d4dd", white: "#c9d1d9", brightBlack: "#7d8590", brightRed: "#ffa198", brightGreen: "#7ee0ae" },
  ...{ brightYellow: "#f2cc60", brightBlue: "#9ecbff", brightMagenta: "#e2c5ff", brightCyan: "#8be9f0" },
  brightWhite: "#ffffff",
};

const dark = matchMedia("(prefers-color-scheme: dark)");

export const theme = signal(dark.matches ? DARK : LIGHT);
dark.addEventListener("change", () => {
  theme.value = dark.matches ? DARK : LIGHT;
});
