import { setOf } from "./find";

/** Ids of the selected items of a list. */
export class Selection {
	#ids = $state.raw(setOf<string>());
	/** The item at which a range selection starts. */
	#anchor = "";

	get size(): number {
		return this.#ids.size;
	}

	has(id: string): boolean {
		return this.#ids.has(id);
	}

	toggle(id: string): void {
		const others = [...this.#ids].filter((known) => known !== id);
		this.#ids = setOf(others.length < this.size ? others : [...others, id]);
		this.#anchor = id;
	}

	/** Selects the range from the last toggled item to `id`, in list order. */
	extend(id: string, order: readonly string[]): void {
		const [from, to] = [order.indexOf(this.#anchor), order.indexOf(id)];
		if (to < 0) return;
		if (from < 0) {
			if (!this.has(id)) this.toggle(id);
			this.#anchor = id;
			return;
		}
		this.#ids = setOf([...this.#ids, ...order.slice(Math.min(from, to), Math.max(from, to) + 1)]);
	}

	choose(ids: readonly string[]): void {
		this.#ids = setOf(ids);
	}

	clear(): void {
		if (this.#ids.size > 0) this.#ids = setOf();
		this.#anchor = "";
	}

	/** Removes ids that no longer exist. */
	keep(known: ReadonlySet<string>): void {
		if ([...this.#ids].some((id) => !known.has(id))) this.#ids = setOf([...this.#ids].filter((id) => known.has(id)));
	}
}
