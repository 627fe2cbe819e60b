import { SvelteMap } from "svelte/reactivity";
import type { ApiError } from "../../api/generated";
import { attempt } from "../attempt";

/** Storage functions for one kind of item, and its editable fields. */
interface DraftStore<Stored, Fields> {
	list: () => Promise<Stored[]>;
	/** An empty `id` creates a new item. */
	save: (id: string, fields: Fields) => Promise<Stored>;
	remove: (id: string) => Promise<void>;
	fields: (stored: Stored) => Fields;
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
	#next = 1;

	constructor(private readonly store: DraftStore<Stored, Fields>) {}

	load = (): Promise<boolean> => attempt(this, async () => this.#show(await this.store.list()));

	isOpen = (id: string): boolean => this.#current === id;

	isDirty(id: string): boolean {
		const draft = this.#drafts.get(id);
		return draft !== undefined && (draft.was === null || JSON.stringify(draft.fields) !== JSON.stringify(this.store.fields(draft.was)));
	}

	open(id: string): void {
		this.failure = null;
		const was = this.all.find((stored) => stored.id === id);
		if (was && !this.#drafts.has(id)) this.#drafts.set(id, { was, fields: this.store.fields(was) });
		this.#current = this.#drafts.has(id) ? id : "";
	}

	close = (): void => {
		this.#current = "";
	};

	create(fields: Fields): void {
		const id = `new ${this.#next++}`;
		this.#drafts.set(id, { was: null, fields });
		this.open(id);
	}

	duplicate(name: string): void {
		if (this.editing) this.create({ ...this.editing.fields, name });
	}

	change(fields: Partial<Fields>): void {
		const { editing } = this;
		if (editing) this.#drafts.set(this.#current, { ...editing, fields: { ...editing.fields, ...fields } });
	}

	/** Discards the draft of the open item. */
	discard(): void {
		const id = this.#current;
		this.#drafts.delete(id);
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
			this.#show(await this.store.list());
		});

	remove = ({ id }: Stored): Promise<boolean> =>
		attempt(this, async () => {
			await this.store.remove(id);
			this.#drafts.delete(id);
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
