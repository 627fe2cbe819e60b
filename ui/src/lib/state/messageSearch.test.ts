import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { SearchHit } from "../api/generated";
import { api } from "./api";
import { MessageSearch } from "./messageSearch.svelte";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const hit = (swipe: string): SearchHit => ({ chat: "chat", title: "", character: "Mira", message: swipe, swipe, isShown: true, role: "character", name: "Mira", created: "", excerpt: [{ text: swipe, isMatch: false }] });

function opened(answers: (args: { text: string; chat: string | null; skip: number }) => { hits: SearchHit[]; more: boolean }) {
	const shell = new FakeShell({ search_messages: answers });
	const search = new MessageSearch(api(shell));
	search.open(null);
	return { shell, search };
}

test("typing searches once, after a pause", async () => {
	const { shell, search } = opened(({ text }) => ({ hits: [hit(text)], more: false }));
	for (const text of ["l", "la", "lamp "]) search.type(text);
	await vi.advanceTimersByTimeAsync(200);
	expect(shell.count("search_messages")).toBe(1);
	expect([search.answered, search.hits.map(({ swipe }) => swipe)]).toEqual(["lamp", ["lamp"]]);
	search.type(" ");
	await vi.advanceTimersByTimeAsync(200);
	expect([search.answered, search.hits.length, shell.count("search_messages")]).toEqual(["", 0, 1]);
});

test("more hits are appended, another chat starts anew", async () => {
	const { search } = opened(({ chat, skip }) => ({ hits: [hit(`${chat ?? "all"}${skip}`)], more: skip < 1 }));
	search.type("lamp");
	await vi.advanceTimersByTimeAsync(200);
	await search.loadMore();
	await search.loadMore();
	expect(search.hits.map(({ swipe }) => swipe)).toEqual(["all0", "all1"]);
	search.setChat("c1");
	await vi.advanceTimersByTimeAsync(0);
	expect(search.hits.map(({ swipe }) => swipe)).toEqual(["c10"]);
});

test("answer to an older text is ignored, and a failure is shown", async () => {
	let release = () => {};
	const gate = new Promise<void>((done) => (release = done));
	const { shell, search } = opened(() => ({ hits: [], more: false }));
	shell.answers.search_messages = async ({ text }: { text: string }) => {
		if (text === "old") await gate;
		if (text === "bad") throw { kind: "internal", message: "broken" };
		return { hits: [hit(text)], more: false };
	};
	search.type("old");
	await vi.advanceTimersByTimeAsync(200);
	search.type("new");
	await vi.advanceTimersByTimeAsync(200);
	release();
	await vi.advanceTimersByTimeAsync(0);
	expect(search.hits.map(({ swipe }) => swipe)).toEqual(["new"]);
	search.type("bad");
	await vi.advanceTimersByTimeAsync(200);
	expect(search.failure?.message).toBe("broken");
});
