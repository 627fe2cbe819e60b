import type { CharacterId, ChatId, Persona, PersonaId } from "../api/generated";
import { t } from "../i18n/i18n.svelte";
import type { App } from "./app.svelte";

/** Actions that join personas with characters and imported chats. */
export class PersonaActions {
	constructor(private readonly app: App) {}

	/** Sets the persona with which new chats with a character begin; `null` means the default. */
	async bind(character: CharacterId, persona: PersonaId | null): Promise<void> {
		const { app } = this;
		await app.attempt(async () => {
			await app.api.bindPersona(character, persona);
			await app.settings.load();
		});
	}

	async fromCharacter(character: CharacterId): Promise<void> {
		const { app } = this;
		await app.attempt(async () => {
			const persona = await app.api.personaFromCharacter(character);
			await app.settings.load();
			app.toasts.show({ kind: "news", text: t("toast.personaMade", { name: persona.name }) });
		});
	}

	/** Makes a character of a persona and opens it in the editor. */
	async toCharacter(persona: Persona): Promise<void> {
		const { app } = this;
		await app.attempt(async () => {
			const character = await app.api.characterFromPersona(persona.id);
			await app.loadLists();
			app.edit(character.id);
		});
	}

	/** Keeps the user's name of an imported chat, so that the chat no longer asks for a persona. */
	async keepName(chat: ChatId): Promise<void> {
		await this.app.attempt(async () => {
			await this.app.api.keepChatName(chat);
			const { info } = this.app.chat ?? {};
			if (this.app.chat && info?.id === chat) this.app.chat.info = { ...info, asksName: false };
		});
	}
}
