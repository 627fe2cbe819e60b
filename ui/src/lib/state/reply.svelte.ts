/** A reply being written: its pieces are gathered and shown once per frame. */
export class Reply {
	text = $state("");
	/** What a reasoning model says to itself. */
	thoughts = $state("");
	#next: number | null;
	#pending = { text: "", thoughts: "" };
	#frame = 0;

	/** `next` is the number of the piece to come; `null` takes the first that comes. */
	constructor(
		readonly message: string,
		readonly swipe: string,
		{ text = "", thoughts = "" } = {},
		next: number | null = null,
	) {
		[this.text, this.thoughts] = [text, thoughts];
		this.#next = next;
	}

	/** False when a piece is missing, so that the caller asks for the whole text again. */
	receive(seq: number, piece: string, of: "text" | "thoughts" = "text"): boolean {
		if (this.#next !== null && seq < this.#next) return true;
		if (this.#next !== null && seq > this.#next) return false;
		this.#next = seq + 1;
		this.#pending[of] += piece;
		this.#frame ||= requestAnimationFrame(this.flush);
		return true;
	}

	/** Marks the text so far as thoughts. Returns `false` if a piece is missing. */
	closeThoughts(seq: number, words: string): boolean {
		if (this.#next !== null && seq < this.#next) return true;
		if (this.#next !== null && seq > this.#next) return false;
		this.#next = seq + 1;
		this.flush();
		this.thoughts += words;
		this.text = this.text.endsWith(words) ? this.text.slice(0, this.text.length - words.length) : "";
		return true;
	}

	flush = (): void => {
		cancelAnimationFrame(this.#frame);
		this.text += this.#pending.text;
		this.thoughts += this.#pending.thoughts;
		[this.#pending, this.#frame] = [{ text: "", thoughts: "" }, 0];
	};

	/** Nothing is shown any more; a frame under way is dropped. */
	discard(): void {
		cancelAnimationFrame(this.#frame);
		this.#frame = 0;
	}
}
