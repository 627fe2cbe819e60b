import type { CharacterId, ChatId, ItemPlace } from "../api/generated";
import type { App } from "./app.svelte";
import type { TextField } from "./fields";

/** Fields of a card that are no text fields, and the text field next to them in the editor. */
const NEXT_TO: Record<string, TextField> = {
	"": "name",
	tags: "description",
	alternateGreetings: "firstMessage",
	groupOnlyGreetings: "firstMessage",
	depthPrompt: "postHistoryInstructions",
};

/** Opens the place of a found item. */
export async function showFoundItem(app: App, place: ItemPlace): Promise<void> {
	if (place.of === "note") app.showSettings({ tab: "writing", row: "author_note" });
	else if (place.of === "chatNote") await inChat(app, place.chat, () => app.showSetting("author_note"));
	else if (place.of === "chatText") await inChat(app, place.chat, () => app.showSetting(`text-${place.field}`));
	else if (place.of === "characterNote") await characterNote(app, place.character);
	else if (place.of === "memory") await memory(app, place);
	else if (place.of === "entry") app.openBook(place.book, place.entry);
	else if (place.of === "cardEntry") app.edit(place.character, null, place.entry);
	else app.edit(place.character, NEXT_TO[place.field] ?? (place.field as TextField));
}

async function inChat(app: App, chat: ChatId, show: () => void): Promise<void> {
	await app.openChat(chat);
	if (app.chat?.id === chat) show();
}

/** The settings panel of a chat with the character shows its note. */
async function characterNote(app: App, character: CharacterId): Promise<void> {
	const chat = app.chats.all.find((one) => one.character === character);
	if (chat) await inChat(app, chat.id, () => app.showSetting("author_note"));
	else app.edit(character);
}

/** The open chat shows the memories of its character. */
async function memory(app: App, { memory: id, chat, character }: Extract<ItemPlace, { of: "memory" }>): Promise<void> {
	if (character !== null && app.chat?.info?.character === character) app.showMemories(id);
	else if (chat !== null) await inChat(app, chat, () => app.showMemories(id));
	else if (character !== null) app.edit(character);
}
