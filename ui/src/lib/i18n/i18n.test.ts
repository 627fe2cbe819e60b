import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import en from "./en.json";
import { bytes, percent, seconds, when } from "./format";
import { languages, setLanguage, shipped, t } from "./i18n.svelte";

afterEach(() => setLanguage("en"));

const placeholders = (text: string) => [...text.matchAll(/\{\{\w+\}\}/g)].map(([found]) => found).sort();

/** The keys that a language needs: those of English, with the plural forms of that language. */
function keysFor(language: string): string[] {
	const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
	const counted = /_(one|other)$/;
	const keys = Object.keys(en).flatMap((key) => (counted.test(key) ? forms.map((form) => key.replace(counted, `_${form}`)) : [key]));
	return [...new Set(keys)].sort();
}

test.each(languages)("%s has all texts and placeholders", (language) => {
	const english: Record<string, string> = en;
	const texts = JSON.parse(readFileSync(`src/lib/i18n/${language}.json`, "utf8")) as Record<string, string>;
	expect(Object.keys(texts).sort()).toEqual(keysFor(language));
	for (const [key, text] of Object.entries(texts)) {
		// A plural form that English lacks has the placeholders of the general form.
		const original = english[key] ?? english[key.replace(/_[a-z]+$/, "_other")] ?? "";
		expect(placeholders(text), key).toEqual(placeholders(original));
	}
});

test("no text is unused", () => {
	const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((path) => /(?<!test)\.(svelte|ts)$/.test(path));
	const code = sources.map((path) => readFileSync(join("src", path), "utf8")).join("\n");
	const open = [...code.matchAll(/\bt\(`([^`]*)`/g)].map(([, key = ""]) => new RegExp(`^${key.replaceAll(".", "\\.").replaceAll(/\$\{[^}]*\}/g, ".+")}$`));
	open.push(/^(kind|memoryType|modeName|section|settingWords|templateAbout|templateName)\..+$/);
	const used = new Set([...code.matchAll(/t\("([^"]+)"/g)].map(([, key]) => key));
	const unused = Object.keys(en)
		.map((key) => key.replace(/_(one|other)$/, ""))
		.filter((key) => !used.has(key) && !open.some((pattern) => pattern.test(key)));
	expect(unused).toEqual([]);
});

test("words, plurals and numbers follow the language", () => {
	expect(t("toast.importedMany", { count: 1 })).toBe("1 file imported");
	expect(t("toast.importedMany", { count: 3 })).toBe("3 files imported");
	expect(seconds(310)).toBe("0.3 s");
	setLanguage("de");
	expect(t("toast.importedMany", { count: 3 })).toBe("3 Dateien importiert");
	expect(seconds(310)).toBe("0,3 s");
	expect(percent(0.96)).toBe("96\u00a0%");
	expect(document.documentElement.lang).toBe("de");
});

test("names of shipped items follow the language, those of the user stay", () => {
	setLanguage("de");
	expect(shipped("templateName", "base-roleplay", "Base Role-play")).toBe("Rollenspiel");
	expect(shipped("modeName", "study", "Study")).toBe("Lernen");
	expect(shipped("templateName", "base-roleplay", "My own")).toBe("My own");
	expect(shipped("modeName", "pirate", "Pirate")).toBe("Pirate");
	setLanguage("en");
	expect(shipped("modeName", "study", "study")).toBe("study");
});

test("shipped texts are those of the preset files", () => {
	const folder = "../presets/prompts";
	const templates = readdirSync(folder).filter((file) => file.endsWith(".json") && file !== "modes.json");
	for (const file of templates) {
		const { id, name, description } = JSON.parse(readFileSync(join(folder, file), "utf8")) as Record<string, string>;
		expect(en).toMatchObject({ [`templateName.${id}`]: name, [`templateAbout.${id}`]: description });
	}
	const { modes } = JSON.parse(readFileSync(join(folder, "modes.json"), "utf8")) as { modes: { name: string }[] };
	for (const { name } of modes) expect(Object.keys(en)).toContain(`modeName.${name}`);
});

test("unknown language falls back to English", () => {
	setLanguage("tlh");
	expect(t("common.undo")).toBe("Undo");
});

test("user text is not parsed as placeholder or key", () => {
	expect(t("toast.imported", { name: "{{count}} $t(common.undo) <b>" })).toBe("Imported {{count}} $t(common.undo) <b>");
});

test("formats sizes and times in short form", () => {
	expect(bytes(105_454_432)).toBe("105 MB");
	expect(bytes(14_334_446_752)).toBe("14.3 GB");
	const now = new Date("2026-03-10T12:00:00");
	expect(when("2026-03-10T11:59:40", now)).toBe("now");
	expect(when("2026-03-10T11:55:00", now)).toBe("5 min");
	expect(when("2025-01-02T11:55:00", now)).toBe("Jan 2, 2025");
	expect(when("", now)).toBe("");
});
