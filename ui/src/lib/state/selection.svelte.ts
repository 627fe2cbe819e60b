import { setOf } from "./find";

/** A row of a list. Several rows may show the same item. */
export interface SelectableRow {
	key: string;
	id: string;
}

/** Ids of the selected items of a list. */
export class Selection {
	#ids = $state.raw(setOf<string>());
	/** Key of the row at which a range selection starts. */
	#anchor = "";
	/** The selection when the anchor was set. A range is added to it. */
	#base: readonly string[] = [];

	get size(): number {
		return this.#ids.size;
	}

	has(id: string): boolean {
		return this.#ids.has(id);
	}

	toggle({ key, id }: SelectableRow): void {
		const others = [...this.#ids].filter((known) => known !== id);
		this.#ids = setOf(others.length < this.size ? others : [...others, id]);
		[this.#anchor, this.#base] = [key, [...this.#ids]];
	}

	/** Selects the range from the last toggled row to `row`, in the order of `rows`. Another range replaces it. */
	extend(row: SelectableRow, rows: readonly SelectableRow[]): void {
		const at = (wanted: string) => rows.findIndex(({ key }) => key === wanted);
		const [from, to] = [at(this.#anchor), at(row.key)];
		if (to < 0) return;
		if (from < 0) {
			if (!this.has(row.id)) this.toggle(row);
			this.#anchor = row.key;
			return;
		}
		this.#ids = setOf([...this.#base, ...rows.slice(Math.min(from, to), Math.max(from, to) + 1).map(({ id }) => id)]);
	}

	choose(ids: readonly string[]): void {
		this.#ids = setOf(ids);
		this.#base = ids;
	}

	clear(): void {
		if (this.#ids.size > 0) this.#ids = setOf();
		[this.#anchor, this.#base] = ["", []];
	}

	/** Removes ids that no longer exist. */
	keep(known: ReadonlySet<string>): void {
		if ([...this.#ids].some((id) => !known.has(id))) this.#ids = setOf([...this.#ids].filter((id) => known.has(id)));
		this.#base = this.#base.filter((id) => known.has(id));
	}
}
