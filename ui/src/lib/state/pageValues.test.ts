import { beforeEach, expect, test, vi } from "vitest";
import { MockPageValues } from "../../../tests/mock/pageValues";
import { FakeShell } from "../../../tests/unit/shell";
import type { ApiError } from "../api/generated";
import { api } from "./api";
import { App } from "./app.svelte";
import { loadPageValues } from "./pageValues";

const FULL: ApiError = { kind: "storage", message: "The disk is full.", hint: "Free some space." };
const fails = () => {
	throw FULL;
};

beforeEach(() => localStorage.clear());

async function loaded(stored: Record<string, string> = {}, answers: Record<string, (args: never) => unknown> = {}, desktop = true) {
	const engine = new MockPageValues();
	for (const [key, value] of Object.entries(stored)) engine.stored.set(key, value);
	const shell = new FakeShell({ page_values: engine.op_page_values, save_page_value: engine.op_save_page_value, ...answers });
	Object.assign(shell, { desktop });
	const values = await loadPageValues(api(shell));
	const failures: ApiError[] = [];
	return { values, shell, failures, all: () => Object.fromEntries(engine.stored), report: () => values.report((error) => failures.push(error)) };
}

test("app begins with the stored choices", async () => {
	const { values, shell } = await loaded({ "inglenook.look": '{"size":20}', "inglenook.chats": '{"sort":"name"}', "inglenook.shortcuts": '{"palette":"Mod+P"}' });
	const app = new App(shell, values);
	expect([app.look.size, app.chats.sort, document.documentElement.style.getPropertyValue("--reading-size")]).toEqual([20, "name", "20px"]);
	expect(app.shortcuts.anyChanged).toBe(true);
});

test("choice is saved at once, and not in the window", async () => {
	const { values, all } = await loaded({ "inglenook.zoom": "1.1" });
	values.set("inglenook.zoom", "1.25");
	await values.saved();
	expect([all(), values.get("inglenook.zoom"), localStorage.length]).toEqual([{ "inglenook.zoom": "1.25" }, "1.25", 0]);
});

test("quick changes of a choice end with the last", async () => {
	const { values, shell, all } = await loaded();
	for (const width of ["1", "2", "3"]) values.set("width", width);
	values.set("look", "{}");
	await values.saved();
	values.set("width", "4");
	await values.saved();
	expect([all(), shell.count("save_page_value") <= 4]).toEqual([{ width: "4", look: "{}" }, true]);
});

test("choices of older versions move once", async () => {
	localStorage.setItem("inglenook.zoom", "1.5");
	localStorage.setItem("inglenook.look", "old");
	localStorage.setItem("other", "stays");
	const { values, shell, all } = await loaded({ "inglenook.look": "new" });
	expect([all(), values.get("inglenook.zoom")]).toEqual([{ "inglenook.look": "new", "inglenook.zoom": "1.5" }, "1.5"]);
	expect([Object.keys(localStorage), shell.count("save_page_value")]).toEqual([["other"], 1]);
});

test("old choice that cannot be saved stays and is used", async () => {
	localStorage.setItem("inglenook.zoom", "1.5");
	const { values, failures, report } = await loaded({}, { save_page_value: fails });
	report();
	expect([values.get("inglenook.zoom"), localStorage.getItem("inglenook.zoom"), failures]).toEqual(["1.5", "1.5", [FULL]]);
});

test("failed save is reported once in a row", async () => {
	const { values, shell, failures, report } = await loaded();
	const saves = shell.answers.save_page_value;
	report();
	shell.answers.save_page_value = fails;
	const change = async (value: string) => {
		values.set("look", value);
		await values.saved();
	};
	await change("1");
	await change("2");
	expect([failures, values.get("look")]).toEqual([[FULL], "2"]);
	if (saves) shell.answers.save_page_value = saves;
	await change("3");
	shell.answers.save_page_value = fails;
	await change("4");
	expect(failures).toHaveLength(2);
});

test("app shows a failed save", async () => {
	const { values, shell } = await loaded({}, { startup: () => ({ version: "1", settings: {}, chat: null, notices: [], dataDir: "" }), save_page_value: fails });
	const app = new App(shell, values);
	await app.load();
	app.look.set({ size: 20 });
	await vi.waitFor(() => expect(app.toasts.items.at(-1)).toMatchObject({ kind: "bad", detail: "The disk is full. Free some space." }));
});

test("unread choices are reported and not replaced", async () => {
	localStorage.setItem("inglenook.zoom", "1.5");
	const { values, shell, failures, report } = await loaded({ "inglenook.look": '{"size":20}' }, { page_values: fails });
	values.set("inglenook.look", "{}");
	await values.saved();
	report();
	expect([failures, shell.count("save_page_value"), localStorage.getItem("inglenook.zoom")]).toEqual([[FULL], 0, "1.5"]);
});

test("browser keeps its own choices", async () => {
	localStorage.setItem("inglenook.zoom", "1.5");
	const { values, shell } = await loaded({ "inglenook.look": "of the window" }, {}, false);
	values.set("inglenook.look", "of the browser");
	expect([values.get("inglenook.zoom"), values.get("inglenook.look"), localStorage.getItem("inglenook.look")]).toEqual(["1.5", "of the browser", "of the browser"]);
	expect(shell.asked).toEqual([]);
});
