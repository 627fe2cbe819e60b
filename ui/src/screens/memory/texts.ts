import type { LorebookSummary, Memory, Persona, PersonaId } from "../../lib/api/generated";
import { t } from "../../lib/i18n/i18n.svelte";
import type { MemoryContext } from "../../lib/state/memory/memories.svelte";

/** The context of a memory list, with the character's name. */
export interface NamedMemoryContext extends MemoryContext {
	characterName: string;
}

/** Memory types, by the engine's names. */
export const TYPES: readonly string[] = ["note", "fact", "event", "relationship", "personality", "preference", "rule", "outcome", "decision", "emotion", "open_thread"];

/** Lists to resolve the ids in a memory. */
export interface Known {
	personas: Persona[];
	books: LorebookSummary[];
}

/** Screen text for the scope of a memory, relative to the context of the list. */
export function scopeOf(memory: Pick<Memory, "scope" | "persona" | "chat" | "world">, context: NamedMemoryContext, { personas, books }: Known): string {
	const character = context.characterName;
	switch (memory.scope) {
		case "profile":
			return t("memory.scope.profile");
		case "character":
			return t("memory.scope.character", { character });
		case "pair":
			return t("memory.scope.pair", { character, persona: nameOf(memory.persona, context, personas) });
		case "chat":
			return memory.chat === context.id ? t("memory.scope.chat") : t("memory.scope.otherChat");
		case "world": {
			const book = books.find(({ id }) => id === memory.world);
			return book ? t("memory.scope.world", { world: book.name }) : t("memory.scope.someWorld");
		}
	}
}

function nameOf(persona: PersonaId | null, context: NamedMemoryContext, personas: Persona[]): string {
	const known = personas.find(({ id }) => id === persona);
	if (known) return known.name;
	return persona === null || persona === context.persona.id ? context.persona.name : t("memory.deletedPersona");
}
