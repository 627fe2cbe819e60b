import type { LorebookBinding, LorebookSummary } from "../../api/generated";
import type { Of } from "./memories.svelte";

/** The lorebooks that a memory can belong to there: those outside cards that count, by their names. */
export function worldsOf(books: LorebookSummary[], of: Of): LorebookSummary[] {
	return books.filter((book) => book.character === null && book.enabled && book.bindings.some((binding) => countsThere(binding, of)));
}

function countsThere(binding: LorebookBinding, of: Of): boolean {
	switch (binding.scope) {
		case "global":
			return true;
		case "character":
			return binding.id === of.character;
		case "chat":
			return binding.id === of.id;
		case "persona":
			return binding.id === of.persona.id;
	}
}
