// The text of a launchd agent, for macOS. It has not been tested there, so it is only printed. launchd has no start
// condition, so the watchdog itself exits if the operator wants `down`.
import type { ServiceFacts } from "./unit.ts";

export const AGENT_LABEL = "holdfast";

const MARKS: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

export function plistText({ start, log, environment }: Omit<ServiceFacts, "condition" | "home">): string {
  const variables = Object.entries(environment).map(([name, value]) => `    <key>${xml(name)}</key>${string(value)}`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    "<dict>",
    `  <key>Label</key>${string(AGENT_LABEL)}`,
    "  <key>ProgramArguments</key>",
    `  <array>${start.map(string).join("")}</array>`,
    "  <key>EnvironmentVariables</key>",
    "  <dict>",
    ...variables,
    "  </dict>",
    "  <key>RunAtLoad</key><true/>",
    "  <key>KeepAlive</key><true/>",
    "  <key>AbandonProcessGroup</key><true/>", // Processes that the watchdog started outlive it.
    "  <key>ProcessType</key><string>Background</string>",
    `  <key>StandardOutPath</key>${string(log)}`,
    `  <key>StandardErrorPath</key>${string(log)}`,
    "</dict>",
    "</plist>",
    "",
  ].join("\n");
}

function string(text: string): string {
  return `<string>${xml(text)}</string>`;
}

function xml(text: string): string {
  return text.replace(/[&<>]/g, (mark) => MARKS[mark] ?? mark);
}
