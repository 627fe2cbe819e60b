import { expect, test } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { CharacterSummary } from "../api/generated";
import { api } from "./api";
import { Library } from "./library.svelte";
import { Editor } from "./editor.svelte";

const card = (name: string, tags: string[] = []): CharacterSummary => ({ id: name, name, tagline: "", picture: null, tags, creator: "", lastChat: null, created: "" });

async function found(query: string, cards: CharacterSummary[]) {
	const library = new Library(api(new FakeShell({ list_characters: () => cards })));
	await library.load();
	library.query = query;
	return library.shown.map(({ name }) => name);
}

test("search ignores case and accents and finds words in any order", async () => {
	const cards = [card("Míra", ["cozy"]), card("Captain Osei", ["sea"]), card("雪")];
	expect(await found("mira", cards)).toEqual(["Míra"]);
	expect(await found("osei captain", cards)).toEqual(["Captain Osei"]);
	expect(await found("COZY", cards)).toEqual(["Míra"]);
	expect(await found("雪", cards)).toEqual(["雪"]);
	expect(await found("  ", cards)).toHaveLength(3);
});

test("the editor knows what is unsaved, and a refused save keeps it", async () => {
	const shell = new FakeShell({
		create_character: () => {
			throw { kind: "badInput", message: "A character needs a name.", hint: "" };
		},
	});
	const editor = new Editor(api(shell), null);
	expect(editor.dirty).toBe(false);
	editor.fields.name = "Juniper";
	editor.addGreeting();
	expect(editor.dirty).toBe(true);
	expect(await editor.save()).toBe(false);
	expect(editor.failure?.kind).toBe("badInput");
	shell.answers.create_character = ({ fields }: { fields: object }) => ({ id: "j", picture: null, spec: "chara_card_v3", fields, created: "", updated: "" });
	expect(await editor.save()).toBe(true);
	expect([editor.id, editor.dirty]).toEqual(["j", false]);
});
