import type { ApiError, CardScripts, Character, CharacterFields, LoreEntry } from "../api/generated";
import { attempt } from "./attempt";
import type { TextField } from "./fields";
import type { Api } from "./api";
import { base64 } from "./base64";
import { CardFiles } from "./cardFiles.svelte";
import { FieldCounts } from "./fieldCounts.svelte";
import { History } from "./history.svelte";
import { keptForm, type KeptForm, type Leaving } from "./keptForm.svelte";

/** Fields of a card that hold several greetings. */
export type GreetingList = "alternateGreetings" | "groupOnlyGreetings";

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
	translatedNotes: [],
	creator: "",
	characterVersion: "",
	tags: [],
	groupOnlyGreetings: [],
	depthPrompt: { text: "", depth: 4, role: "system" },
	talkativeness: null,
};

/** State of the character editor, for an existing or a new character. */
export class Editor {
	id = $state<string | null>(null);
	fields = $state<CharacterFields>(structuredClone(EMPTY));
	picture = $state<string | null>(null);
	spec = $state("");
	/** The sources that the card itself states. */
	sources = $state.raw<readonly string[]>([]);
	readonly history = new History();
	readonly counts: FieldCounts;
	/** Regex scripts in the card. */
	scripts = $state.raw<CardScripts | null>(null);
	/** Entries of the lorebook in the card. */
	lore = $state.raw<LoreEntry[]>([]);
	/** The tab to open, if no field is given. */
	beginning: "documents" | null = null;
	loading = $state(false);
	saving = $state(false);
	failure = $state.raw<ApiError | null>(null);
	#saved = $state(JSON.stringify(EMPTY));
	/** What was typed and not saved; `null` until it is known. */
	kept = $state.raw<KeptForm | null>(null);
	/** The fields at the last `noted` call, to find which of them changed. */
	#noted: CharacterFields = EMPTY;
	/** The files of the card; `null` for a new character. */
	readonly files = $derived.by(() => (this.id ? new CardFiles(this.api, this.id) : null));
	readonly dirty = $derived(JSON.stringify(this.fields) !== this.#saved);
	readonly named = $derived(this.fields.name.trim() !== "");

	constructor(
		private readonly api: Api,
		id: string | null,
		/** The field to focus first. */
		readonly field: TextField | null = null,
		/** The lorebook entry to show first. */
		readonly entry: string | null = null,
	) {
		this.id = id;
		this.counts = new FieldCounts(api);
		this.history.begin(this.#saved);
	}

	async load(): Promise<void> {
		if (this.id) await this.#load();
		await this.#restore();
	}

	async #load(): Promise<void> {
		this.loading = true;
		const id = this.id ?? "";
		await attempt(this, async () => {
			const [character, scripts, lore] = await Promise.all([this.api.getCharacter(id), this.api.cardScripts(id), this.api.cardLore(id)]);
			this.#show(character);
			[this.scripts, this.lore] = [scripts, lore];
		});
		this.loading = false;
	}

	/** Records the typed text for the token counts and the undo history. */
	noted(): void {
		const fields = $state.snapshot(this.fields);
		const names = Object.keys(fields) as (keyof CharacterFields)[];
		const changed = names.find((name) => JSON.stringify(fields[name]) !== JSON.stringify(this.#noted[name]));
		this.#noted = fields;
		this.kept?.typed(JSON.stringify(fields));
		this.history.note(JSON.stringify(fields), changed);
		this.counts.note(fields);
	}

	undo = (): void => this.#back(this.history.undo());

	redo = (): void => this.#back(this.history.redo());

	/** Saves the fields. Returns whether everything typed is stored. */
	async save(): Promise<boolean> {
		this.saving = true;
		const done = await attempt(this, async () => {
			const fields = $state.snapshot(this.fields);
			const { id, kept } = this;
			this.#kept(id ? await this.api.updateCharacter(id, fields) : await this.api.createCharacter(fields));
			await kept?.done(this.#saved);
			// The draft of a new character has another place than those of the character.
			if (!id) this.kept = this.#form();
		});
		this.saving = false;
		return done;
	}

	/** Saves the fields when the app closes, as when the editor is left. */
	saveOnClose = async (why: Leaving): Promise<void> => {
		if (why === "closing" && this.dirty && this.named) await this.save();
	};

	/** Forgets what was typed in a new character. */
	async discard(): Promise<void> {
		await this.kept?.done();
	}

	/** Replaces the picture. A new character is saved first, because a picture needs an id to be stored under. */
	async setPicture(file: File): Promise<void> {
		if (!this.id && !(await this.save())) return;
		const data = await base64(file);
		await attempt(this, async () => {
			const character = await this.api.setCharacterPicture(this.id ?? "", data);
			this.picture = character.picture;
		});
	}

	/** Allows or blocks the scripts of the card. */
	async allowScripts(allowed: boolean): Promise<void> {
		const { id, scripts } = this;
		if (!id || !scripts) return;
		await attempt(this, async () => {
			await this.api.allowCardScripts(id, allowed);
			this.scripts = { ...scripts, allowed };
		});
	}

	addGreeting(list: GreetingList = "alternateGreetings"): void {
		this.fields[list].push("");
	}

	removeGreeting(index: number, list: GreetingList = "alternateGreetings"): void {
		this.fields[list].splice(index, 1);
	}

	addNote(language: string): void {
		this.fields.translatedNotes.push({ language, text: "" });
	}

	removeNote(language: string): void {
		this.fields.translatedNotes = this.fields.translatedNotes.filter((note) => note.language !== language);
	}

	#form(): KeptForm {
		const show = (draft: string) => (this.fields = { ...structuredClone(EMPTY), ...(JSON.parse(draft) as CharacterFields) });
		const form = keptForm(this.api, { kind: "card", owner: this.id ?? "", target: "" }, show, (error) => (this.failure = error));
		form.opened(this.#saved);
		return form;
	}

	/** Shows what was typed before and not saved. */
	async #restore(): Promise<void> {
		if (this.failure) return;
		const form = this.#form();
		await form.restore(this.#saved);
		// Whatever was typed while the draft was read is noted now.
		form.typed(JSON.stringify($state.snapshot(this.fields)));
		this.kept = form;
	}

	#back(version: string | null): void {
		if (version !== null) this.fields = JSON.parse(version) as CharacterFields;
	}

	#show(character: Character): void {
		this.#kept(character);
		this.history.begin(this.#saved);
		void this.counts.count(character.fields);
	}

	/** Shows the stored fields, which the engine may have normalised. */
	#kept(character: Character): void {
		this.id = character.id;
		this.fields = character.fields;
		this.picture = character.picture;
		this.spec = character.spec;
		this.sources = character.sources;
		this.#saved = JSON.stringify(character.fields);
	}
}
