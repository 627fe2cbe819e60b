import type { CharacterSummary, ChatSummary } from "../api/generated";
import type { Api } from "./api";

/** Folds case and accents, so that "mira" finds "Míra". */
function folded(text: string): string {
	return text.normalize("NFKD").replace(/\p{M}/gu, "").toLocaleLowerCase();
}

function found(query: string, ...texts: string[]): boolean {
	const words = folded(query).split(/\s+/).filter(Boolean);
	const hay = folded(texts.join(" "));
	return words.every((word) => hay.includes(word));
}

/** The characters, and what is looked for among them. */
export class Library {
	all = $state.raw<CharacterSummary[]>([]);
	loaded = $state(false);
	query = $state("");
	readonly shown = $derived(
		this.all.filter((card) => found(this.query, card.name, card.tagline, card.creator, ...card.tags)),
	);

	constructor(private readonly api: Api) {}

	async load(): Promise<void> {
		this.all = await this.api.listCharacters();
		this.loaded = true;
	}

	picture(id: string): string | null {
		return this.all.find((card) => card.id === id)?.picture ?? null;
	}
}

/** The chats, newest first. */
export class Chats {
	all = $state.raw<ChatSummary[]>([]);
	loaded = $state(false);
	query = $state("");
	readonly shown = $derived(this.all.filter((chat) => found(this.query, chat.title, chat.characterName, chat.lastLine)));

	constructor(private readonly api: Api) {}

	async load(): Promise<void> {
		this.all = await this.api.listChats();
		this.loaded = true;
	}

	newestOf(character: string): ChatSummary | undefined {
		return this.all.find((chat) => chat.character === character);
	}
}
