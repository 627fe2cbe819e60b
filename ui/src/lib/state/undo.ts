import { t } from "../i18n/i18n.svelte";
import type { Toasts } from "./toasts.svelte";

/** How long a toast with an explanation stays. */
const EXPLAINED_MS = 20_000;

/** Toasts with an undo button. Ctrl+Z undoes the last of them. */
export class Undo {
	#last: (() => Promise<void>) | null = null;

	constructor(
		private readonly toasts: Toasts,
		private readonly attempt: (action: () => Promise<unknown>) => Promise<void>,
	) {}

	/** Shows that something is done, with a button that runs `undo`. An `explanation` takes longer to read. Ctrl+Z still works after the toast has left. */
	offer(text: string, undo: () => Promise<void>, explanation?: string): void {
		const once = async () => {
			if (this.#last === once) this.#last = null;
			this.toasts.dismiss(toast);
			await undo();
		};
		this.#last = once;
		const action = { label: t("common.undo"), undo: true, run: () => void this.attempt(once) };
		const toast = explanation === undefined ? this.toasts.show({ kind: "news", text, action }) : this.toasts.show({ kind: "news", text, detail: explanation, action }, EXPLAINED_MS);
	}

	/** Whether there is a deletion to undo. */
	get possible(): boolean {
		return this.#last !== null;
	}

	/** Undoes the last deletion; `false` if there is none. */
	run(): boolean {
		const undo = this.#last;
		this.#last = null;
		if (undo) void this.attempt(undo);
		return undo !== null;
	}

	/** Drops the undo of the last deletion, because the item was deleted permanently. */
	clear(): void {
		this.#last = null;
	}
}
