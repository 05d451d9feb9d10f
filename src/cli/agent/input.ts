// A text that was given in words, or as what stands at our input (`-`).
import { realInput } from "../../world/real/input.ts";

export async function givenText(words: string): Promise<string> {
  if (words !== "-") return words;
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of realInput()) text += decoder.decode(bytes, { stream: true });
  return (text + decoder.decode()).replace(/\n$/, "");
}
