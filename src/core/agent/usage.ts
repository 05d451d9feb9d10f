// What agents use: tokens, and dollars if a provider says what it costs. Sums, and how people read them.
import type { Usage } from "./provider.ts";

export function addUsage(one: Usage | undefined, other: Usage): Usage {
  if (one === undefined) return other;
  const sum = (a: number | undefined, b: number | undefined) => (a === undefined ? b : a + (b ?? 0));
  const [cached, cost] = [sum(one.cached_tokens, other.cached_tokens), sum(one.cost_usd, other.cost_usd)];
  return {
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    ...(cached !== undefined && { cached_tokens: cached }),
    ...(cost !== undefined && { cost_usd: cost }),
  };
}

/** "12.3k in, 1.2k out, $0.42". */
export function usageText({ input_tokens, output_tokens, cost_usd }: Usage): string {
  const cost = cost_usd === undefined ? "" : `, ${dollars(cost_usd)}`;
  return `${tokensText(input_tokens)} in, ${tokensText(output_tokens)} out${cost}`;
}

/** Three digits below a dollar: a turn may cost less than a cent. */
export function dollars(amount: number): string {
  return `$${amount.toFixed(amount < 1 ? 3 : 2)}`;
}

export function tokensText(tokens: number): string {
  if (tokens < 1_000) return `${tokens}`;
  return tokens < 1_000_000 ? `${(tokens / 1_000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}
