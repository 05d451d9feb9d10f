// The tab's icon: our mark, and how many things wait.

const MOST = 9;

export function faviconOf(waiting: number): string {
  const badge =
    waiting === 0
      ? ""
      : `<circle cx="22" cy="22" r="10" fill="#d4380d"/><text x="22" y="27" text-anchor="middle" font-family="sans-serif" font-size="14" font-weight="700" fill="#fff">${waiting > MOST ? "+" : waiting}</text>`;
  const mark = `<rect width="32" height="32" rx="7" fill="#1f6feb"/><path d="M10 7v18M22 7v18M10 16h12" stroke="#fff" stroke-width="3.4" stroke-linecap="round"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${mark}${badge}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
