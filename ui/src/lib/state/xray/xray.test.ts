import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { block, report } from "../../../../tests/unit/prompts";
import { FakeShell } from "../../../../tests/unit/shell";
import type { ApiError, PastTurn, PromptReport, PromptStage, StageComparison } from "../../api/generated";
import { api } from "../api";
import { BlockList } from "./blocks.svelte";
import { counted, rows } from "./diff";
import { targetOf } from "./target";
import { slices } from "./slices";
import { difference } from "./trial.svelte";
import { Xray } from "./xray.svelte";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

function xray(answers: Record<string, (args: never) => unknown>) {
	const shell = new FakeShell(answers);
	return { shell, xray: new Xray(api(shell)) };
}

const previewOf = (words: string): PromptReport => report([block(`message 3 ${words}`)]);
const shownText = (view: Xray) => view.report?.blocks[0]?.text;

test("slices add up to the context size", () => {
	const tokens = { total: 400, limit: 1000, reserve: 100, byZone: { head: 100, digest: 0, window: 250, input: 50 }, exact: true, counted: null, reusable: 0, measured: null };
	const parts = slices(report([], { tokens }));
	expect(parts.map(({ part }) => part)).toEqual(["head", "window", "input", "reserve", "free"]);
	expect(parts.reduce((sum, part) => sum + part.tokens, 0)).toBe(1000);
});

test("blocks filter by fate, kind and text, in order", () => {
	const all = [
		block("description 20 Keeps the lamps", { sourceText: "{{char}} keeps the lamps" }),
		block("lore 9 The mill", { reused: false }),
		block("lore 30 The hill road", { kept: false, droppedReason: "no room" }),
		block("message 5 And the mill?", { reason: "because the baker said so" }),
	];
	const list = new BlockList(() => all);
	const shown = () => list.shown.map(({ tokens }) => tokens);
	expect(list.count).toEqual({ all: 4, kept: 3, reread: 1, leftOut: 1 });
	expect(list.found).toEqual([{ kind: "description", count: 1 }, { kind: "lore", count: 2 }, { kind: "message", count: 1 }]);
	list.query = " MILL";
	expect(shown()).toEqual([9, 5]);
	list.toggleKind("lore");
	expect(shown()).toEqual([9]);
	list.query = "";
	list.fate = "leftOut";
	expect(shown()).toEqual([30]);
	list.toggleKind("lore");
	list.fate = "reread";
	expect(shown()).toEqual([9]);
	list.reset();
	expect(shown()).toEqual([20, 9, 30, 5]);
	list.query = "no ROOM";
	expect(shown()).toEqual([30]);
	list.query = "because the baker";
	expect(shown()).toEqual([5]);
	list.query = "{{char}}";
	expect(shown()).toEqual([20]);
});

test("filter by a missing kind hides nothing", () => {
	let all = [block("lore 9 The mill")];
	const list = new BlockList(() => all);
	list.toggleKind("lore");
	all = [block("message 5 Hello")];
	const next = new BlockList(() => all);
	next.toggleKind("lore");
	expect(next.shown).toHaveLength(1);
});

test("long run of unchanged lines is folded", () => {
	const same = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`).join("\n");
	const parts = [
		{ change: "removed" as const, text: "old\n" },
		{ change: "same" as const, text: `${same}\n` },
		{ change: "added" as const, text: "new\n" },
	];
	const drawn = (opened: number[]) => rows(parts, new Set(opened)).map((row) => (row.kind === "fold" ? `… ${row.count} …` : `${row.change[0]} ${row.text}`));
	expect(drawn([])).toEqual(["r old", "s line 1", "s line 2", "s line 3", "… 14 …", "s line 18", "s line 19", "s line 20", "a new"]);
	expect(drawn([1])).toHaveLength(22);
});

test("folds all but the last lines before an addition", () => {
	const parts = [
		{ change: "same" as const, text: "1\n2\n3\n4\n5\n6\n7\n8\n" },
		{ change: "added" as const, text: "9\n" },
	];
	expect(rows(parts, new Set()).map((row) => (row.kind === "fold" ? row.count : row.text))).toEqual([5, "6", "7", "8", "9"]);
});

test("shows dropped and added blocks with token counts", () => {
	const now = report([block("description 20 Lamps"), block("lore 9 Mill"), block("memory 4 Candle", { kept: false })]);
	const tried = report([block("description 20 Lamps"), block("lore 9 Mill", { kept: false }), block("memory 4 Candle")]);
	const told = difference(now, tried);
	expect(told.tokens).toBe(-5);
	expect(told.out.map(({ kind }) => kind)).toEqual(["lore"]);
	expect(told.in.map(({ kind }) => kind)).toEqual(["memory"]);
});

test("next prompt updates after a pause in typing", async () => {
	const { xray: view, shell } = xray({ preview_prompt: ({ text }: { text: string }) => previewOf(text) });
	await view.next("chat", "He");
	expect(shownText(view)).toBe("He");
	view.follow("Hel");
	view.follow("Hello");
	await vi.advanceTimersByTimeAsync(299);
	expect(shell.count("preview_prompt")).toBe(1);
	await vi.advanceTimersByTimeAsync(1);
	expect(shell.count("preview_prompt")).toBe(2);
	expect(shownText(view)).toBe("Hello");
});

test("latest of two requests is shown", async () => {
	let late: (report: PromptReport) => void = () => {};
	const { xray: view } = xray({ preview_prompt: () => new Promise((resolve) => (late = resolve)), manifest: () => previewOf("sent") });
	const first = view.next("chat", "draft");
	await Promise.resolve();
	await view.reply("chat", "s1");
	late(previewOf("draft"));
	await first;
	expect(shownText(view)).toBe("sent");
	expect(view.reading).toBe(false);
});

test("prompt of a reply ignores the composer", async () => {
	const { xray: view, shell } = xray({ manifest: () => previewOf("sent"), preview_prompt: () => previewOf("draft") });
	await view.reply("chat", "s1");
	view.follow("Hello");
	await vi.advanceTimersByTimeAsync(1000);
	await view.next("chat", "Hello");
	view.follow("Hello you");
	view.close();
	await vi.advanceTimersByTimeAsync(1000);
	expect(shell.count("preview_prompt")).toBe(1);
});

test("too long prompt shows its error", async () => {
	const overflow: ApiError = { kind: "contextOverflow", message: "", hint: "", block: null, missing: 2, needed: 12, available: 10 };
	const { xray: view } = xray({
		preview_prompt: () => {
			throw overflow;
		},
	});
	await view.next("chat", "");
	expect(view.failure).toEqual(overflow);
	expect(view.report).toBeNull();
});

test("trial compares the prompt with and without changes", async () => {
	const { xray: view, shell } = xray({
		preview_prompt: ({ whatIf }: { whatIf: { limit?: number | null } }) => report([block("lore 9 Mill", { kept: !whatIf.limit })]),
	});
	await view.next("chat", "Hello");
	view.choose("whatIf");
	view.trial?.set({ limit: 500 });
	view.trial?.toggle("memory:1");
	await vi.advanceTimersByTimeAsync(300);
	expect(shell.asked.at(-1)?.args).toEqual({ chat: "chat", text: "Hello", whatIf: { without: ["memory:1"], limit: 500, model: null, placement: null, template: null } });
	expect(view.trial?.difference?.out).toHaveLength(1);
	view.trial?.reset();
	await vi.advanceTimersByTimeAsync(300);
	expect(view.trial?.touched).toBe(false);
	expect(view.trial?.difference).toBeNull();
});

test("diff of a reply loads once", async () => {
	const { xray: view, shell } = xray({ manifest: () => previewOf("sent"), compare_prompt: () => ({ previous: null, parts: [{ change: "added", text: "a\n" }] }) });
	view.choose("diff");
	await view.reply("chat", "s1");
	view.choose("blocks");
	view.choose("diff");
	await vi.advanceTimersByTimeAsync(0);
	expect(shell.count("compare_prompt")).toBe(1);
	expect(view.comparison.rows).toEqual([{ kind: "line", change: "added", text: "a" }]);
});

test("stage loads when chosen, once per reply", async () => {
	const stage = (stage: PromptStage): StageComparison => ({ stage, before: stage === "sources" ? null : "sources", parts: [{ change: "same", text: "a\nb\nc\nd\n" }, ...(stage === "filled" ? [{ change: "added" as const, text: "e\n" }] : [])] });
	const { xray: view, shell } = xray({
		manifest: () => previewOf("sent"),
		preview_prompt: () => previewOf("next"),
		prompt_stage: ({ stage: asked }: { stage: PromptStage }) => stage(asked),
		next_stage: ({ stage: asked }: { stage: PromptStage }) => stage(asked),
	});
	await view.reply("chat", "s1");
	expect(shell.count("prompt_stage")).toBe(0);
	view.choose("stages");
	await vi.waitFor(() => expect(counted(view.stages.rows)).toEqual({ added: 1, removed: 0 }));
	expect(view.stages.rows[0]).toEqual({ kind: "line", change: "same", text: "a" });
	view.choose("blocks");
	view.choose("stages");
	expect(shell.count("prompt_stage")).toBe(1);

	view.chooseStage("sources");
	expect(view.stages.found).toBeNull();
	await vi.waitFor(() => expect(view.stages.rows.map((row) => row.kind)).toEqual(["line", "line", "line", "line"]));
	view.chooseStage("budget");
	await vi.waitFor(() => expect(view.stages.rows).toEqual([{ kind: "fold", id: 0, count: 4 }]));

	await view.ask("chat", "title");
	expect(shell.asked.filter(({ operation }) => operation === "next_stage").at(-1)?.args).toEqual({ chat: "chat", text: "", whatIf: { ask: "title" }, stage: "budget" });
	await view.next("chat", "He");
	view.follow("Hello");
	await vi.advanceTimersByTimeAsync(300);
	expect(shell.asked.filter(({ operation }) => operation === "next_stage").at(-1)?.args).toEqual({ chat: "chat", text: "Hello", whatIf: {}, stage: "budget" });
	expect(shell.count("compare_next") + shell.count("compare_prompt")).toBe(0);
});

test("next prompt is compared again after typing", async () => {
	const { xray: view, shell } = xray({
		preview_prompt: ({ text }: { text: string }) => previewOf(text),
		compare_next: ({ text }: { text: string }) => ({ previous: "s1", parts: [{ change: "added", text: `${text}\n` }] }),
	});
	view.choose("diff");
	await view.next("chat", "He");
	const texts = () => view.comparison.rows.map((row) => row.kind === "line" && row.text);
	await vi.waitFor(() => expect(texts()).toEqual(["He"]));
	view.follow("Hello");
	expect(texts()).toEqual(["He"]);
	await vi.advanceTimersByTimeAsync(300);
	expect(texts()).toEqual(["Hello"]);
	view.choose("blocks");
	view.follow("Hello you");
	await vi.advanceTimersByTimeAsync(300);
	expect(shell.count("compare_next")).toBe(2);
});

test("past turns load by pages and reload after a turn", async () => {
	const turn = (at: number): PastTurn => ({ message: `m${at}`, swipe: `s${at}`, line: "", created: "", model: null, figures: { prompt: null, reused: null, evaluated: null, generated: null, prefillMs: null, firstTextMs: null, decodeMs: null, thoughtMs: null } });
	const { xray: view, shell } = xray({
		past_turns: ({ before, limit }: { before: string | null; limit: number }) => {
			const from = before === null ? 0 : Number(before.slice(1)) + 1;
			return Array.from({ length: Math.min(limit, 50 - from) }, (_, index) => turn(from + index));
		},
	});
	view.widen("chat");
	await vi.waitFor(() => expect(view.turns?.items).toHaveLength(40));
	await view.turns?.older();
	expect(view.turns?.items).toHaveLength(50);
	expect(view.turns?.more).toBe(false);
	await view.turns?.older();
	expect(shell.count("past_turns")).toBe(2);
	view.turned("chat");
	await vi.waitFor(() => expect(view.turns?.items).toHaveLength(40));
});

test("block leads to its source", () => {
	expect(targetOf({ of: "card", character: "c", field: "mes_example" })).toEqual({ to: "card", field: "messageExamples" });
	expect(targetOf({ of: "card", character: "c", field: "depth_prompt" })).toEqual({ to: "card", field: null });
	expect(targetOf({ of: "chatText", field: "mes_example" })).toEqual({ to: "chatText", field: "messageExamples" });
	expect(targetOf({ of: "lore", book: "The Hill Town", entry: "4" })).toEqual({ to: "lore", entry: "4" });
	expect(targetOf({ of: "memory", id: "m" })).toEqual({ to: "memory", id: "m" });
	expect(targetOf({ of: "document", id: "d", name: "guide.md" })).toEqual({ to: "document", id: "d" });
	expect(targetOf({ of: "older", first: "a", last: "b", count: 3 })).toEqual({ to: "message", id: "b" });
	expect(targetOf({ of: "template", template: "sms", section: "rules" })).toEqual({ to: "template", template: "sms", section: "rules" });
	expect(targetOf({ of: "clock" })).toBeNull();
});
