import { SvelteSet } from "svelte/reactivity";
import { asApiError } from "../../api/errors";
import type { ApiError, PromptComparison } from "../../api/generated";
import type { Api } from "../api";
import { rows } from "./diff";

/** The prompt of a reply beside that of the turn before. */
export class Comparison {
	found = $state.raw<PromptComparison | null>(null);
	failure = $state.raw<ApiError | null>(null);
	readonly opened = new SvelteSet<number>();
	readonly rows = $derived(this.found ? rows(this.found.parts, this.opened) : []);
	#asked = "";

	constructor(private readonly api: Api) {}

	async show(swipe: string): Promise<void> {
		if (swipe === this.#asked && !this.failure) return;
		this.#asked = swipe;
		[this.found, this.failure] = [null, null];
		this.opened.clear();
		try {
			const found = await this.api.comparePrompt(swipe);
			if (swipe === this.#asked) this.found = found;
		} catch (thrown) {
			if (swipe === this.#asked) this.failure = asApiError(thrown);
		}
	}
}
