import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { ChatMatches } from "../api/generated";
import { api } from "./api";
import { ChatFind } from "./chatFind.svelte";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const matches = (...messages: string[]): ChatMatches => ({ messages, more: false, terms: [{ text: "lamp", unfinished: true }] });

function opened(answer: (args: { chat: string; text: string }) => ChatMatches) {
	const shell = new FakeShell({ find_in_chat: answer });
	const revealed: string[] = [];
	const find = new ChatFind(api(shell), "chat", async (message) => void revealed.push(message));
	find.open();
	return { shell, find, revealed };
}

async function typed(find: ChatFind, text: string) {
	find.type(text);
	await vi.advanceTimersByTimeAsync(200);
}

test("typing shows the newest hit; steps go around", async () => {
	const { shell, find, revealed } = opened(() => matches("a", "b", "c"));
	for (const text of ["l", "la"]) find.type(text);
	await typed(find, "lamp");
	expect([shell.count("find_in_chat"), find.number, revealed]).toEqual([1, 3, ["c"]]);
	await find.step(1);
	await find.step(1);
	await find.step(-1);
	await find.step(-1);
	expect(revealed).toEqual(["c", "a", "b", "a", "c"]);
});

test("Enter right after typing does not wait for the pause", async () => {
	const { shell, find, revealed } = opened(() => matches("a", "b"));
	find.type("lamp");
	await find.step(1);
	await vi.advanceTimersByTimeAsync(300);
	expect([shell.count("find_in_chat"), revealed, find.number]).toEqual([1, ["b"], 2]);
});

test("changed messages keep the shown hit and do not scroll", async () => {
	const { shell, find, revealed } = opened(() => matches("a", "b"));
	await typed(find, "lamp");
	shell.answers.find_in_chat = () => matches("a", "b", "c");
	find.refresh();
	await vi.advanceTimersByTimeAsync(200);
	expect([find.messages.length, find.number]).toEqual([3, 2]);
	shell.answers.find_in_chat = () => matches("a");
	find.refresh();
	await vi.advanceTimersByTimeAsync(200);
	expect([find.current, find.number, revealed]).toEqual(["", 0, ["b"]]);
	await find.step(-1);
	expect(find.number).toBe(1);
});

test("closing forgets the hits but not the text", async () => {
	const { shell, find } = opened(() => matches("a"));
	await typed(find, "lamp");
	find.close();
	expect([find.shown, find.messages, find.words, find.current]).toEqual([false, [], [], ""]);
	find.open();
	await vi.advanceTimersByTimeAsync(0);
	expect([find.query, find.messages, shell.count("find_in_chat")]).toEqual(["lamp", ["a"], 2]);
});

test("a failure is shown; an empty text has no hits", async () => {
	const { shell, find } = opened(() => matches("a"));
	shell.answers.find_in_chat = () => Promise.reject({ kind: "internal", message: "broken" });
	await typed(find, "lamp");
	expect(find.failure?.message).toBe("broken");
	await typed(find, " ");
	expect([find.failure, find.answered, find.messages]).toEqual([null, "", []]);
});
