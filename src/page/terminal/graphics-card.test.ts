import { expect, test } from "bun:test";
import { isSoftware } from "./graphics-card.ts";

test("a processor that plays a graphics card is known by its name", () => {
  for (const name of [
    "ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero) (0x0000C0DE)), SwiftShader driver)",
    "llvmpipe (LLVM 15.0.6, 256 bits)",
    "ANGLE (Microsoft, Microsoft Basic Render Driver Direct3D11 vs_5_0 ps_5_0, D3D11)",
    "Apple Software Renderer",
  ])
    expect([name, isSoftware(name)]).toEqual([name, true]);
  for (const name of [
    "ANGLE (Intel, Mesa Intel(R) UHD Graphics 620 (KBL GT2), OpenGL 4.6)",
    "ANGLE (NVIDIA, NVIDIA GeForce RTX 3060 Direct3D11 vs_5_0 ps_5_0, D3D11)",
    "Apple M2",
    "WebKit WebGL",
  ])
    expect([name, isSoftware(name)]).toEqual([name, false]);
});
