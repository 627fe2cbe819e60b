import type { SwipeId } from "../api/generated";
/** A reply that is being streamed. Its pieces are collected and displayed once per frame. */
export class Reply {
	text = $state("");
	/** Reasoning text of the model. */
	thoughts = $state("");
	#next: number | null;
	#pending = { text: "", thoughts: "" };
	#frame = 0;

	/** `next` is the expected sequence number; `null` accepts any first piece. */
	constructor(
		readonly message: string,
		readonly swipe: SwipeId,
		{ text = "", thoughts = "" } = {},
		next: number | null = null,
	) {
		[this.text, this.thoughts] = [text, thoughts];
		this.#next = next;
	}

	/** Adds a piece. Returns `false` if one before it is missing, so that the caller reloads the whole text. */
	receive(seq: number, piece: string, of: "text" | "thoughts" = "text"): boolean {
		if (this.#next !== null && seq < this.#next) return true;
		if (this.#next !== null && seq > this.#next) return false;
		this.#next = seq + 1;
		this.#pending[of] += piece;
		this.#frame ||= requestAnimationFrame(this.flush);
		return true;
	}

	/** Marks the text so far as reasoning. Returns `false` if a piece is missing. */
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

	/** Stops the display and cancels the pending frame. */
	discard(): void {
		cancelAnimationFrame(this.#frame);
		this.#frame = 0;
	}
}
