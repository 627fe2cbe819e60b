import { SvelteMap } from "svelte/reactivity";
import type { ApiError, DraftKind } from "../../api/generated";
import type { Api } from "../api";
import { attempt } from "../attempt";
import { KeptForms, type KeptForm } from "../keptForm.svelte";

/** Storage functions for one kind of item, and its editable fields. */
interface DraftStore<Stored, Fields> {
	list: () => Promise<Stored[]>;
	/** An empty `id` creates a new item. */
	save: (id: string, fields: Fields) => Promise<Stored>;
	remove: (id: string) => Promise<void>;
	fields: (stored: Stored) => Fields;
	api: Api;
	kind: DraftKind;
}

interface Draft<Stored, Fields> {
	/** The stored item; `null` for a new one. */
	was: Stored | null;
	fields: Fields;
}

/** Named items with a draft each. A draft lasts until it is saved or discarded, even if another item is opened. */
export class Drafts<Stored extends { id: string; name: string }, Fields extends { name: string }> {
	all = $state.raw<Stored[]>([]);
	failure = $state.raw<ApiError | null>(null);
	#current = $state("");
	readonly #drafts = new SvelteMap<string, Draft<Stored, Fields>>();
	readonly editing = $derived(this.#drafts.get(this.#current) ?? null);
	readonly dirty = $derived(this.isDirty(this.#current));
	/** Drafts that are not in the list: new items, and items that were deleted elsewhere. */
	readonly fresh = $derived([...this.#drafts].filter(([id]) => this.all.every((stored) => stored.id !== id)).map(([id, { fields }]) => ({ id, name: fields.name })));
	/** Differs between windows, so that their new items have drafts of their own. */
	#next = Date.now();
	/** What was typed and not saved, by id. */
	readonly kept: KeptForms;
	#restored = false;

	constructor(private readonly store: DraftStore<Stored, Fields>) {
		this.kept = new KeptForms(store.api, store.kind, "", (id, draft) => this.#drafts.set(id, { was: this.#stored(id), fields: JSON.parse(draft) as Fields }), (error) => (this.failure = error));
	}

	load = (): Promise<boolean> =>
		attempt(this, async () => {
			this.#show(await this.store.list());
			if (this.#restored) return;
			this.#restored = true;
			await this.kept.restore((id) => this.#written(id));
		});

	isOpen = (id: string): boolean => this.#current === id;

	isDirty(id: string): boolean {
		const draft = this.#drafts.get(id);
		return draft !== undefined && (draft.was === null || JSON.stringify(draft.fields) !== JSON.stringify(this.store.fields(draft.was)));
	}

	open(id: string): void {
		this.failure = null;
		const was = this.#stored(id);
		if (was && !this.#drafts.has(id)) this.#drafts.set(id, { was, fields: this.store.fields(was) });
		this.kept.of(id).opened(this.#written(id));
		this.#current = this.#drafts.has(id) ? id : "";
	}

	close = (): void => {
		this.#current = "";
	};

	create(fields: Fields): void {
		const id = `new ${this.#next++}`;
		this.#drafts.set(id, { was: null, fields });
		this.open(id);
		this.kept.of(id).typed(JSON.stringify(fields));
	}

	duplicate(name: string): void {
		if (this.editing) this.create({ ...this.editing.fields, name });
	}

	/** The kept text of the open item. */
	get keptOpen(): KeptForm | null {
		return this.kept.get(this.#current);
	}

	change(fields: Partial<Fields>): void {
		const { editing } = this;
		if (!editing) return;
		const changed = { ...editing.fields, ...fields };
		this.#drafts.set(this.#current, { ...editing, fields: changed });
		this.kept.of(this.#current).typed(JSON.stringify(changed));
	}

	/** Discards the draft of the open item. */
	discard(): void {
		const id = this.#current;
		this.#drafts.delete(id);
		void this.kept.of(id).done();
		this.open(id);
	}

	save = (): Promise<boolean> =>
		attempt(this, async () => {
			const { editing } = this;
			const id = this.#current;
			if (!editing) return;
			const was = await this.store.save(editing.was?.id ?? "", editing.fields);
			const now = this.#drafts.get(id);
			this.#drafts.delete(id);
			// Text typed during the request stays in the draft.
			this.#drafts.set(was.id, { was, fields: now && now !== editing ? now.fields : this.store.fields(was) });
			if (this.#current === id) this.#current = was.id;
			await this.kept.of(id).done(JSON.stringify(this.store.fields(was)));
			this.#show(await this.store.list());
		});

	remove = ({ id }: Stored): Promise<boolean> =>
		attempt(this, async () => {
			await this.store.remove(id);
			this.#drafts.delete(id);
			void this.kept.get(id)?.done();
			if (this.#current === id) this.#current = "";
			this.#show(await this.store.list());
		});

	/** Restores a removed item under its old id. */
	restore = (stored: Stored): Promise<boolean> =>
		attempt(this, async () => {
			await this.store.save(stored.id, this.store.fields(stored));
			this.#show(await this.store.list());
			this.open(stored.id);
		});

	#stored(id: string): Stored | null {
		return this.all.find((stored) => stored.id === id) ?? null;
	}

	/** The stored fields of an item as a draft's text; empty for a new one. */
	#written(id: string): string {
		const stored = this.#stored(id);
		return stored ? JSON.stringify(this.store.fields(stored)) : "";
	}

	/** Shows the stored items. Drafts without changes are replaced by the stored state. */
	#show(all: Stored[]): void {
		this.all = all;
		for (const id of [...this.#drafts.keys()]) {
			if (this.isDirty(id)) continue;
			const was = all.find((stored) => stored.id === id);
			if (was) this.#drafts.set(id, { was, fields: this.store.fields(was) });
			else this.#drafts.delete(id);
		}
	}
}
