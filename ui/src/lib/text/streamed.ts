import { lastBlock, render } from "./render";

export interface Block {
	/** Where it begins in the text: its key. */
	at: number;
	html: string;
}

/** A growing text as HTML: finished blocks are rendered once, and only the last is rendered again. */
export class Streamed {
	#text = "";
	#done = 0;
	#blocks: Block[] = [];

	/** The blocks of `text`; those that have not changed since the last call are the same objects. `live` text may yet grow. */
	blocks(text: string, live = false): Block[] {
		const clean = text.replaceAll("\r\n", "\n");
		if (!clean.startsWith(this.#text)) this.#restart();
		this.#text = clean;
		const cut = this.#done + lastBlock(clean.slice(this.#done));
		if (cut > this.#done) {
			this.#blocks = [...this.#blocks, { at: this.#done, html: render(clean.slice(this.#done, cut)) }];
			this.#done = cut;
		}
		const tail = clean.slice(cut);
		if (tail.trim() === "") return this.#blocks;
		return [...this.#blocks, { at: cut, html: render(live ? closed(tail) : tail) }];
	}

	#restart(): void {
		[this.#done, this.#blocks] = [0, []];
	}
}

/** Ends an emphasis that the text has begun but not ended yet, so that no bare asterisk flashes up while it streams. */
function closed(tail: string): string {
	const text = tail.trimEnd();
	if (text.includes("`")) return tail;
	const strong = (text.match(/\*\*/g) ?? []).length % 2 === 1;
	const slight = (text.replaceAll("**", "").match(/\*/g) ?? []).length % 2 === 1;
	if (!strong && !slight) return tail;
	// A lone mark at the very end has nothing to emphasise yet.
	const begun = text.replace(/\s*\*+$/, "");
	if (begun !== text) return begun;
	return text + (slight ? "*" : "") + (strong ? "**" : "");
}
