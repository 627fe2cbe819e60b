import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { CharacterSummary } from "../api/generated";
import { api } from "./api";
import type { Sort } from "./cards";
import { Library } from "./library.svelte";
import { browserValues } from "./pageValues";

const card = (name: string, over: Partial<CharacterSummary> = {}): CharacterSummary => ({ id: name, name, tagline: "", picture: null, tags: [], creator: "", favourite: false, private: false, lastChat: null, created: "", place: { folder: null, pinned: false, archived: false }, ...over });

async function library(cards: CharacterSummary[], answers: ConstructorParameters<typeof FakeShell>[0] = {}) {
	const shell = new FakeShell({ list_characters: () => cards, find_characters: () => [], ...answers });
	const library = new Library(api(shell), browserValues);
	await library.load();
	return { library, shell, names: () => library.shown.map(({ name }) => name) };
}

async function found(query: string, cards: CharacterSummary[]) {
	const { library: all, names } = await library(cards);
	all.query = query;
	return names();
}

beforeEach(() => localStorage.clear());
afterEach(() => vi.useRealTimers());

test("search ignores case, accents and word order", async () => {
	const cards = [card("Míra", { tags: ["cozy"] }), card("Captain Osei", { tags: ["sea"] }), card("雪")];
	expect(await found("mira", cards)).toEqual(["Míra"]);
	expect(await found("osei captain", cards)).toEqual(["Captain Osei"]);
	expect(await found("COZY", cards)).toEqual(["Míra"]);
	expect(await found("雪", cards)).toEqual(["雪"]);
	expect(await found("  ", cards)).toHaveLength(3);
});

test("engine finds descriptions for the current query", async () => {
	vi.useFakeTimers();
	const { library: all, shell, names } = await library([card("Mira"), card("Osei")], { find_characters: ({ query }: { query: string }) => (query === "ferry" ? ["Osei"] : []) });
	for (const typed of ["f", "fe", "ferry"]) all.query = typed;
	expect(names()).toEqual([]);
	await vi.runAllTimersAsync();
	expect([names(), shell.count("find_characters")]).toEqual([["Osei"], 1]);
	all.query = "ferry m";
	expect(names()).toEqual([]);
});

const FEW = [card("Mira", { tags: ["Cozy", "Magic"], favourite: true, created: "2" }), card("basil", { tags: ["cozy"], created: "3" }), card("Osei", { tags: ["sea"], created: "1" })];

test("tags narrow or widen, and ignore case", async () => {
	const { library: all, names } = await library(FEW);
	expect(all.tagCounts).toEqual([{ tag: "Cozy", count: 2 }, { tag: "Magic", count: 1 }, { tag: "sea", count: 1 }]);
	all.toggleTag("cozy");
	all.toggleTag("Magic");
	expect(names()).toEqual(["Mira"]);
	all.set({ match: "any" });
	expect(names()).toEqual(["Mira", "basil"]);
	all.toggleTag("COZY");
	expect(all.tags).toEqual(["Magic"]);
	all.favourites = true;
	expect([names(), all.filtered]).toEqual([["Mira"], true]);
	all.clear();
	expect([names().length, all.filtered]).toEqual([3, false]);
});

test("sort order is remembered", async () => {
	const { library: all, names } = await library(FEW);
	const order = (sort: Sort) => {
		all.set({ sort });
		return names().join(" ");
	};
	expect(order("recent")).toBe("Mira basil Osei");
	expect(order("name")).toBe("basil Mira Osei");
	expect(order("favourites")).toBe("Mira basil Osei");
	expect(order("added")).toBe("basil Mira Osei");
	all.set({ view: "list" });
	const { library: later } = await library(FEW);
	expect([later.sort, later.view]).toEqual(["added", "list"]);
});

const press = { shiftKey: false, ctrlKey: false, metaKey: false };

test("selects single cards, ranges and all visible", async () => {
	const cards = ["a", "b", "c", "d"].map((name) => card(name));
	const { library: all } = await library(cards);
	const chosen = () => all.list.chosen.map(({ id }) => id).join("");
	expect([all.list.pick({ key: "b", id: "b" }, press), chosen()]).toEqual([false, ""]);
	expect([all.list.pick({ key: "b", id: "b" }, { ...press, ctrlKey: true }), chosen()]).toEqual([true, "b"]);
	all.list.pick({ key: "d", id: "d" }, { ...press, shiftKey: true });
	expect(chosen()).toBe("bcd");
	all.list.pick({ key: "c", id: "c" }, press);
	expect(chosen()).toBe("bd");
	all.query = "d";
	expect(chosen()).toBe("d");
	all.query = "";
	all.list.chooseAll();
	expect(chosen()).toBe("abcd");
	cards.shift();
	await all.load();
	expect(chosen()).toBe("bcd");
	all.list.stopSelecting();
	expect(chosen()).toBe("");
});

test("simultaneous changes load the list twice", async () => {
	const { library: all, shell } = await library(FEW);
	await Promise.all([all.load(), all.load(), all.load(), all.load()]);
	expect(shell.count("list_characters")).toBe(1 + 2);
});
