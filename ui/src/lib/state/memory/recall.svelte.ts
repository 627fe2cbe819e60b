import { SvelteMap } from "svelte/reactivity";
import { asApiError } from "../../api/errors";
import type { ApiError, Receipt, Recollection } from "../../api/generated";
import type { Api } from "../api";
import { receiptsOf } from "./receipts";

/** What comes back in a turn, and why: in one that is tried, or in the last one. */
export class Recall {
	words = $state("");
	found = $state.raw<Recollection | null>(null);
	failure = $state.raw<ApiError | null>(null);
	asking = $state(false);
	/** Where older messages were said, by their ids. */
	readonly receipts = new SvelteMap<string, Receipt>();
	#asked = 0;

	constructor(private readonly api: Api) {}

	/** What a turn with the words would recall. */
	async try(chat: string): Promise<void> {
		const words = this.words.trim();
		if (words !== "") await this.#ask(() => this.api.tryRecall(chat, words));
	}

	/** What the newest reply of a chat was written with. */
	last(chat: string): Promise<void> {
		return this.#ask(() => this.api.recalled(chat));
	}

	/** Another chat: nothing that was found counts there. */
	clear(): void {
		this.#asked++;
		[this.found, this.failure, this.asking] = [null, null, false];
		this.receipts.clear();
	}

	async #ask(what: () => Promise<Recollection>): Promise<void> {
		const asked = ++this.#asked;
		this.asking = true;
		try {
			const found = await what();
			const said = await receiptsOf(this.api, found.items.filter(({ chat }) => chat !== null).map(({ id }) => id));
			if (asked !== this.#asked) return;
			for (const receipt of said) this.receipts.set(receipt.message, receipt);
			[this.found, this.failure] = [found, null];
		} catch (thrown) {
			if (asked !== this.#asked) return;
			[this.found, this.failure] = [null, asApiError(thrown)];
		}
		this.asking = false;
	}
}
