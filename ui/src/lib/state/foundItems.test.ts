import { expect, test } from "vitest";
import type { ItemPlace } from "../api/generated";
import type { App } from "./app.svelte";
import { showFoundItem } from "./foundItems";

/** An app that only records what it is asked to show. */
class RecordingApp {
	readonly done: string[] = [];
	chat: { id: string; info: { character: string } } | null = null;
	chats = { all: [{ id: "chat1", character: "c1" }] };
	#note = (name: string) => (...args: unknown[]) => void this.done.push([name, ...args.map((arg) => JSON.stringify(arg))].join(" "));
	showSettings = this.#note("settings");
	showSetting = this.#note("setting");
	showMemories = this.#note("memories");
	openBook = this.#note("book");
	edit = this.#note("edit");
	openChat = async (id: string) => {
		this.done.push(`chat ${id}`);
		this.chat = { id, info: { character: "c1" } };
	};
}

async function shown(place: ItemPlace, open?: RecordingApp["chat"]): Promise<string[]> {
	const app = new RecordingApp();
	app.chat = open ?? null;
	await showFoundItem(app as unknown as App, place);
	return app.done;
}

test("notes open the settings that contain them", async () => {
	expect(await shown({ of: "note" })).toEqual(['settings {"tab":"writing","row":"author_note"}']);
	expect(await shown({ of: "chatNote", chat: "chat1" })).toEqual(["chat chat1", 'setting "author_note"']);
	expect(await shown({ of: "characterNote", character: "c1" })).toEqual(["chat chat1", 'setting "author_note"']);
	expect(await shown({ of: "characterNote", character: "c9" })).toEqual(['edit "c9"']);
	expect(await shown({ of: "chatText", chat: "chat1", field: "scenario" })).toEqual(["chat chat1", 'setting "text-scenario"']);
});

test("a memory opens in the open chat of its character, or in its own chat", async () => {
	const memory = { of: "memory" as const, memory: "m1", chat: "chat1", character: "c1" };
	expect(await shown(memory, { id: "chat7", info: { character: "c1" } })).toEqual(['memories "m1"']);
	expect(await shown(memory)).toEqual(["chat chat1", 'memories "m1"']);
	expect(await shown({ ...memory, chat: null })).toEqual(['edit "c1"']);
	expect(await shown({ ...memory, character: null }, { id: "chat7", info: { character: "c1" } })).toEqual(["chat chat1", 'memories "m1"']);
});

test("entries and characters open at the entry and the field", async () => {
	expect(await shown({ of: "entry", book: "b1", entry: "7" })).toEqual(['book "b1" "7"']);
	expect(await shown({ of: "cardEntry", character: "c1", entry: "7" })).toEqual(['edit "c1" null "7"']);
	expect(await shown({ of: "character", character: "c1", field: "scenario" })).toEqual(['edit "c1" "scenario"']);
	expect(await shown({ of: "character", character: "c1", field: "alternateGreetings" })).toEqual(['edit "c1" "firstMessage"']);
	expect(await shown({ of: "character", character: "c1", field: "" })).toEqual(['edit "c1" "name"']);
});
