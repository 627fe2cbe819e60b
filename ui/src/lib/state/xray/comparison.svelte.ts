import { SvelteSet } from "svelte/reactivity";
import { asApiError } from "../../api/errors";
import type { ApiError, PromptComparison } from "../../api/generated";
import type { Api } from "../api";
import { rows } from "./diff";

/** A prompt beside the one that was sent before it. */
export class Comparison {
	found = $state.raw<PromptComparison | null>(null);
	failure = $state.raw<ApiError | null>(null);
	readonly opened = new SvelteSet<number>();
	readonly rows = $derived(this.found ? rows(this.found.parts, this.opened) : []);
	#subject = "";
	#asked = 0;

	constructor(private readonly api: Api) {}

	/** The prompt that a reply answered. It is stored, so it is read once. */
	async reply(swipe: string): Promise<void> {
		if (swipe === this.#subject && this.found && !this.failure) return;
		await this.#show(swipe, () => this.api.comparePrompt(swipe));
	}

	/** The prompt that `text` would send. While it is read anew, the last one stays. */
	next = (chat: string, text: string): Promise<void> => this.#show(`next of ${chat}`, () => this.api.compareNext(chat, text));

	async #show(subject: string, ask: () => Promise<PromptComparison>): Promise<void> {
		if (subject !== this.#subject) {
			[this.#subject, this.found] = [subject, null];
			this.opened.clear();
		}
		const asked = ++this.#asked;
		this.failure = null;
		try {
			const found = await ask();
			if (asked === this.#asked) this.found = found;
		} catch (thrown) {
			if (asked === this.#asked) this.failure = asApiError(thrown);
		}
	}
}
