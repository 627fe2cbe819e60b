import type { CardFormat, CharacterId, CharacterSummary } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import type { App } from "./app.svelte";

/** Actions for one or several characters of the library. */
export class CharacterActions {
	constructor(private readonly app: App) {}

	/** Deletes characters with undo. `name` is the name of the first one. */
	async delete(ids: string[], name: string): Promise<void> {
		const { app } = this;
		await app.attempt(async () => {
			const led = app.chats.all.filter(({ character }) => ids.includes(character));
			await app.api.deleteCharacters(ids);
			app.editor = null;
			const open = app.chat?.info;
			const present = open ? [open.character, ...(open.members ?? []).map(({ id }) => id)] : [];
			// A group goes on with the others.
			const ends = present.length > 0 && present.every((id) => ids.includes(id));
			if (ends) app.leaveChat();
			await app.loadLists();
			const left = !ends && present.some((id) => ids.includes(id));
			if (left) await app.chat?.load();
			const groupsStay = left || led.some(({ id }) => app.chats.all.some((chat) => chat.id === id));
			const text = ids.length === 1 ? t("toast.characterDeleted", { name }) : t("toast.charactersDeleted", { count: ids.length });
			const undo = async () => {
				await app.api.restoreCharacters(ids);
				await app.loadLists();
				if (left) await app.chat?.load();
			};
			app.offerUndo(text, undo, groupsStay ? t("toast.groupsStay") : undefined);
		});
	}

	/** Copies a character and opens the copy in the editor. */
	async duplicate(id: string, name: string): Promise<void> {
		const { app } = this;
		await app.attempt(async () => {
			const copy = await app.api.duplicateCharacter(id);
			await app.loadLists();
			app.edit(copy.id);
			app.toasts.show({ kind: "news", text: t("toast.duplicated", { name }) });
		});
	}

	async setFavourites(ids: string[], favourite: boolean): Promise<void> {
		const { app } = this;
		await app.attempt(async () => {
			await app.api.setFavourites(ids, favourite);
			await app.library.load();
		});
	}

	/** Adds and removes tags, with undo. */
	async tag(cards: readonly CharacterSummary[], add: string[], remove: string[]): Promise<void> {
		const { api, library } = this.app;
		const ids = cards.map(({ id }) => id);
		await this.app.attempt(async () => {
			const former = await api.tagCharacters(ids, add, remove);
			await library.load();
			this.app.offerUndo(t("toast.tagged", { count: ids.length }), async () => {
				await api.restoreTags(former);
				await library.load();
			});
		});
	}

	exportCard(id: string, format: CardFormat): Promise<void> {
		return this.app.exporting(() => this.app.api.shell.exportCharacter(id, format));
	}

	exportCards(ids: string[], format: CardFormat): Promise<void> {
		return this.app.exporting(() => this.app.api.shell.exportCharacters(ids, format), t("toast.exportedMany", { count: ids.length }));
	}

	/** Opens a dialog for chats to import for a character. An event reports the result. */
	importChats(character: CharacterId): Promise<void> {
		return this.app.attempt(() => this.app.api.shell.pickChats(character));
	}
}
