import { SvelteSet } from "svelte/reactivity";
import { asApiError } from "../../api/errors";
import type { ApiError, ChangedText } from "../../api/generated";
import { rows } from "./diff";

/** Expands the only part of a text that has nothing to compare with. */
const WHOLE: ReadonlySet<number> = new Set([0]);

/** Diff of two texts, as the engine computed it. */
export class DiffState<T extends { parts: ChangedText[] }> {
	found = $state.raw<T | null>(null);
	failure = $state.raw<ApiError | null>(null);
	/** Expanded folds. */
	readonly opened = new SvelteSet<number>();
	readonly rows = $derived.by(() => (this.found ? rows(this.found.parts, this.isWhole(this.found) ? WHOLE : this.opened) : []));
	#subject = "";
	#asked = 0;

	/** Whether there is no second text, so that nothing is folded. */
	protected isWhole(_found: T): boolean {
		return false;
	}

	/** Like `show`, for stored texts. They never change, so they load once. */
	protected async showStored(subject: string, ask: () => Promise<T>): Promise<void> {
		if (subject === this.#subject && this.found && !this.failure) return;
		await this.show(subject, ask);
	}

	/** Loads a diff. While the same subject reloads, the old result stays. Only the latest request is used. */
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
