// A text given as an argument, or read from standard input if it is `-`.
import { realInput } from "../../world/real/input.ts";

export async function givenText(words: string): Promise<string> {
  if (words !== "-") return words;
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of realInput()) text += decoder.decode(bytes, { stream: true });
  return (text + decoder.decode()).replace(/\n$/, "");
}
