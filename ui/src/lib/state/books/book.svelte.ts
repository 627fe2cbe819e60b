import { SvelteMap, SvelteSet } from "svelte/reactivity";
import type { ApiError, EntryMeaning, Lorebook, LorebookBinding, LorebookEntry, LorebookFields } from "../../api/generated";
import { finder } from "../../text/fold";
import type { Api } from "../api";
import { attempt } from "../attempt";
import { keptForm, KeptForms, type KeptForm } from "../keptForm.svelte";
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
	/** Differs between windows, so that their new entries have drafts of their own. */
	#next = Date.now();
	/** What was typed in entries and not saved, by key. */
	readonly kept: KeptForms;
	/** The same for the book's own fields. */
	readonly keptFields: KeptForm;
	#restored = false;

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
	) {
		const failed = (error: ApiError) => (this.failure = error);
		this.kept = new KeptForms(api, "loreEntry", id, (key, draft) => this.#drafts.set(key, { ...structuredClone(NEW_ENTRY), ...(JSON.parse(draft) as LorebookEntry) }), failed);
		this.keptFields = keptForm(api, { kind: "lorebook", owner: id, target: "" }, (draft) => (this.fields = JSON.parse(draft) as LorebookFields), failed);
	}

	load = (): Promise<boolean> =>
		attempt(this, async () => {
			this.#show(await this.api.getLorebook(this.id));
			if (!this.#restored) await this.#restore();
		});

	/** Shows what was typed before and not saved. */
	async #restore(): Promise<void> {
		this.#restored = true;
		await Promise.all([
			this.kept.restore((key) => JSON.stringify(this.#stored(key) ?? NEW_ENTRY)),
			this.keptFields.restore(JSON.stringify(this.whole?.fields)),
		]);
	}

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
		this.kept.of(key).opened(JSON.stringify(stored ?? NEW_ENTRY));
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

	/** Keeps what is being typed in a field that is read when it is left. */
	note(fields: Partial<LorebookEntry>): void {
		if (this.editing) this.kept.of(this.#current).typed(JSON.stringify({ ...this.editing, ...fields }));
	}

	/** The kept text of the open entry. */
	get keptOpen(): KeptForm | null {
		return this.kept.get(this.#current);
	}

	change(fields: Partial<LorebookEntry>): void {
		if (!this.editing) return;
		const entry = { ...this.editing, ...fields };
		this.#drafts.set(this.#current, entry);
		this.kept.of(this.#current).typed(JSON.stringify(entry));
	}

	/** Discards the draft of the open entry. */
	discard = (): void => {
		const key = this.#current;
		this.#drafts.delete(key);
		void this.kept.of(key).done();
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
			await this.kept.of(key).done(JSON.stringify(saved));
			this.#show(await this.api.getLorebook(this.id));
		});

	changeBook(fields: Partial<LorebookFields>): void {
		if (!this.fields) return;
		this.fields = { ...this.fields, ...fields };
		this.keptFields.typed(JSON.stringify(this.fields));
	}

	saveBook = (): Promise<boolean> =>
		attempt(this, async () => {
			const { fields } = this;
			if (!fields) return;
			const whole = await this.api.updateLorebook(this.id, fields);
			if (this.fields === fields) this.fields = whole.fields;
			await this.keptFields.done(JSON.stringify(whole.fields));
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
		for (const id of ids) {
			this.#drafts.delete(id);
			void this.kept.get(id)?.done();
		}
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
