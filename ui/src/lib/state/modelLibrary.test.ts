import { expect, test } from "vitest";
import { FakeShell } from "../../../tests/unit/shell";
import type { Download } from "../api/generated";
import { api } from "./api";
import { ModelLibrary } from "./modelLibrary.svelte";

const download = (id: string, state: Download["state"] = "running"): Download => ({ id, repo: "a/b", file: "b.gguf", licence: null, state, done: 1, total: 4, speed: null, secondsLeft: null, reason: "", hint: "", retryIn: null, makesDefault: true });

function library(answers: Record<string, (args: never) => unknown>) {
	const shell = new FakeShell(answers);
	return new ModelLibrary(api(shell), { attempt: async (action) => void (await action()) });
}

test("download replaces its earlier state and hides the hint", () => {
	const models = library({});
	models.hint = true;
	models.update(download("one"));
	models.update(download("two"));
	models.update(download("one", "paused"));
	expect(models.downloads.map(({ id, state }) => [id, state])).toEqual([
		["one", "paused"],
		["two", "running"],
	]);
	expect(models.hint).toBe(false);
	expect(models.downloading("a/b")?.id).toBe("one");
});

test("download that ends while the list loads stays away", async () => {
	const lists = [[download("one")], []];
	const models = library({ list_downloads: () => lists.shift(), hints_at_larger_model: () => false });
	const loading = models.load();
	models.ended("one");
	await loading;
	expect(models.downloads).toEqual([]);
});

test("late page of an older search is dropped", async () => {
	const pages: Record<string, (value: unknown) => void> = {};
	const { search } = library({ search_hub: ({ query }: { query: string }) => new Promise((resolve) => (pages[query] = resolve)) });
	const model = (repo: string) => ({ repo, downloads: 0, likes: 0, gated: false, licence: null, languages: [], updated: null, page: "" });
	search.query = "old";
	const first = search.find();
	search.query = "new";
	const second = search.find();
	pages.new?.({ models: [model("new/one")], next: null });
	await second;
	pages.old?.({ models: [model("old/one")], next: "more" });
	await first;
	expect([search.models?.map(({ repo }) => repo), search.next, search.searching]).toEqual([["new/one"], null, false]);
});

test("fit of a file that is no longer chosen is dropped", async () => {
	const answers: Record<string, (value: unknown) => void> = {};
	const models = library({
		hub_files: () => ({ model: { repo: "a/b" }, files: [{ path: "x" }, { path: "y" }], projectors: [], recommended: "x" }),
		hub_fit: ({ path }: { path: string }) => new Promise((resolve) => (answers[path] = resolve)),
	});
	models.show("a/b");
	await expect.poll(() => models.repository?.path).toBe("x");
	const shown = models.repository;
	const chosen = shown?.choose("y");
	await expect.poll(() => answers.y).toBeDefined();
	answers.y?.({ context: 2 });
	await chosen;
	answers.x?.({ context: 1 });
	await Promise.resolve();
	expect(shown?.fit?.context).toBe(2);
});

test("speeds are asked for once the suggestions have measured them", async () => {
	const answers: Record<string, (value: unknown) => void> = {};
	const shell = new FakeShell({
		suggested_models: () => new Promise((resolve) => (answers.suggested = resolve)),
		model_speeds: () => [{ model: "one", tokensPerSecond: 7, wordsPerMinute: 320, isMeasured: false }],
		find_other_models: () => [],
		hub_settings: () => null,
	});
	const models = new ModelLibrary(api(shell), { attempt: async (action) => void (await action()) });
	const loading = models.loadScreen();
	await models.modelsChanged();
	expect([models.loaded, shell.count("suggested_models"), shell.count("model_speeds")]).toEqual([false, 1, 0]);
	answers.suggested?.([]);
	await loading;
	expect([models.loaded, models.speeds[0]?.wordsPerMinute]).toEqual([true, 320]);
});

test("failed suggestions do not stay under way", async () => {
	const models = library({ suggested_models: () => Promise.reject(new Error("no answer")), find_other_models: () => [], hub_settings: () => null });
	await expect(models.loadScreen()).rejects.toThrow();
	expect([models.loaded, models.suggestions]).toEqual([true, []]);
});
