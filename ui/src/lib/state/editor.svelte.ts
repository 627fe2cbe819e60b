import type { ApiError, CardScripts, Character, CharacterFields, LoreEntry } from "../api/generated";
import { attempt } from "./attempt";
import type { TextField } from "./fields";
import type { Api } from "./api";
import { base64 } from "./base64";

const EMPTY: CharacterFields = {
	name: "",
	nickname: "",
	description: "",
	personality: "",
	scenario: "",
	firstMessage: "",
	alternateGreetings: [],
	messageExamples: "",
	systemPrompt: "",
	postHistoryInstructions: "",
	creatorNotes: "",
	creator: "",
	characterVersion: "",
	tags: [],
};

/** A character being edited, or made. */
export class Editor {
	id = $state<string | null>(null);
	fields = $state<CharacterFields>(structuredClone(EMPTY));
	picture = $state<string | null>(null);
	spec = $state("");
	/** Regex scripts that the card brought. */
	scripts = $state.raw<CardScripts | null>(null);
	/** The lorebook in the card. */
	lore = $state.raw<LoreEntry[]>([]);
	loading = $state(false);
	saving = $state(false);
	failure = $state.raw<ApiError | null>(null);
	#saved = $state(JSON.stringify(EMPTY));
	readonly dirty = $derived(JSON.stringify(this.fields) !== this.#saved);
	readonly named = $derived(this.fields.name.trim() !== "");

	constructor(
		private readonly api: Api,
		id: string | null,
		/** The field to begin with. */
		readonly field: TextField | null = null,
		/** The entry of the lorebook to begin with. */
		readonly entry: string | null = null,
	) {
		this.id = id;
	}

	async load(): Promise<void> {
		if (!this.id) return;
		this.loading = true;
		const id = this.id;
		await attempt(this, async () => {
			const [character, scripts, lore] = await Promise.all([this.api.getCharacter(id), this.api.cardScripts(id), this.api.cardLore(id)]);
			this.#show(character);
			[this.scripts, this.lore] = [scripts, lore];
		});
		this.loading = false;
	}

	/** True when everything typed is on disk. */
	async save(): Promise<boolean> {
		this.saving = true;
		const done = await attempt(this, async () => {
			const fields = $state.snapshot(this.fields);
			this.#show(this.id ? await this.api.updateCharacter(this.id, fields) : await this.api.createCharacter(fields));
		});
		this.saving = false;
		return done;
	}

	/** Replaces the picture; a new character is saved first, for it needs a place to keep it. */
	async setPicture(file: File): Promise<void> {
		if (!this.id && !(await this.save())) return;
		const data = await base64(file);
		await attempt(this, async () => {
			const character = await this.api.setCharacterPicture(this.id ?? "", data);
			this.picture = character.picture;
		});
	}

	/** Lets the card's scripts run, or stops them. */
	async allowScripts(allowed: boolean): Promise<void> {
		const { id, scripts } = this;
		if (!id || !scripts) return;
		await attempt(this, async () => {
			await this.api.allowCardScripts(id, allowed);
			this.scripts = { ...scripts, allowed };
		});
	}

	addGreeting = (): void => {
		this.fields.alternateGreetings.push("");
	};

	removeGreeting(index: number): void {
		this.fields.alternateGreetings.splice(index, 1);
	}

	#show(character: Character): void {
		this.id = character.id;
		this.fields = character.fields;
		this.picture = character.picture;
		this.spec = character.spec;
		this.#saved = JSON.stringify(character.fields);
	}
}
