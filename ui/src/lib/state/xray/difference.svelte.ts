import { SvelteSet } from "svelte/reactivity";
import { asApiError } from "../../api/errors";
import type { ApiError, ChangedText } from "../../api/generated";
import { rows } from "./diff";

/** The only part of a text that is beside none is open. */
const WHOLE: ReadonlySet<number> = new Set([0]);

/** Two texts beside each other, as the engine compares them. */
export class Difference<T extends { parts: ChangedText[] }> {
	found = $state.raw<T | null>(null);
	failure = $state.raw<ApiError | null>(null);
	/** Folds that are open. */
	readonly opened = new SvelteSet<number>();
	readonly rows = $derived.by(() => (this.found ? rows(this.found.parts, this.isWhole(this.found) ? WHOLE : this.opened) : []));
	#subject = "";
	#asked = 0;

	/** Whether there is no other text to fold what is alike. */
	protected isWhole(_found: T): boolean {
		return false;
	}

	/** What is stored does not change, so it is read once. */
	protected async showStored(subject: string, ask: () => Promise<T>): Promise<void> {
		if (subject === this.#subject && this.found && !this.failure) return;
		await this.show(subject, ask);
	}

	/** While the same subject is read anew, the last one found stays. Of two that are asked for, the later one is shown. */
	protected async show(subject: string, ask: () => Promise<T>): Promise<void> {
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
