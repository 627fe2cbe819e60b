import { SvelteMap } from "svelte/reactivity";
import { asApiError } from "../../api/errors";
import type { ApiError, ChatId, Receipt, Recollection } from "../../api/generated";
import type { Api } from "../api";
import { receiptsOf } from "./receipts";

/** The result of recall for a tried message or for the last turn. */
export class Recall {
	words = $state("");
	found = $state.raw<Recollection | null>(null);
	failure = $state.raw<ApiError | null>(null);
	asking = $state(false);
	/** Receipts of recalled messages, by message id. */
	readonly receipts = new SvelteMap<string, Receipt>();
	#asked = 0;

	constructor(private readonly api: Api) {}

	/** Runs recall for a message with the typed text. */
	async try(chat: ChatId): Promise<void> {
		const words = this.words.trim();
		if (words !== "") await this.#ask(() => this.api.tryRecall(chat, words));
	}

	/** Loads what was recalled for the newest reply of a chat. */
	last(chat: ChatId): Promise<void> {
		return this.#ask(() => this.api.recalled(chat));
	}

	/** Clears the result after a change of chat. */
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
			const receipts = await receiptsOf(this.api, found.items.filter(({ chat }) => chat !== null).map(({ id }) => id));
			if (asked !== this.#asked) return;
			for (const receipt of receipts) this.receipts.set(receipt.message, receipt);
			[this.found, this.failure] = [found, null];
		} catch (thrown) {
			if (asked !== this.#asked) return;
			[this.found, this.failure] = [null, asApiError(thrown)];
		}
		this.asking = false;
	}
}
