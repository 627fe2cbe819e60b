import { expect, test } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { CharacterSummary } from "../api/generated";
import { api } from "./api";
import { Library } from "./library.svelte";
import { Editor } from "./editor.svelte";
import { slices } from "./xray.svelte";

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

test("the slices of the context add up to its size", () => {
	const tokens = { total: 400, limit: 1000, reserve: 100, byZone: { head: 100, digest: 0, window: 250, input: 50 }, exact: true };
	const parts = slices({ tokens } as Parameters<typeof slices>[0]);
	expect(parts.map(({ part }) => part)).toEqual(["head", "window", "input", "reserve", "free"]);
	expect(parts.reduce((sum, part) => sum + part.tokens, 0)).toBe(1000);
});
