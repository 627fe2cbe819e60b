import type { Chat, Memory, Persona } from "../../lib/api/generated";
import { t } from "../../lib/i18n/i18n.svelte";

/** Where a memory counts, in the words of the chat it is looked at from. */
export function scopeOf(memory: Pick<Memory, "scope" | "persona" | "chat">, info: Chat, personas: Persona[]): string {
	const character = info.characterName;
	switch (memory.scope) {
		case "profile":
			return t("memory.scope.profile");
		case "character":
			return t("memory.scope.character", { character });
		case "pair":
			return t("memory.scope.pair", { character, persona: nameOf(memory.persona, info, personas) });
		case "chat":
			return memory.chat === info.id ? t("memory.scope.chat") : t("memory.scope.otherChat");
	}
}

function nameOf(persona: string | null, info: Chat, personas: Persona[]): string {
	const known = personas.find(({ id }) => id === persona);
	if (known) return known.name;
	return persona === null || persona === info.persona.id ? info.persona.name : t("memory.deletedPersona");
}
