import { SvelteMap, SvelteSet } from "svelte/reactivity";
import type { ApiError, EntryMeaning, Lorebook, LorebookBinding, LorebookEntry, LorebookFields } from "../../api/generated";
import { finder } from "../../text/fold";
import type { Api } from "../api";
import { attempt } from "../attempt";
import { NEW_ENTRY } from "./fields";

export type Sort = "own" | "title" | "order";

/** State of one lorebook: its entries, and a draft per edited entry that lasts until it is saved or discarded. */
export class Book {
	whole = $state.raw<Lorebook | null>(null);
	failure = $state.raw<ApiError | null>(null);
	query = $state("");
	sort = $state<Sort>("own");
	/** The vectorized entries, and whether each is indexed yet. */
	meanings = $state.raw<EntryMeaning[]>([]);
	/** Ids of the entries selected for a bulk action. */
	readonly chosen = new SvelteSet<string>();
	/** Draft of the book's own fields. */
	fields = $state.raw<LorebookFields | null>(null);
	readonly #drafts = new SvelteMap<string, LorebookEntry>();
	#current = $state("");
	#next = 1;

	readonly entries = $derived(this.whole?.entries ?? []);
	readonly shown = $derived.by(() => {
		const fits = finder(this.query);
		const found = this.entries.filter(({ title, keys, secondaryKeys, content }) => fits([title, ...keys, ...secondaryKeys, content].join("\n")));
		if (this.sort === "title") return found.toSorted((one, other) => nameOf(one).localeCompare(nameOf(other)));
		return this.sort === "order" ? found.toSorted((one, other) => one.order - other.order) : found;
	});
	readonly editing = $derived(this.#drafts.get(this.#current) ?? null);
	readonly dirty = $derived(this.isDirty(this.#current));
	/** Drafts of new entries that are not saved yet. */
	readonly fresh = $derived([...this.#drafts].filter(([key]) => key.startsWith("new ")).map(([key, entry]) => ({ key, entry })));
	readonly changed = $derived(this.fields !== null && JSON.stringify(this.fields) !== JSON.stringify(this.whole?.fields));
	readonly unsaved = $derived(this.changed || this.fresh.length > 0 || this.entries.some(({ id }) => this.isDirty(id)));

	constructor(
		private readonly api: Api,
		readonly id: string,
	) {}

	load = (): Promise<boolean> => attempt(this, async () => this.#show(await this.api.getLorebook(this.id)));

	/** Loads the index state of the vectorized entries. */
	readMeanings = async (): Promise<void> => {
		this.meanings = await this.api.entryMeanings(this.id).catch(() => []);
	};

	isOpen = (key: string): boolean => this.#current === key;

	isDirty(key: string): boolean {
		const draft = this.#drafts.get(key);
		return draft !== undefined && JSON.stringify(draft) !== JSON.stringify(this.#stored(key));
	}

	open(key: string): void {
		this.failure = null;
		const stored = this.#stored(key);
		if (stored && !this.#drafts.has(key)) this.#drafts.set(key, stored);
		this.#current = this.#drafts.has(key) ? key : "";
	}

	close = (): void => {
		if (!this.isDirty(this.#current)) this.#drafts.delete(this.#current);
		this.#current = "";
	};

	create = (): void => {
		const key = `new ${this.#next++}`;
		this.#drafts.set(key, structuredClone(NEW_ENTRY));
		this.open(key);
	};

	change(fields: Partial<LorebookEntry>): void {
		if (this.editing) this.#drafts.set(this.#current, { ...this.editing, ...fields });
	}

	/** Discards the draft of the open entry. */
	discard = (): void => {
		const key = this.#current;
		this.#drafts.delete(key);
		this.open(key);
	};

	save = (): Promise<boolean> =>
		attempt(this, async () => {
			const { editing } = this;
			const key = this.#current;
			if (!editing) return;
			const saved = await this.api.saveLoreEntry(this.id, editing);
			const now = this.#drafts.get(key);
			this.#drafts.delete(key);
			// Text typed during the request stays in the draft.
			this.#drafts.set(saved.id, now && now !== editing ? { ...now, id: saved.id } : saved);
			if (this.#current === key) this.#current = saved.id;
			this.#show(await this.api.getLorebook(this.id));
		});

	changeBook(fields: Partial<LorebookFields>): void {
		if (this.fields) this.fields = { ...this.fields, ...fields };
	}

	saveBook = (): Promise<boolean> =>
		attempt(this, async () => {
			const { fields } = this;
			if (!fields) return;
			const whole = await this.api.updateLorebook(this.id, fields);
			if (this.fields === fields) this.fields = whole.fields;
			this.#show(whole);
		});

	switchBook = (on: boolean): Promise<boolean> => attempt(this, async () => this.#show(await this.api.enableLorebook(this.id, on)));

	bind = (bindings: LorebookBinding[]): Promise<boolean> => attempt(this, async () => this.#show(await this.api.bindLorebook(this.id, bindings)));

	switch = (ids: string[], on: boolean): Promise<boolean> => attempt(this, async () => this.#show(await this.api.enableLoreEntries(this.id, ids, on)));

	/** Position of an entry in the book's own order, starting at 1. */
	positionOf = (id: string): number => this.entries.findIndex((entry) => entry.id === id) + 1;

	/** Moves an entry one position up (-1) or down (1) in the book's own order. Returns whether it moved. */
	move = (id: string, by: -1 | 1): Promise<boolean> => this.#place(id, this.positionOf(id) - 1 + by);

	/** Moves an entry directly before or after another one in the book's own order. Returns whether it moved. */
	moveTo(id: string, other: string, after: boolean): Promise<boolean> {
		const [from, at] = [this.positionOf(id) - 1, this.positionOf(other) - 1 + Number(after)];
		// Removing the entry shifts everything behind it up by one.
		return this.#place(id, from < at ? at - 1 : at);
	}

	async #place(id: string, to: number): Promise<boolean> {
		const ids = this.entries.map((entry) => entry.id);
		const from = ids.indexOf(id);
		if (from < 0 || to < 0 || to >= ids.length || to === from) return false;
		ids.splice(to, 0, ...ids.splice(from, 1));
		return attempt(this, async () => this.#show(await this.api.orderLoreEntries(this.id, ids)));
	}

	/** Returns a function that restores the entries; `null` if the deletion failed. */
	async remove(ids: string[]): Promise<(() => Promise<void>) | null> {
		let deleted = "";
		const done = await attempt(this, async () => {
			deleted = await this.api.deleteLoreEntries(this.id, ids);
			this.#forget(ids);
			this.#show(await this.api.getLorebook(this.id));
		});
		return done ? async () => this.#show(await this.api.restoreLoreEntries(this.id, deleted)) : null;
	}

	/** Copies entries to another book. With `leave`, it moves them. */
	copy = (ids: string[], to: string, leave: boolean): Promise<boolean> =>
		attempt(this, async () => {
			await this.api.copyLoreEntries(this.id, ids, to, leave);
			if (leave) this.#forget(ids);
			this.chosen.clear();
			this.#show(await this.api.getLorebook(this.id));
		});

	#forget(ids: string[]): void {
		for (const id of ids) this.#drafts.delete(id);
		if (ids.includes(this.#current)) this.#current = "";
	}

	#stored(key: string): LorebookEntry | undefined {
		return this.entries.find(({ id }) => id === key);
	}

	/** Shows the stored book. Drafts without changes are replaced by the stored state. */
	#show(whole: Lorebook): void {
		const untouched = [...this.#drafts.keys()].filter((key) => !this.isDirty(key));
		if (!this.changed) this.fields = whole.fields;
		this.whole = whole;
		for (const key of untouched) {
			const stored = this.#stored(key);
			if (stored) this.#drafts.set(key, stored);
			else this.#forget([key]);
		}
		for (const id of [...this.chosen]) if (!this.#stored(id)) this.chosen.delete(id);
	}
}

/** The name shown in lists; empty if the entry has neither a title nor keys. */
export function nameOf({ title, keys }: Pick<LorebookEntry, "title" | "keys">): string {
	return title || keys.join(", ");
}
