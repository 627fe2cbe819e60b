import type { LayeredSetting } from "../api/generated";
import { synonyms, t } from "../i18n/i18n.svelte";
import type { App } from "../state/app.svelte";
import { haystack, type Haystack } from "./fuzzy";
import { ACTIONS, type Action } from "./list";
import { settingEntries } from "./settingEntries";

export const ITEM_GROUPS = ["chats", "actions", "characters", "books", "personas", "settings", "messages"] as const;
export type ItemGroup = (typeof ITEM_GROUPS)[number];

/** A line of the palette. */
export interface Item {
	/** Unique; the list of recent items stores it. */
	key: string;
	group: ItemGroup;
	name: string;
	/** A quiet text after the name. */
	note: string;
	hay: Haystack;
	/** Further words that find the item and are not shown. */
	words: Haystack | null;
	action?: Action;
	run: () => unknown;
}

type Line = Omit<Item, "hay" | "words" | "note"> & { note?: string; words?: string };

const item = ({ words = "", note = "", ...line }: Line): Item => ({ ...line, note, hay: haystack(line.name.replace(/\s*…$/, "")), words: words === "" ? null : haystack(words) });

/** Everything that the palette finds without the engine, in the order of an empty search. */
export function items(app: App, layered: readonly LayeredSetting[]): Item[] {
	return [...chats(app), ...actions(app), ...characters(app), ...books(app), ...personas(app), ...settings(app, layered)];
}

function chats(app: App): Item[] {
	return app.chats.all.map(({ id, title, characterName }) =>
		item({ key: `chat:${id}`, group: "chats", name: title || characterName, note: title ? characterName : "", words: characterName, run: () => app.openChat(id) }),
	);
}

function actions(app: App): Item[] {
	const offered = ACTIONS.filter((action) => action.id !== "palette" && action.id !== "focusSearch" && action.available(app));
	return offered.map((action) => item({ key: `action:${action.id}`, group: "actions", name: t(`action.${action.id}`), note: t(`actions.${action.group}`), words: synonyms(action.id), action, run: () => action.run(app) }));
}

function characters(app: App): Item[] {
	return app.library.all.map(({ id, name, tagline, tags }) => item({ key: `character:${id}`, group: "characters", name, note: tagline, words: tags.join(" "), run: () => app.talkTo(id) }));
}

function books(app: App): Item[] {
	return app.books.all.map(({ id, name }) => item({ key: `book:${id}`, group: "books", name, run: () => app.openBook(id) }));
}

/** A persona is taken in the open chat; elsewhere the palette shows it. */
function personas(app: App): Item[] {
	const chat = app.screen === "chats" ? app.chat : null;
	return app.settings.personas.map((persona) =>
		item({
			key: `persona:${persona.id}`,
			group: "personas",
			name: persona.name,
			note: chat ? t("palette.playAs") : "",
			run: () => (chat ? chat.setPersona(persona) : app.showPersonas()),
		}),
	);
}

function settings(app: App, layered: readonly LayeredSetting[]): Item[] {
	return settingEntries(layered).map(({ tab, row, name, about, words, place }) =>
		item({ key: `setting:${row}`, group: "settings", name, note: place, words: `${about} ${words}`, run: () => app.showSettings({ tab, row }) }),
	);
}
