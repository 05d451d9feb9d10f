// What a person gives beside the command line: a text from standard input if the argument is `-`, or a typed answer.
import { realInput } from "../../world/real/input.ts";

export async function givenText(words: string): Promise<string> {
  return words === "-" ? (await read(() => false)).replace(/\n$/, "") : words;
}

/** One line that a person types at their terminal. */
export async function typedLine(): Promise<string> {
  return (await read((text) => text.includes("\n"))).split("\n", 1)[0] ?? "";
}

async function read(isEnough: (text: string) => boolean): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of realInput()) {
    text += decoder.decode(bytes, { stream: true });
    if (isEnough(text)) break;
  }
  return text + decoder.decode();
}
