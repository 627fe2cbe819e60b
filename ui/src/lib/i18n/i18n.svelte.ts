import i18next from "i18next";
import type en from "./en.json";

/**
 * Each language is one JSON file in this folder, named by its code without a region. "Add a language" in
 * `src-tauri/docs/CONTRIBUTING.md` says what else it needs.
 */
const files = import.meta.glob<Record<string, string>>("./*.json", { eager: true, import: "default" });

const resources = Object.fromEntries(
	Object.entries(files).map(([path, translation]) => [path.slice(2, -".json".length), { translation }]),
);

type Singular<K> = K extends `${infer Base}_${"one" | "other"}` ? Base : K;

/** Keys of `en.json`; the plural forms of a text share one key. */
export type Key = Singular<keyof typeof en>;

export const languages: readonly string[] = Object.keys(resources).sort();

const i18n = i18next.createInstance();
void i18n.init({
	resources,
	lng: "en",
	fallbackLng: "en",
	initAsync: false,
	keySeparator: false,
	nsSeparator: false,
	interpolation: { escapeValue: false },
	showSupportNotice: false,
} as Parameters<typeof i18n.init>[0]);

let current = $state("en");

/** The text for `key` in the current language. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
	return i18n.t(key, { ...values, lng: current });
}

/** The text for a name from the engine; the name itself if there is no text for it. */
export function named(group: "kind" | "memoryType" | "memoryOrigin" | "section" | "suggestedGood" | "suggestedNote", name: string, otherwise = name): string {
	return i18n.t(`${group}.${name}`, { lng: current, defaultValue: otherwise });
}

/** The text for a code from the engine; `otherwise` if there is no text for it. */
export function fromEngine(group: "reason" | "importanceOf" | "dropped" | "epochReason" | "source", code: string, otherwise: string, values: Record<string, string | number> = {}): string {
	return i18n.t(`${group}.${code}`, { ...values, lng: current, defaultValue: otherwise });
}

/**
 * The name or description of a template or mode that ships with the app, in the current language. `written` is the text
 * of the engine; a text of the user stays.
 */
export function shipped(group: "templateName" | "templateAbout" | "modeName", id: string, written: string): string {
	if (current === "en") return written;
	const english = i18n.t(`${group}.${id}`, { lng: "en", defaultValue: "" });
	return english.toLowerCase() === written.toLowerCase() ? i18n.t(`${group}.${id}`, { lng: current, defaultValue: written }) : written;
}

/** Words of the current language that people use for a setting, for its search; empty if there are none. */
export function synonyms(setting: string): string {
	return i18n.t(`settingWords.${setting}`, { lng: current, defaultValue: "" });
}

export function language(): string {
	return current;
}

/** Sets the language. An empty `wanted` follows the system. */
export function setLanguage(wanted: string): void {
	const candidates = wanted ? [wanted] : navigator.languages.map((tag) => tag.split("-")[0] ?? "");
	current = candidates.find((tag) => tag in resources) ?? "en";
	document.documentElement.lang = current;
}

/** A language's name in that language. */
export function languageName(tag: string): string {
	return new Intl.DisplayNames([tag], { type: "language" }).of(tag) ?? tag;
}
