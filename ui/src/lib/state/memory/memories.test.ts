import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeShell } from "../../../../tests/unit/shell";
import type { ApiError, FoundMemories, Keyframe, Memory, MemoryDraft, Receipt } from "../../api/generated";
import { api } from "../api";
import { NEW_PERSONA } from "../newPersona";
import { Memories, type MemoryContext } from "./memories.svelte";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const MIRA: MemoryContext = { id: "chat", character: "mira", persona: { ...NEW_PERSONA, id: "sam", name: "Sam" } };

/** `memory("a tea")` is a memory with id `a` and the text `a tea`. */
function memory(words: string, over: Partial<Memory> = {}): Memory {
	const [id = "", ...text] = words.split(" ");
	return { id, type: "fact", text: text.join(" "), importance: 5, scope: "pair", character: "mira", persona: "sam", chat: null, world: null, pinned: false, origin: "rule", confidence: 10, sources: [], echoes: [], archived: null, created: "", updated: "", score: null, ...over };
}

/** The receipt of a message. */
const receipt = (message: string): Receipt => ({ message, chat: "chat", title: "Mira", name: "Sam", line: `${message}!`, created: "" });

const all = (memories: Memory[]): FoundMemories => ({ memories, more: false });

function memories(stored: Memory[], answers: Record<string, (args: never) => unknown> = {}) {
	const failures: ApiError[] = [];
	const undos: (() => Promise<void>)[] = [];
	const gone: Memory[] = [];
	const shell = new FakeShell({
		find_memories: ({ query }: { query: string }) => all(stored.filter(({ text }) => text.includes(query)).toSorted((a, b) => Number(b.pinned) - Number(a.pinned))),
		receipts: ({ messages }: { messages: string[] }) => messages.slice(0, 1_000).map(receipt),
		pin_memory: ({ id, pinned }: { id: string; pinned: boolean }) => Object.assign(stored.find((one) => one.id === id) ?? {}, { pinned }),
		delete_memory: ({ id }: { id: string }) => void gone.push(...stored.splice(stored.findIndex((one) => one.id === id), 1)),
		restore_memory: () => void stored.push(...gone.splice(0)),
		save_memory: ({ draft }: { draft: MemoryDraft }) => {
			const saved = memory(`${draft.id || "new"} ${draft.text}`, { type: draft.type, scope: draft.scope });
			stored.push(saved);
			return saved;
		},
		...answers,
	});
	const list = new Memories(api(shell), {
		failed: (error) => failures.push(error),
		forgot: (_, undo) => undos.push(undo),
		forgotMany: (_, undo) => undos.push(undo),
		merged: (undo) => undos.push(undo),
		imported: () => {},
		archived: (_, undo) => undos.push(undo),
	});
	list.show(null);
	return { list, shell, failures, undos };
}

const ids = (list: Memories) => list.items.map(({ id }) => id).join(" ");

test("memories load with their sources in one request", async () => {
	const { list, shell } = memories([memory("a tea", { sources: ["u1", "u2"] }), memory("b cake", { sources: ["u2"] })]);
	await list.follow(MIRA);
	expect(shell.asked.at(-1)).toEqual({ operation: "receipts", args: { messages: ["u1", "u2"] } });
	expect(list.receipts.get("u2")?.line).toBe("u2!");
});

/** The ids in each `receipts` request. */
const receiptsAsked = (shell: FakeShell) => shell.asked.filter(({ operation }) => operation === "receipts").map(({ args }) => args.messages as string[]);

test("sources load once each, in limited batches", async () => {
	// The last source of each summary is the first source of the next.
	const summaries = Array.from({ length: 130 }, (_, summary) => memory(`m${summary} sea`, { sources: Array.from({ length: 20 }, (_, at) => `u${summary * 19 + at}`) }));
	const { list, shell } = memories(summaries);
	await list.follow(MIRA);
	expect(summaries.flatMap(({ sources }) => sources).filter((source) => !list.receipts.has(source))).toEqual([]);
	expect(receiptsAsked(shell).map((ids) => ids.length)).toEqual([1_000, 1_000, 471]);
	expect(new Set(receiptsAsked(shell).flat()).size).toBe(2_471);
});

test("receipts reload only after a change", async () => {
	const gone = new Set<string>();
	const receipts = ({ messages }: { messages: string[] }) => messages.filter((message) => !gone.has(message)).map(receipt);
	const { list, shell } = memories([memory("a tea", { sources: ["u1"] }), memory("b cake", { sources: ["u2"] })], { receipts });
	await list.follow(MIRA);
	await list.setFilter({ type: "fact" });
	expect(receiptsAsked(shell)).toEqual([["u1", "u2"]]);
	gone.add("u2");
	await list.changed();
	expect(receiptsAsked(shell)).toEqual([["u1", "u2"], ["u1", "u2"]]);
	expect([...list.receipts.keys()]).toEqual(["u1"]);
});

test("pinned or restored memory keeps its place", async () => {
	const { list, undos } = memories([memory("a tea"), memory("b cake"), memory("c rain")]);
	await list.follow(MIRA);
	await list.pin(list.items[2] as Memory);
	await list.changed();
	expect(ids(list)).toBe("a b c");
	expect(list.items[2]?.pinned).toBe(true);
	await list.forget(list.items[0] as Memory);
	expect(ids(list)).toBe("b c");
	await undos[0]?.();
	await list.changed();
	expect(ids(list)).toBe("a b c");
	list.close();
	list.show(null);
	await list.follow({ ...MIRA, id: "other", character: "osei" });
	expect(ids(list)).toBe("c b a");
});

test("new memory comes first and clears the search", async () => {
	const { list } = memories([memory("a tea"), memory("b cake")]);
	await list.follow(MIRA);
	list.search("cake");
	await vi.advanceTimersByTimeAsync(300);
	expect(ids(list)).toBe("b");
	list.write();
	expect(list.draft).toMatchObject({ id: "", scope: "pair", character: "mira", persona: "sam", chat: "chat" });
	expect(await list.save()).toBeNull();
	if (list.draft) [list.draft.text, list.draft.type] = ["Rain.", "event"];
	await list.save();
	expect([ids(list), list.query, list.draft]).toEqual(["new a b", "", null]);
	expect(list.items[0]?.type).toBe("event");
});

test("edited memory keeps its owner and type", async () => {
	const { list } = memories([memory("a tea", { type: "relationship", scope: "chat", character: null, persona: null, chat: "elsewhere" })]);
	await list.follow(MIRA);
	list.edit(list.items[0] as Memory);
	expect(list.draft).toMatchObject({ id: "a", type: "relationship", scope: "chat", chat: "elsewhere", character: "mira", persona: "sam" });
});

test("rejected memory keeps its text and shows the error", async () => {
	const refused: ApiError = { kind: "badInput", message: "Too long.", hint: "Shorten it." };
	const { list } = memories([], {
		save_memory: () => {
			throw refused;
		},
	});
	await list.follow(MIRA);
	list.write();
	if (list.draft) list.draft.text = "Long.";
	expect(await list.save()).toBeNull();
	expect([list.refused, list.draft?.text, list.saving]).toEqual([refused, "Long.", false]);
});

test("missing target is reported", async () => {
	const { list } = memories([memory("a tea")]);
	list.show("gone");
	expect(list.missing).toBe(false);
	await list.follow(MIRA);
	expect(list.missing).toBe(true);
	list.show("a");
	expect(list.missing).toBe(false);
	await list.forget(list.items[0] as Memory);
	expect(list.missing).toBe(false);
});

test("latest request wins, a closed list sends none", async () => {
	let late: (found: FoundMemories) => void = () => {};
	const { list, shell } = memories([], { find_memories: ({ character }: { character: string }) => (character === "mira" ? new Promise((resolve) => (late = resolve)) : all([memory("o sea")])) });
	const first = list.follow(MIRA);
	await Promise.resolve();
	await list.follow({ ...MIRA, character: "osei" });
	late(all([memory("a tea")]));
	await first;
	expect(ids(list)).toBe("o");
	list.close();
	await list.changed();
	expect(shell.count("find_memories")).toBe(2);
});

test("list loads by pages, a search starts at the first", async () => {
	const stored = [..."abcde"].map((id) => memory(`${id} sea`));
	const find_memories = ({ pages }: { pages: number }) => ({ memories: stored.slice(0, 2 * pages), more: stored.length > 2 * pages });
	const { list, shell } = memories([], { find_memories });
	await list.follow(MIRA);
	expect([ids(list), list.more]).toEqual(["a b", true]);
	await list.showMore();
	await list.showMore();
	expect([list.items.length, list.more]).toEqual([5, false]);
	await list.setFilter({ type: "fact" });
	expect(shell.asked.findLast(({ operation }) => operation === "find_memories")?.args).toMatchObject({ pages: 1 });
});

/** `keyframe("k tea")` is a keyframe with id `k` and the text `k tea`. */
function keyframe(words: string): Keyframe {
	const [id = "", ...text] = words.split(" ");
	return { id, chat: "chat", message: "u1", messages: 20, said: "", text: text.join(" ") };
}

const told = (list: Memories) => list.keyframes.map(({ id }) => id).join(" ");

test("keyframes load only for the unfiltered timeline", async () => {
	const { list, shell } = memories([memory("a tea")], { keyframes: () => [keyframe("k tea")] });
	await list.follow(MIRA);
	expect(shell.count("keyframes")).toBe(0);
	list.setView("timeline");
	expect(list.loaded).toBe(false);
	await vi.waitFor(() => expect([list.loaded, ids(list), told(list)]).toEqual([true, "a", "k"]));
	list.search("tea");
	await vi.advanceTimersByTimeAsync(300);
	expect([ids(list), told(list)]).toEqual(["a", ""]);
	list.search("");
	await vi.advanceTimersByTimeAsync(300);
	expect(told(list)).toBe("k");
	await list.setFilter({ type: "fact" });
	expect([told(list), shell.count("keyframes")]).toEqual(["", 2]);
});

test("keyframes reload after a change, and show errors", async () => {
	const stored = [keyframe("k tea")];
	const refused: ApiError = { kind: "storage", message: "The disk is full.", hint: "Make room." };
	const { list } = memories([memory("a tea")], {
		keyframes: ({ character }: { character: string }) => {
			if (character === "mira") return [...stored];
			throw refused;
		},
	});
	list.setView("timeline");
	await list.follow(MIRA);
	stored.unshift(keyframe("l rain"));
	await list.changed();
	expect(told(list)).toBe("l k");
	const other = list.follow({ ...MIRA, character: "osei" });
	expect([told(list), list.loaded]).toEqual(["", false]);
	await other;
	expect([list.items, list.failure]).toEqual([[], refused]);
});

test("last turn follows its chat and reloads after one", async () => {
	const recalled = ({ chat }: { chat: string }) => ({ items: [], tokens: chat === "chat" ? 1 : 2, budget: 9, notices: [] });
	const { list, shell } = memories([], { recalled });
	await list.follow(MIRA);
	expect(shell.count("recalled")).toBe(0);
	list.setView("turn");
	await vi.waitFor(() => expect(list.turn.found?.tokens).toBe(1));
	await list.follow({ ...MIRA, id: "other" });
	await vi.waitFor(() => expect(list.turn.found?.tokens).toBe(2));
	list.turned("chat");
	expect(shell.count("recalled")).toBe(2);
	list.turned("other");
	list.close();
	list.turned("other");
	expect(shell.count("recalled")).toBe(3);
	list.show(null);
	await list.follow(MIRA);
	await vi.waitFor(() => expect(list.turn.found?.tokens).toBe(1));
});

test("disabled memory is reported", async () => {
	const { list } = memories([], { layered_settings: () => ({ settings: [{ key: "memory", value: false }], contradictions: [], model: null, character: null }) });
	await list.follow(MIRA);
	await list.readSwitch();
	expect(list.on).toBe(false);
});

test("two memories are merged and separated again", async () => {
	const { list, shell, undos } = memories([memory("a tea"), memory("b cake"), memory("c rain")], {
		merge_memories: ({ first, second, text }: { first: string; second: string; text: string }) => memory(`merged ${text}`, { sources: [first, second] }),
		unmerge_memories: () => {},
	});
	await list.follow(MIRA);
	list.mergeFrom(list.items[0] as Memory);
	expect(await list.merge()).toBeNull();
	list.mergeFrom(list.items[0] as Memory);
	expect(list.merging).toBeNull();
	list.mergeFrom(list.items[0] as Memory);
	list.mergeFrom(list.items[2] as Memory);
	expect(list.merging?.text).toBe("tea\nrain");
	expect((await list.merge())?.sources).toEqual(["a", "c"]);
	expect(list.merging).toBeNull();
	await undos[0]?.();
	expect(shell.asked.at(-1)).toEqual({ operation: "unmerge_memories", args: { merged: "merged", parts: ["a", "c"] } });
});

test("target clears the filters", async () => {
	const { list, shell } = memories([memory("a tea")]);
	await list.follow(MIRA);
	await list.setFilter({ type: "rule" });
	expect(shell.asked.findLast(({ operation }) => operation === "find_memories")?.args).toMatchObject({ filter: { type: "rule", scope: null, made: null } });
	expect(list.filtered).toBe(true);
	list.show("a");
	expect([list.filtered, list.view]).toEqual([false, "list"]);
});

test("everything about a pair is forgotten with undo", async () => {
	const { list, undos, shell } = memories([memory("a tea"), memory("b cake")], { forget_memories: () => ["a", "b"], restore_memories: () => {} });
	await list.follow(MIRA);
	await list.forgetAll({ of: "everybody" });
	await undos[0]?.();
	expect(shell.asked.at(-1)).toEqual({ operation: "restore_memories", args: { memories: ["a", "b"] } });
});

test("archived memories are listed apart and restored", async () => {
	const done = { merged: [memory("a tea")], superseded: [memory("b cake")], retired: [], crowded: [] };
	const { list, undos, shell } = memories([memory("c rain")], { consolidate_memories: () => done, unarchive_memories: () => {} });
	await list.follow(MIRA);
	await list.consolidate();
	await undos[0]?.();
	expect(shell.asked.at(-1)).toEqual({ operation: "unarchive_memories", args: { memories: ["a", "b"] } });
	await list.setFilter({ archived: true });
	expect(list.filtered).toBe(true);
	await list.unarchive(list.items[0] as Memory);
	expect(shell.asked.filter(({ operation }) => operation === "unarchive_memories").at(-1)?.args).toEqual({ memories: ["c"] });
});
