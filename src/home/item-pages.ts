// The items of a run's map on disk, beside its checkpoints: `state/<repo>/sessions/<id>/items.jsonl`, one page a line.
// IP1. A page is written when it is at rest (IL3 of core/workflow/item-list.ts), and once: the checkpoints that follow
//      name it. What is being worked on is in the checkpoint itself, and so is the page that the map has come to, which
//      will change next. So a checkpoint costs what has changed.
// IP2. A page that is durable is let go from memory: what a run needs there is bounded by what is in flight.
import { Fault } from "../base/fault.ts";
import { joinPath } from "../base/path.ts";
import type { StoredMapState } from "../core/workflow/checkpoint.ts";
import {
  heldPage,
  type Item,
  type ItemList,
  type ItemPage,
  isAtRest,
  listOfPages,
  PAGE_ITEMS,
  pagesOf,
  type StoredPage,
  storedPage,
} from "../core/workflow/item-list.ts";
import type { Items } from "../core/workflow/run.ts";
import { PageFile } from "../log/checkpoint/page-file.ts";
import { itemPageOf, itemPagesIn } from "../wire/stored/workflow.ts";
import type { Disk } from "../world/disk.ts";

export const ITEMS_FILE = "items.jsonl";

/** Pages that were read last stay in memory: lists are walked item by item. */
const MAX_READ = 2;

/** Called when so many bytes, as JSON, are not needed in memory any more. */
export type LetGo = (bytes: number) => void;

export type StoredPages = { readonly pages: StoredMapState["pages"]; readonly bytes: number };

export class ItemPages {
  readonly #file: PageFile;
  readonly #path: string;
  readonly #read = new Map<string, readonly Item[]>();
  readonly #letGo: LetGo;

  constructor(disk: Disk, directory: string, letGo: LetGo) {
    this.#letGo = letGo;
    this.#path = joinPath(directory, ITEMS_FILE);
    this.#file = new PageFile(disk, this.#path);
  }

  /** Makes what is at rest durable; `bytes` is what that took (IP1). */
  async store({ all, next }: Items): Promise<StoredPages> {
    const pages = pagesOf(all);
    const present = next % PAGE_ITEMS === 0 ? undefined : pages[Math.floor(next / PAGE_ITEMS)];
    const fresh = pages.flatMap((page) => {
      const { content } = page;
      const isFresh = page !== present && content.kind === "held" && isAtRest(content.items);
      return isFresh ? [{ page, items: content.items }] : [];
    });
    let bytes = 0;
    if (fresh.length > 0) {
      const written = await this.#file.append(textsOf(fresh));
      bytes = written.bytes;
      for (const [at, { page }] of fresh.entries()) this.#store(page, written.refs[at]);
      this.#letGo(bytes); // IP2
    }
    return { pages: pages.map(nameOf), bytes };
  }

  #store(page: ItemPage, ref: string | undefined): void {
    if (ref !== undefined) page.content = { kind: "stored", page: this.#stored(ref) };
  }

  #stored(ref: string): StoredPage {
    return { ref, read: () => this.#items(ref) };
  }

  listIn(pages: StoredMapState["pages"]): ItemList {
    return listOfPages(
      pages.map((page) => (typeof page === "string" ? storedPage(this.#stored(page)) : heldPage(page))),
    );
  }

  /** Why the pages that a checkpoint names cannot be used; undefined if they can. */
  trouble(body: unknown): string | undefined {
    const named = itemPagesIn(body)?.filter((page) => typeof page === "string") ?? [];
    const bad = this.#file.firstBad(named);
    return bad === undefined ? undefined : `a page of its items is not in ${this.#path} as it was written`;
  }

  #items(ref: string): readonly Item[] {
    const known = this.#read.get(ref);
    if (known !== undefined) return known;
    const items = itemPageOf(this.#file.read(ref));
    if (items === undefined) throw new Fault({ code: "EIO", operation: "parse", path: this.#path });
    for (const oldest of [...this.#read.keys()].slice(0, Math.max(0, this.#read.size - MAX_READ + 1)))
      this.#read.delete(oldest);
    this.#read.set(ref, items);
    return items;
  }
}

function* textsOf(pages: Iterable<{ readonly items: readonly Item[] }>): Generator<string> {
  for (const { items } of pages) yield `${JSON.stringify(items)}\n`;
}

function nameOf({ content }: ItemPage): string | readonly Item[] {
  return content.kind === "stored" ? content.page.ref : content.items;
}
