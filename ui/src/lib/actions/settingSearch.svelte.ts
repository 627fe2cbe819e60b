import { fuzzy, haystack } from "./fuzzy";
import { settingEntries, type SettingEntry } from "./settingEntries";
import type { LayeredSetting } from "../api/generated";
import type { Api } from "../state/api";
import { folded, hasAll, wordsOf } from "../state/find";

/** A setting that the search finds. */
export interface FoundSetting extends SettingEntry {
	/** Indexes of the matched code points of the name. */
	at: number[];
}

/** State of the search on the settings screen. */
export class SettingSearch {
	#query = $state("");
	#layered = $state.raw<readonly LayeredSetting[] | null>(null);
	readonly found = $derived(matching(settingEntries(this.#layered ?? []), this.#query));

	constructor(private readonly api: Api) {}

	get query(): string {
		return this.#query;
	}

	/** The settings of prompts and replies are loaded with the first letter. Without them, the others are still found. */
	set query(query: string) {
		this.#query = query;
		if (query === "" || this.#layered) return;
		this.#layered = [];
		void this.api
			.layeredSettings({ scope: "global" })
			.then(({ settings }) => (this.#layered = settings))
			.catch(() => (this.#layered = null));
	}
}

/** The settings whose names match, the best first; then those with every word in the description, the section or other words for them. */
export function matching(entries: readonly SettingEntry[], query: string): FoundSetting[] {
	const words = wordsOf(query);
	if (words.length === 0) return [];
	const named: { entry: FoundSetting; score: number }[] = [];
	const described: FoundSetting[] = [];
	for (const entry of entries) {
		const match = fuzzy(query, haystack(entry.name));
		// Letters in order are too weak beside whole words in descriptions.
		if (match && match.score > 2.5 * words.length) named.push({ entry: { ...entry, at: match.at }, score: match.score });
		else if (hasAll(words, folded([entry.name, entry.about, entry.place, entry.words].join(" ")))) described.push({ ...entry, at: [] });
	}
	return [...named.sort((one, two) => two.score - one.score).map(({ entry }) => entry), ...described];
}
