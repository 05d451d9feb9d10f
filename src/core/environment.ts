// Which variables of an environment are stored, so that a terminal can be restarted: all except those that look like
// secrets.
// V1. No secret is written to disk by default: neither by its name, nor by a value that is clearly one.
// V2. The operator decides: their `deny` wins over their `allow`, and either wins over the defaults.
// V3. What is left out is named, never shown: the report says which variables are unset after a restore.

export type EnvironmentRules = {
  /** Globs (`*`, `?`) of names that are kept although they look like secrets. */
  readonly allow: readonly string[];
  /** Globs of names that are never kept. */
  readonly deny: readonly string[];
};

export type Kept = {
  readonly kept: Readonly<Record<string, string>>;
  /** Names only, sorted: V3. */
  readonly leftOut: readonly string[];
};

export const SECRET_NAMES: readonly string[] = [
  ...["TOKEN", "*_TOKEN", "*_TOKEN_*", "*AUTHTOKEN*", "*ACCESSTOKEN*", "*_PAT", "*_JWT", "*BEARER*"],
  ...["*_KEY", "*APIKEY*", "*API_KEY*", "*ACCESS_KEY*", "*PRIVATE_KEY*", "*ENCRYPTION_KEY*", "*SIGNING_KEY*"],
  ...["*SECRET*", "*PASSWORD*", "*PASSWD*", "*PASSPHRASE*", "*_PASS", "*_PWD", "*_PIN"],
  ...["*CREDENTIAL*", "*_CREDS", "*_AUTH", "*_AUTHORIZATION", "*COOKIE*", "*WEBHOOK*", "*_DSN"],
];

/** Tokens that say by their form whose they are: no other text looks like this by chance. */
const TOKENS = [
  "gh[opsur]_[A-Za-z0-9]{30,}|github_pat_\\w{20,}|glpat-[\\w-]{20,}", // GitHub, GitLab
  "sk-[A-Za-z0-9_-]{20,}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}", // OpenAI, Anthropic, OpenRouter; Stripe
  "xox[abeoprs]-[A-Za-z0-9-]{10,}|SG\\.[\\w-]{16,}\\.[\\w-]{16,}", // Slack, SendGrid
  "(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\\w-]{35}|ya29\\.[\\w-]{20,}|dop_v1_[a-f0-9]{64}", // AWS, Google, DigitalOcean
  "npm_[A-Za-z0-9]{36}|pypi-[\\w-]{16,}|hf_[A-Za-z0-9]{30,}|dckr_pat_[\\w-]{20,}", // npm, PyPI, Hugging Face, Docker
  "AGE-SECRET-KEY-1[A-Z0-9]{50,}|eyJ[\\w-]{10,}\\.eyJ[\\w-]{10,}\\.[\\w-]+", // age; JSON web tokens
];

/** A private key in PEM, an address with a password in it (`postgres://ann:pw@host/db`), or a token. */
const SECRET_VALUES = new RegExp(
  [
    "-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "\\b[A-Za-z][A-Za-z\\d+.-]*:\\/\\/[^\\s/:@]*:[^\\s/@]+@",
    ...TOKENS.map((token) => `(?<![\\w-])(?:${token})`),
  ].join("|"),
);

const WILD: Readonly<Record<string, string>> = { "*": ".*", "?": "." };

export function keepEnvironment(environment: Readonly<Record<string, string>>, rules: EnvironmentRules): Kept {
  const judge = judgeOf(rules);
  const { kept = [], leftOut = [] } = Object.groupBy(Object.entries(environment), ([name, value]) =>
    judge(name, value) ? "kept" : "leftOut",
  );
  // Not assigned one by one: a variable may be called `__proto__`.
  return { kept: Object.fromEntries(kept), leftOut: leftOut.map(([name]) => name).sort() };
}

function judgeOf(rules: EnvironmentRules): (name: string, value: string) => boolean {
  const denied = matcher(rules.deny);
  const allowed = matcher(rules.allow);
  return (name, value) => {
    if (denied(name)) return false; // V2
    return allowed(name) || !(looksSecret(name) || SECRET_VALUES.test(value) || isProxyWithUser(name, value)); // V1
  };
}

/** `HTTPS_PROXY=ann:pw@proxy:3128`: the address of a proxy needs no scheme. */
function isProxyWithUser(name: string, value: string): boolean {
  return /_proxy$/i.test(name) && value.includes("@");
}

/** Whether a text is or contains a recognizable secret. */
export function hasSecret(text: string): boolean {
  return SECRET_VALUES.test(text);
}

const isSecretName = matcher(SECRET_NAMES);

export function looksSecret(name: string): boolean {
  return isSecretName(name);
}

/** Whether a name matches one of the globs; case does not count (`npm_config__authToken`). */
function matcher(globs: readonly string[]): (name: string) => boolean {
  const patterns = globs.map(
    (glob) => new RegExp(`^${[...glob].map((character) => WILD[character] ?? escaped(character)).join("")}$`, "is"),
  );
  return (name) => patterns.some((pattern) => pattern.test(name));
}

function escaped(character: string): string {
  return character.replace(/[\\^$.|+()[\]{}]/, "\\$&");
}
