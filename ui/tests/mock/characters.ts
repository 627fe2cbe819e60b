import type { Character, CharacterFields, CharacterSummary, CharacterTags } from "../../src/lib/api/generated";
import * as data from "./data";
import type { MockEngine } from "./engine";

/** The library of the scripted engine. */
export class MockCharacters {
	readonly #favourites = new Set(["c1", "c5"]);

	constructor(private readonly engine: MockEngine) {}

	op_list_characters = () => this.engine.characters.map((character) => this.#summary(character));
	op_get_character = ({ id }: { id: string }) => this.engine.characters.find((character) => character.id === id);
	op_create_character = ({ fields }: { fields: CharacterFields }) => {
		const made: Character = { id: `n${this.engine.next++}`, picture: null, spec: "chara_card_v3", fields, sources: [], created: data.ago(0), updated: data.ago(0) };
		this.engine.characters.unshift(made);
		return made;
	};
	op_update_character = ({ id, fields }: { id: string; fields: CharacterFields }) => Object.assign(this.op_get_character({ id }) ?? {}, { fields });
	op_find_characters = ({ query }: { query: string }) => {
		const words = query.toLowerCase().split(/\s+/);
		const text = ({ fields }: Character) => `${fields.name} ${fields.creator} ${fields.tags.join(" ")} ${fields.description}`.toLowerCase();
		return this.engine.characters.filter((character) => words.every((word) => text(character).includes(word))).map(({ id }) => id);
	};
	op_set_favourites = ({ characters, favourite }: { characters: string[]; favourite: boolean }) => {
		for (const id of characters) this.#favourites[favourite ? "add" : "delete"](id);
	};
	op_tag_characters = ({ characters, add, remove }: { characters: string[]; add: string[]; remove: string[] }): CharacterTags[] => {
		const former = this.engine.characters.filter(({ id }) => characters.includes(id)).map(({ id, fields }) => ({ id, tags: fields.tags }));
		for (const { id, fields } of this.engine.characters) if (characters.includes(id)) fields.tags = [...new Set([...fields.tags.filter((tag) => !remove.includes(tag)), ...add])];
		return former;
	};
	op_restore_tags = ({ tags }: { tags: CharacterTags[] }) => {
		for (const { id, fields } of this.engine.characters) fields.tags = tags.find((one) => one.id === id)?.tags ?? fields.tags;
	};
	/** Groups outlive a character, its other chats do not. */
	op_delete_characters = ({ characters }: { characters: string[] }) => {
		for (const id of characters) {
			const alone = this.engine.chats.filter((chat) => chat.character === id && chat.members.length === 0);
			for (const chat of alone) this.engine.deletions.delete(this.engine.chats, chat.id);
			this.engine.deletions.delete(this.engine.characters, id, () => alone.toReversed().forEach((chat) => this.engine.deletions.restore(chat.id)));
		}
	};
	op_restore_characters = ({ characters }: { characters: string[] }) => characters.toReversed().forEach((id) => this.engine.deletions.restore(id));

	#summary({ id, picture, fields, created }: Character): CharacterSummary {
		const chat = this.engine.chats.find((known) => known.character === id);
		return { id, name: fields.name, tagline: fields.creatorNotes || fields.description, picture, tags: fields.tags, creator: fields.creator, favourite: this.#favourites.has(id), private: false, lastChat: chat?.updated ?? null, created, place: this.engine.folders.place(id) };
	}
}
