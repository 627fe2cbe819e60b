import { beforeEach, expect, test, vi } from "vitest";
import settings from "../../../tests/mock/settings.json";
import { FakeShell } from "../../../tests/unit/shell";
import { setLanguage } from "../i18n/i18n.svelte";
import { api } from "../state/api";
import { SettingSearch } from "./settingSearch.svelte";

beforeEach(() => setLanguage("en"));

async function search(query: string, answer: () => unknown = () => ({ settings })): Promise<SettingSearch> {
	const search = new SettingSearch(api(new FakeShell({ layered_settings: answer })));
	search.query = query;
	await vi.waitFor(() => expect(search.found).toBeDefined());
	await Promise.resolve();
	await Promise.resolve();
	return search;
}

const rows = async (query: string) => (await search(query)).found.map(({ row }) => row);

test("names come before descriptions and other words", async () => {
	expect((await rows("temp"))[0]).toBe("temperature");
	expect(await rows("creativity")).toContain("temperature");
	expect(await rows("dark")).toContain("theme");
	expect((await rows("accent"))[0]).toBe("accent");
});

test("the section finds its settings", async () => {
	const found = await rows("backups");
	expect(found[0]).toBe("backups");
	expect(found).toContain("budget");
});

test("nothing matches nonsense and an empty text", async () => {
	expect([await rows("qqxyzzy"), await rows(" ")]).toEqual([[], []]);
});

test("works in German, and without the engine", async () => {
	setLanguage("de");
	expect((await rows("sprache"))[0]).toBe("language");
	const offline = await search("sprache", () => Promise.reject({ kind: "internal", message: "broken" }));
	expect(offline.found[0]?.row).toBe("language");
});
