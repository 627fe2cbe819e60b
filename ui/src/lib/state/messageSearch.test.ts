import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { SearchHit, SearchPage, SearchResults } from "../api/generated";
import { api } from "./api";
import { MessageSearch } from "./messageSearch.svelte";
import { browserValues } from "./pageValues";

beforeEach(() => {
	vi.useFakeTimers();
	localStorage.clear();
});
afterEach(() => void vi.useRealTimers());

const hit = (swipe: string, byMeaning = false): SearchHit => ({ chat: "chat", title: "", character: "Mira", message: swipe, swipe, isShown: true, role: "character", name: "Mira", created: "", excerpt: [{ text: swipe, isMatch: false }], byMeaning });
const none: SearchPage = { hits: [], more: false };
const results = (hits: SearchHit[], over: Partial<SearchResults> = {}): SearchResults => ({ messages: { hits, more: false }, earlier: none, groups: [], canFindMeaning: false, ...over });

type Asked = { text: string; chat: string | null; meaning: boolean };

async function opened(answers: (asked: Asked) => SearchResults) {
	const shell = new FakeShell({ search: answers });
	const search = new MessageSearch(api(shell), browserValues);
	search.open(null);
	await vi.advanceTimersByTimeAsync(0);
	return { shell, search, count: shell.count("search") };
}

const swipes = (search: MessageSearch) => search.hits.map(({ swipe }) => swipe);

test("typing searches once, after a pause", async () => {
	const { shell, search, count } = await opened(({ text }) => results(text === "" ? [] : [hit(text)]));
	for (const text of ["l", "la", "lamp "]) search.type(text);
	await vi.advanceTimersByTimeAsync(200);
	expect(shell.count("search") - count).toBe(1);
	expect([search.answered, swipes(search)]).toEqual(["lamp", ["lamp"]]);
	search.type(" ");
	await vi.advanceTimersByTimeAsync(200);
	expect([search.answered, search.groups]).toEqual(["", []]);
});

test("more messages go before hits by meaning, each once", async () => {
	const { shell, search } = await opened(({ text, meaning }) => {
		const found = meaning ? [hit("one"), hit("two", true), hit("three", true)] : [hit("one")];
		return results(text === "" ? [] : found, { messages: { hits: text === "" ? [] : found, more: true }, canFindMeaning: true });
	});
	shell.answers.search_messages = ({ skip }: { skip: number }) => ({ hits: skip === 1 ? [hit("two"), hit("four")] : [], more: false });
	search.type("lamp");
	await vi.advanceTimersByTimeAsync(600);
	expect(swipes(search)).toEqual(["one", "two", "three"]);
	await search.loadMore();
	await search.loadMore();
	expect(swipes(search)).toEqual(["one", "two", "four", "three"]);
});

test("hits by meaning follow, unless they are switched off", async () => {
	const { shell, search, count } = await opened(({ text, meaning }) => results(text === "" ? [] : meaning ? [hit("words"), hit("near", true)] : [hit("words")], { canFindMeaning: true }));
	search.type("lamp");
	await vi.advanceTimersByTimeAsync(150);
	expect([swipes(search), search.meaningPending]).toEqual([["words"], true]);
	await vi.advanceTimersByTimeAsync(300);
	expect([swipes(search), search.meaningPending]).toEqual([["words", "near"], false]);
	search.setMeaning(false);
	await vi.advanceTimersByTimeAsync(600);
	expect([swipes(search), shell.count("search") - count]).toEqual([["words"], 3]);
	expect(new MessageSearch(api(shell), browserValues).wantsMeaning).toBe(false);
});

test("without embeddings, nothing is searched by meaning", async () => {
	const { shell, search, count } = await opened(() => results([hit("words")]));
	search.type("lamp");
	await vi.advanceTimersByTimeAsync(900);
	expect([search.byMeaning, shell.count("search") - count]).toEqual([false, 1]);
});

test("typing on cancels a search by meaning", async () => {
	const { shell, search, count } = await opened(({ text }) => results([hit(text)], { canFindMeaning: true }));
	search.type("lamp");
	await vi.advanceTimersByTimeAsync(200);
	search.type("lamps");
	await vi.advanceTimersByTimeAsync(200);
	expect([swipes(search), shell.count("search") - count]).toEqual([["lamps"], 2]);
	search.close();
	await vi.advanceTimersByTimeAsync(900);
	expect(shell.count("search") - count).toBe(2);
});

test("groups have an order, and a group that is gone is not chosen", async () => {
	const item = { place: { of: "note" as const }, title: "", context: "", excerpt: [], byMeaning: false };
	const { search } = await opened(({ text }) => results([hit("one")], text === "note" ? { earlier: { hits: [hit("old")], more: false }, groups: [{ kind: "notes", items: [item], more: true }] } : {}));
	search.type("note");
	await vi.advanceTimersByTimeAsync(200);
	expect(search.groups.map(({ name, more }) => [name, more])).toEqual([["messages", false], ["earlier", false], ["notes", true]]);
	search.only = "notes";
	search.type("other");
	await vi.advanceTimersByTimeAsync(200);
	expect([search.groups.length, search.only]).toEqual([1, null]);
});

test("answer to an older text is ignored, and a failure is shown", async () => {
	let release = () => {};
	const gate = new Promise<void>((done) => (release = done));
	const { shell, search } = await opened(() => results([]));
	shell.answers.search = async ({ text }: Asked) => {
		if (text === "old") await gate;
		if (text === "bad") throw { kind: "internal", message: "broken" };
		return results([hit(text)]);
	};
	search.type("old");
	await vi.advanceTimersByTimeAsync(200);
	search.type("new");
	await vi.advanceTimersByTimeAsync(200);
	release();
	await vi.advanceTimersByTimeAsync(0);
	expect(swipes(search)).toEqual(["new"]);
	search.type("bad");
	await vi.advanceTimersByTimeAsync(200);
	expect(search.failure?.message).toBe("broken");
});
