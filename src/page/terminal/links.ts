// Links in a terminal's output: addresses that a program printed, and hyperlinks (OSC 8), whose text may say anything.
// LI1. A link is opened only on purpose: with Ctrl or Cmd held. While the pointer is over it, its address is shown.
// LI2. Only addresses of the web are opened, and what is opened learns nothing of this page and cannot reach it.

type Click = Pick<MouseEvent, "ctrlKey" | "metaKey">;

export type LinkPorts = {
  /** Where the pointer is; undefined if it is over no link. */
  show(address: string | undefined): void;
  open(address: string): void;
};

/** For both kinds of links. */
export function linkHandler({ show, open }: LinkPorts) {
  return {
    activate: (click: Click, address: string) => {
      if ((click.ctrlKey || click.metaKey) && isOfTheWeb(address)) open(address); // LI1
    },
    hover: (_: unknown, address: string) => show(address),
    leave: () => show(undefined),
  };
}

/** LI2 */
function isOfTheWeb(address: string): boolean {
  return URL.canParse(address) && ["http:", "https:"].includes(new URL(address).protocol);
}
