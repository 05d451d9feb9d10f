// Loaded before our programs (`--preload`): their clock shows a time soon after the golden home was left, and goes on
// from there.
// Without it the fixture would age: prompts run out, checkpoints are doubted, and the daily round removes what is old.
export const SHIFT = "GOLDEN_SHIFT_MS";

const shiftMs = Number(process.env[SHIFT] ?? 0);
const now = Date.now;
Date.now = () => now() - shiftMs;
