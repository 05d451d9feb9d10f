// Whether this browser draws with a graphics card. Some offer WebGL without one: the processor computes every pixel,
// and the page's thread waits for each frame to be read back. Elements of the document are faster then.

/** SwiftShader is Chromium's, llvmpipe and softpipe are Mesa's, the last one is of Windows. */
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

export function isSoftware(renderer: string): boolean {
  return SOFTWARE.test(renderer);
}

let known: boolean | undefined;

/** Looked up once: a context is expensive where it is of no use. */
export function hasGraphicsCard(): boolean {
  known ??= !isSoftware(rendererName() ?? "software");
  return known;
}

/** Undefined without WebGL 2. */
function rendererName(): string | undefined {
  const context = document.createElement("canvas").getContext("webgl2");
  if (context === null) return undefined;
  const details = context.getExtension("WEBGL_debug_renderer_info");
  const name: unknown = context.getParameter(details?.UNMASKED_RENDERER_WEBGL ?? context.RENDERER);
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return String(name);
}
