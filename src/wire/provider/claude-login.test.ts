// The one field of Claude Code's login file that we read.
import { expect, test } from "bun:test";
import { loginToken } from "./claude-login.ts";

test("the token that is valid now is read, and anything else is none", () => {
  expect(loginToken('{"claudeAiOauth":{"accessToken":"sk-ant-oat01-x","refreshToken":"never"}}')).toBe(
    "sk-ant-oat01-x",
  );
  const wrong = ["", "[]", "{}", '{"claudeAiOauth":1}', '{"claudeAiOauth":{"accessToken":1}}'];
  for (const text of [...wrong, '{"claudeAiOauth":{"accessToken":"a\\nb"}}', '{"claudeAiOauth":{"accessToken":""}}'])
    expect([text, loginToken(text)]).toEqual([text, undefined]);
});
