import { SvelteMap } from "svelte/reactivity";
import type { ApiError } from "../../api/generated";
import { attempt } from "../attempt";

/** How things of one kind are kept, and which of their fields are edited. */
interface Keeping<Stored, Fields> {
	list: () => Promise<Stored[]>;
	/** An empty `id` makes a new one. */
	save: (id: string, fields: Fields) => Promise<Stored>;
	remove: (id: string) => Promise<void>;
	fields: (stored: Stored) => Fields;
}

interface Draft<Stored, Fields> {
	/** As it is stored; `null` for a new one. */
	was: Stored | null;
	fields: Fields;
}

/** Named things, and what is typed into them: it stays with each until it is saved or given up, whatever else is opened. */
export class Drafts<Stored extends { id: string; name: string }, Fields extends { name: string }> {
	all = $state.raw<Stored[]>([]);
	failure = $state.raw<ApiError | null>(null);
	#current = $state("");
	readonly #drafts = new SvelteMap<string, Draft<Stored, Fields>>();
	readonly editing = $derived(this.#drafts.get(this.#current) ?? null);
	readonly dirty = $derived(this.isDirty(this.#current));
	/** Those that are not in the list: new, or deleted elsewhere while they were typed into. */
	readonly fresh = $derived([...this.#drafts].filter(([id]) => this.all.every((stored) => stored.id !== id)).map(([id, { fields }]) => ({ id, name: fields.name })));
	#next = 1;

	constructor(private readonly keeping: Keeping<Stored, Fields>) {}

	load = (): Promise<boolean> => attempt(this, async () => this.#show(await this.keeping.list()));

	isOpen = (id: string): boolean => this.#current === id;

	isDirty(id: string): boolean {
		const draft = this.#drafts.get(id);
		return draft !== undefined && (draft.was === null || JSON.stringify(draft.fields) !== JSON.stringify(this.keeping.fields(draft.was)));
	}

	open(id: string): void {
		this.failure = null;
		const was = this.all.find((stored) => stored.id === id);
		if (was && !this.#drafts.has(id)) this.#drafts.set(id, { was, fields: this.keeping.fields(was) });
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

	/** Gives up what was typed. */
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
			const was = await this.keeping.save(editing.was?.id ?? "", editing.fields);
			const now = this.#drafts.get(id);
			this.#drafts.delete(id);
			// What was typed meanwhile stays.
			this.#drafts.set(was.id, { was, fields: now && now !== editing ? now.fields : this.keeping.fields(was) });
			if (this.#current === id) this.#current = was.id;
			this.#show(await this.keeping.list());
		});

	remove = ({ id }: Stored): Promise<boolean> =>
		attempt(this, async () => {
			await this.keeping.remove(id);
			this.#drafts.delete(id);
			if (this.#current === id) this.#current = "";
			this.#show(await this.keeping.list());
		});

	/** Puts back what was removed, under its id. */
	restore = (stored: Stored): Promise<boolean> =>
		attempt(this, async () => {
			await this.keeping.save(stored.id, this.keeping.fields(stored));
			this.#show(await this.keeping.list());
			this.open(stored.id);
		});

	/** What nobody has typed into shows what is stored now. */
	#show(all: Stored[]): void {
		this.all = all;
		for (const id of [...this.#drafts.keys()]) {
			if (this.isDirty(id)) continue;
			const was = all.find((stored) => stored.id === id);
			if (was) this.#drafts.set(id, { was, fields: this.keeping.fields(was) });
			else this.#drafts.delete(id);
		}
	}
}
