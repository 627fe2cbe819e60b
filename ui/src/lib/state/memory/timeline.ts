import type { Memory } from "../../api/generated";

/** What was first known in one month. */
export interface Month {
	/** Any moment of it. */
	at: string;
	items: Memory[];
}

/** Memories by when they were first known, the newest first, month by month as the reader's clock has them. */
export function months(items: readonly Memory[]): Month[] {
	const found = new Map<string, Month>();
	for (const memory of items.toSorted((a, b) => Date.parse(b.created) - Date.parse(a.created))) {
		const date = new Date(memory.created);
		const key = `${date.getFullYear()}-${date.getMonth()}`;
		const month = found.get(key) ?? { at: memory.created, items: [] };
		month.items.push(memory);
		found.set(key, month);
	}
	return [...found.values()];
}
