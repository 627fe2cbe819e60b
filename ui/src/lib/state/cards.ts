import type { CharacterSummary } from "../api/generated";
import { folded } from "./find";

export const SORTS = ["recent", "name", "added", "favourites"] as const;
export type Sort = (typeof SORTS)[number];

export interface TagCount {
	tag: string;
	count: number;
}

/** A card with its searchable text. */
export interface Entry {
	card: CharacterSummary;
	hay: string;
	tags: readonly string[];
}

export function entry(card: CharacterSummary): Entry {
	const tags = card.tags.map(folded);
	return { card, tags, hay: [folded(`${card.name}\n${card.creator}\n${card.tagline}`), ...tags].join("\n") };
}

/** Sorts the entries. The engine already returns them by the most recent chat. */
export function inOrder(entries: readonly Entry[], sort: Sort): readonly Entry[] {
	const { compare } = new Intl.Collator(undefined, { sensitivity: "base", numeric: true });
	if (sort === "name") return entries.toSorted((one, other) => compare(one.card.name, other.card.name));
	if (sort === "added") return entries.toSorted((one, other) => (one.card.created < other.card.created ? 1 : one.card.created > other.card.created ? -1 : 0));
	if (sort === "favourites") return [...entries.filter(({ card }) => card.favourite), ...entries.filter(({ card }) => !card.favourite)];
	return entries;
}

/** The tags of some cards, the most frequent first. */
export function tagsOf(cards: readonly CharacterSummary[]): TagCount[] {
	return counted(cards.map(entry));
}

/** Counts tags, ignoring case. A tag is displayed in the spelling found first. */
export function counted(entries: readonly Entry[]): TagCount[] {
	const known = new Map<string, TagCount>();
	for (const { card, tags } of entries) {
		for (const [at, key] of tags.entries()) {
			const count = known.get(key);
			if (count) count.count += 1;
			else known.set(key, { tag: card.tags[at] ?? key, count: 1 });
		}
	}
	return [...known.values()].sort((one, other) => other.count - one.count || (one.tag < other.tag ? -1 : 1));
}
