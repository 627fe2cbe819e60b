import { folded } from "../text/fold";

export { folded };

export function wordsOf(query: string): string[] {
	return folded(query).split(/\s+/).filter(Boolean);
}

/** Whether `hay` contains every word. Both must be folded. */
export function hasAll(words: readonly string[], hay: string): boolean {
	return words.every((word) => hay.includes(word));
}

/** Sets and maps that are replaced as a whole and never modified, so they need no reactive items. */
export function setOf<T>(items: Iterable<T> = []): ReadonlySet<T> {
	return new Set(items);
}

export function mapOf<K, V>(items: Iterable<readonly [K, V]>): ReadonlyMap<K, V> {
	return new Map(items);
}
