import type { Keyframe, Memory } from "../../api/generated";

/** A memory, or what a stretch of a chat came to that no model has summed up. */
export type Told = Memory | Keyframe;

/** What was first known in one month. */
export interface Month {
	/** Any moment of it. */
	at: string;
	items: Told[];
}

export function isKeyframe(told: Told): told is Keyframe {
	return "said" in told;
}

const since = (told: Told) => (isKeyframe(told) ? told.said : told.created);

/** Memories by when they were first known and stretches by when they ended, the newest first, month by month as the reader's clock has them. */
export function months(items: readonly Told[]): Month[] {
	const found = new Map<string, Month>();
	for (const told of items.toSorted((a, b) => Date.parse(since(b)) - Date.parse(since(a)))) {
		const at = since(told);
		const date = new Date(at);
		const key = `${date.getFullYear()}-${date.getMonth()}`;
		const month = found.get(key) ?? { at, items: [] };
		month.items.push(told);
		found.set(key, month);
	}
	return [...found.values()];
}
