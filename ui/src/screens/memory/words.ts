import type { LorebookSummary, Memory, Persona } from "../../lib/api/generated";
import { t } from "../../lib/i18n/i18n.svelte";
import type { Of } from "../../lib/state/memory/memories.svelte";

/** From where memories are looked at: a chat, or a character alone. */
export interface Whose extends Of {
	characterName: string;
}

/** What a memory may be about, in the engine's words. */
export const TYPES: readonly string[] = ["note", "fact", "event", "relationship", "personality", "preference", "rule", "outcome", "decision", "emotion", "open_thread"];

/** What the ids of a memory stand for. */
export interface Known {
	personas: Persona[];
	books: LorebookSummary[];
}

/** Where a memory counts, in the words of the place it is looked at from. */
export function scopeOf(memory: Pick<Memory, "scope" | "persona" | "chat" | "world">, whose: Whose, { personas, books }: Known): string {
	const character = whose.characterName;
	switch (memory.scope) {
		case "profile":
			return t("memory.scope.profile");
		case "character":
			return t("memory.scope.character", { character });
		case "pair":
			return t("memory.scope.pair", { character, persona: nameOf(memory.persona, whose, personas) });
		case "chat":
			return memory.chat === whose.id ? t("memory.scope.chat") : t("memory.scope.otherChat");
		case "world": {
			const book = books.find(({ id }) => id === memory.world);
			return book ? t("memory.scope.world", { world: book.name }) : t("memory.scope.someWorld");
		}
	}
}

function nameOf(persona: string | null, whose: Whose, personas: Persona[]): string {
	const known = personas.find(({ id }) => id === persona);
	if (known) return known.name;
	return persona === null || persona === whose.persona.id ? whose.persona.name : t("memory.deletedPersona");
}
