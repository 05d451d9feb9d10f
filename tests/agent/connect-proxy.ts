// A proxy as companies have one: it wants a user and a password, and it alone knows where names lead. Whatever it is
// asked for is on the given port of this machine.
import { createServer, connect as dial, type Server, type Socket } from "node:net";

const END = "\r\n\r\n";

export class ConnectProxy {
  /** The first line of each request, and what it said about who asks. */
  readonly asked: { readonly line: string; readonly authorization: string | undefined }[] = [];
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  private constructor(behind: number, pair: string) {
    this.#server = createServer((socket) => this.#serve(socket, behind, pair));
  }

  /** `pair` is `user:password`. */
  static async on(behind: number, pair: string): Promise<ConnectProxy> {
    const proxy = new ConnectProxy(behind, pair);
    await new Promise<void>((listening) => proxy.#server.listen(0, "127.0.0.1", listening));
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  async stop(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((closed) => this.#server.close(closed));
  }

  #serve(socket: Socket, behind: number, pair: string): void {
    let text = "";
    this.#keep(socket);
    const read = (bytes: Buffer) => {
      text += bytes.toString("latin1");
      const end = text.indexOf(END);
      if (end < 0) return;
      socket.off("data", read);
      const authorization = /^proxy-authorization: (.*)$/im.exec(text.slice(0, end))?.[1];
      this.asked.push({ line: text.slice(0, text.indexOf("\r\n")), authorization });
      if (authorization !== `Basic ${Buffer.from(pair).toString("base64")}`)
        return void socket.end(`HTTP/1.1 407 Proxy Authentication Required${END}`);
      this.#join(socket, behind, text, end + END.length);
    };
    socket.on("data", read);
  }

  /** A plain request is passed on as it is, of a tunnel only what follows its head. */
  #join(socket: Socket, behind: number, text: string, end: number): void {
    const isTunnel = text.startsWith("CONNECT ");
    const outside = dial(behind, "127.0.0.1", () => {
      if (isTunnel) socket.write(`HTTP/1.1 200 OK${END}`);
      outside.write(Buffer.from(text.slice(isTunnel ? end : 0), "latin1"));
      socket.pipe(outside);
      outside.pipe(socket);
    });
    this.#keep(outside);
  }

  #keep(socket: Socket): void {
    this.#open.add(socket);
    socket.on("close", () => this.#open.delete(socket));
    socket.on("error", () => socket.destroy());
  }
}
