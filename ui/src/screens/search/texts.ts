import type { ItemHit, SearchHit } from "../../lib/api/generated";
import { type Key, t } from "../../lib/i18n/i18n.svelte";

const joined = (...parts: string[]) => parts.filter(Boolean).join(" · ");

/** The author of a message, its chat, and which of its texts it is. */
export function messageFrom({ name, title, character, isShown }: SearchHit, chatKnown: boolean, earlier: boolean): string {
	const version = earlier ? t("search.earlierText") : isShown ? "" : t("search.otherVersion");
	return joined(name ?? t("search.you"), chatKnown ? "" : title || character, version);
}

/** The title of an item, its kind where the group has several, and what it belongs to. */
export function itemFrom({ place, title, context }: ItemHit): string {
	if (place.of === "note") return joined(t("setting.author_note"), t("search.allChats"));
	if (place.of === "chatNote" || place.of === "characterNote") return joined(t("setting.author_note"), context);
	if (place.of === "chatText") return joined(t(`field.${place.field}`), context);
	if (place.of === "character") return joined(title, place.field === "" ? "" : t(`field.${place.field}` as Key));
	return joined(title, context);
}
