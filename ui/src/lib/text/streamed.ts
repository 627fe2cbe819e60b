import { closed, sources } from "./emphasis";
import type { Extras } from "./markdown";
import { plain, renderAll } from "./render";
import { split } from "./split";

export interface Block {
	/** Start of the block in the text, which is also its key. */
	at: number;
	/** No blank line separates it from the previous block. */
	joined: boolean;
	html: string;
}

interface Known extends Block {
	source: string;
	version: string;
}

type Undrawn = Omit<Known, "html"> & { html: string | null };

/** A longer last block renders again only after it has grown by a fraction of its length. */
const LONG = 8 * 1024;
const SHARE = 1 / 16;

/** A growing text as HTML: finished blocks are rendered once, and only the last is rendered again. */
export class Streamed {
	#known = new Map<number, Known>();

	constructor(private readonly extras?: Extras) {}

	/**
	 * The blocks of `text`. Blocks that are unchanged since the last call are the same objects. `live` text may still grow.
	 * A new `version` of the extras renders all blocks again.
	 */
	blocks(text: string, live = false, version = ""): Block[] {
		const parts = split(text.toWellFormed().replace(/\r\n?/g, "\n"));
		const texts = sources(parts, live);
		const blocks = parts.map(({ at, kind, joined }, index) => {
			const last = index === parts.length - 1;
			const text = texts[index] ?? "";
			const source = live && last && kind !== "plain" ? closed(text) : text;
			const before = this.#known.get(at);
			const same = before?.version === version && before.joined === joined && (before.source === source || (live && last && isEnough(before.source, source)));
			return before && same ? before : { at, joined, source, version, html: kind === "plain" ? plain(source) : null };
		});
		this.#draw(blocks);
		this.#known = new Map(blocks.map((block) => [block.at, block as Known]));
		return blocks as Known[];
	}

	#draw(blocks: (Known | Undrawn)[]): void {
		const fresh = blocks.filter((block) => block.html === null);
		const drawn = renderAll(fresh.map((block) => block.source), this.extras);
		fresh.forEach((block, index) => (block.html = drawn[index] ?? plain(block.source)));
	}
}

/** Whether a long block need not render yet, so that the total work is not quadratic in its length. */
function isEnough(before: string, now: string): boolean {
	return before.length > LONG && now.startsWith(before.slice(0, LONG)) && now.length >= before.length && now.length < before.length * (1 + SHARE);
}
