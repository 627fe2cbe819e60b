import type { CharacterId, Origin } from "../api/generated";
import type { App } from "./app.svelte";
import { targetOf } from "./xray/target";

/** Opens the screen on which the source of a prompt block can be viewed or changed. */
export function followOrigin(app: App, origin: Origin): void {
	const target = targetOf(origin);
	const character = origin.of === "card" ? origin.character : app.chat?.info?.character;
	if (target?.to === "card" && character) app.edit(character, target.field);
	else if (origin.of === "lore") void openLore(app, origin.book, origin.entry, character);
	else if (target?.to === "memory") app.showMemories(target.id);
	else if (target?.to === "message") app.reveal(target.id);
	else if (target?.to === "template") app.openPrompts({ tab: "templates", id: target.template, section: target.section });
	else if (target?.to === "mode") app.openPrompts({ tab: "modes", name: target.name });
	else if (target?.to === "setting") app.showSetting(target.key === "tools" ? "tool_rounds" : target.key);
	else if (target?.to === "chatText") app.showSetting(`text-${target.field}`);
	else if (target?.to === "document") void openDocument(app, target.id);
	else if (target?.to === "persona") app.showPersonas();
}

/** Opens the list that contains a document: of the chat, the lorebook or the character it is attached to. */
async function openDocument(app: App, id: string): Promise<void> {
	await app.attempt(async () => {
		const { owner } = await app.api.getDocument(id);
		if (owner.of === "chat") app.showSetting(`document-${id}`);
		else if (owner.of === "lorebook") {
			app.openBook(owner.id);
			app.books.tab = "about";
		} else {
			app.edit(owner.id);
			if (app.editor) app.editor.beginning = "documents";
		}
	});
}

/** Opens a lore entry. Prompts contain only the names of lorebooks; an unlisted name is the lorebook in the card. */
async function openLore(app: App, name: string, entry: string, character: CharacterId | undefined): Promise<void> {
	await app.attempt(async () => {
		await app.books.load();
		const book = app.books.all.find((one) => one.character === null && one.name === name);
		if (book) app.openBook(book.id, entry);
		else if (character) app.edit(character, null, entry);
	});
}
