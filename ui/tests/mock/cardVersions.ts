import type { CardVersion, Character, FieldChanges, Persona } from "../../src/lib/api/generated";
import { ago, nobody } from "./data";

/** The parts of the scripted engine that the versions and personas of characters change. */
interface Host {
	characters: Character[];
	personas: Persona[];
	chat(id: string): { nameKept?: string | null; asksName?: boolean };
	emit(event: { event: "changed"; what: "characters" | "personas"; id: string | null }): void;
}

/** Earlier versions of cards, copies of characters, and personas of characters. */
export class MockCardVersions {
	#next = 1;
	versions: CardVersion[] = [
		{ id: "2", replaced: ago(2), picture: "c2", changed: ["description", "tags", "picture"] },
		{ id: "1", replaced: ago(50), picture: "c1", changed: [] },
	];

	constructor(private readonly host: Host) {}

	op_card_versions = () => this.versions;
	op_card_version_changes = (): FieldChanges[] => [
		{
			field: "description",
			parts: [
				{ change: "same", text: `${"The lamps of the harbour burn low. ".repeat(12)}She keeps the ` },
				{ change: "removed", text: "red" },
				{ change: "added", text: "old" },
				{ change: "same", text: " lamp, and lights it every night." },
			],
		},
		{ field: "tags", parts: [{ change: "same", text: "cozy" }, { change: "added", text: "\n\nsea" }] },
	];
	op_restore_card_version = ({ character: id }: { character: string }) => {
		const character = this.host.characters.find((one) => one.id === id);
		if (character) character.fields = { ...character.fields, description: "The earlier description." };
		return character;
	};
	op_forget_card_versions = () => {
		this.versions = [];
	};
	op_duplicate_character = ({ id }: { id: string }) => {
		const original = this.host.characters.find((one) => one.id === id);
		if (!original) return null;
		const copy = { ...structuredClone(original), id: `copy${this.#next++}` };
		this.host.characters.push(copy);
		return copy;
	};
	op_bind_persona = ({ character, persona }: { character: string; persona: string | null }) => {
		this.host.personas = this.host.personas.map((one) => {
			const others = one.characters.filter((id) => id !== character);
			return { ...one, characters: one.id === persona ? [...others, character] : others };
		});
	};
	op_persona_from_character = ({ character: id }: { character: string }) => {
		const { fields, picture } = this.host.characters.find((one) => one.id === id) ?? { fields: null, picture: null };
		const persona = { ...nobody, id: `made${this.#next++}`, name: fields?.name ?? "", description: fields?.description ?? "", picture };
		this.host.personas = [...this.host.personas, persona];
		return persona;
	};
	op_character_from_persona = ({ persona: id }: { persona: string }) => {
		const persona = this.host.personas.find((one) => one.id === id);
		const [like] = this.host.characters;
		if (!persona || !like) return null;
		const made = { ...structuredClone(like), id: `made${this.#next++}`, picture: persona.picture };
		made.fields = { ...made.fields, name: persona.name, description: persona.description };
		this.host.characters.push(made);
		return made;
	};
	op_persona_from_chat = ({ chat: id }: { chat: string }) => {
		const chat = this.host.chat(id);
		const persona = { ...nobody, id: `made${this.#next++}`, name: chat.nameKept ?? "" };
		this.host.personas = [...this.host.personas, persona];
		Object.assign(chat, { persona, nameKept: null, asksName: false });
		return persona;
	};
	op_keep_chat_name = ({ chat }: { chat: string }) => {
		this.host.chat(chat).asksName = false;
	};
}
