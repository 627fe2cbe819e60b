import { beforeEach, expect, test } from "vitest";
import en from "../i18n/en.json";
import { browserValues } from "../state/pageValues";
import { fuzzy, haystack, parts } from "./fuzzy";
import { shortcutOf, shownKeys, types } from "./keys";
import { ACTIONS } from "./list";
import { Shortcuts } from "./shortcuts.svelte";

beforeEach(() => localStorage.clear());

const press = (key: string, over: Partial<KeyboardEvent> = {}) => shortcutOf({ key, code: "", ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...over }, false);
const named = (id: string) => ACTIONS.find((action) => action.id === id) as (typeof ACTIONS)[number];
const score = (query: string, text: string) => fuzzy(query, haystack(text))?.score ?? 0;

test("keys become the same text on every keyboard", () => {
	const ctrlKey = true;
	expect(press("K", { ctrlKey, shiftKey: true })).toBe("Mod+Shift+K");
	expect(press("/", { ctrlKey, shiftKey: true, code: "Digit7" })).toBe("Mod+/");
	expect(press("л", { ctrlKey, code: "KeyK" })).toBe("Mod+K");
	expect(press("ö", { ctrlKey, code: "Semicolon" })).toBe("Mod+Ö");
	expect(press("+", { ctrlKey, shiftKey: true })).toBe("Mod+Plus");
	expect(press("ArrowLeft")).toBe("ArrowLeft");
});

test("a modifier alone and AltGr are no shortcut", () => {
	expect(press("Control", { ctrlKey: true })).toBe("");
	expect(press("@", { ctrlKey: true, altKey: true, getModifierState: () => true })).toBe("");
});

test("Cmd replaces Ctrl on a Mac", () => {
	expect(shortcutOf({ key: "k", code: "KeyK", ctrlKey: false, metaKey: true, altKey: false, shiftKey: false }, true)).toBe("Mod+K");
	expect(shownKeys("Mod+Shift+F", (key) => key, true)).toEqual(["⌘", "shift", "F"]);
});

test("only keys without Ctrl or Alt type", () => {
	expect(["ArrowLeft", "Shift+A", "A"].every(types)).toBe(true);
	expect(["Mod+A", "Alt+ArrowUp", "F2", "Shift+F10"].some(types)).toBe(false);
});

test("default shortcuts do not collide", () => {
	const shortcuts = new Shortcuts(browserValues);
	expect(ACTIONS.filter((action) => shortcuts.conflicts(action.shortcut, action).length > 0).map(({ id }) => id)).toEqual([]);
});

test("every action has a name", () => {
	expect(ACTIONS.filter(({ id }) => !(`action.${id}` in en)).map(({ id }) => id)).toEqual([]);
});

test("a changed shortcut is kept and taken from the other", () => {
	const shortcuts = new Shortcuts(browserValues);
	expect(shortcuts.conflicts("Mod+K", named("help")).map(({ id }) => id)).toEqual(["palette"]);
	shortcuts.set(named("help"), "Mod+K");
	const again = new Shortcuts(browserValues);
	expect([again.of(named("help")), again.of(named("palette"))]).toEqual(["Mod+K", ""]);
	again.resetAll();
	expect(again.of(named("palette"))).toBe("Mod+K");
});

test("unusable stored shortcuts are ignored", () => {
	for (const stored of ["[", "null", "7", '{"palette":7,"nonsense":"Mod+X"}']) {
		localStorage.setItem("inglenook.shortcuts", stored);
		expect(new Shortcuts(browserValues).of(named("palette"))).toBe("Mod+K");
	}
});

test("start of a word ranks above its middle", () => {
	expect(score("fer", "The night ferry")).toBeGreaterThan(score("err", "The night ferry"));
	expect(score("the", "The night ferry")).toBeGreaterThan(score("fer", "The night ferry"));
	expect(score("err", "The night ferry")).toBeGreaterThan(score("tnf", "The night ferry"));
	expect(score("tnf", "The night ferry")).toBeGreaterThan(0);
	expect(score("zzz", "The night ferry")).toBe(0);
});

test("accents, umlauts and any script match", () => {
	expect(score("muller", "Anna Müller")).toBeGreaterThan(0);
	expect(score("müller", "Anna Müller")).toBeGreaterThan(0);
	expect(score("strasse", "Hauptstraße")).toBeGreaterThan(0);
	expect(score("静か", "道は静かです")).toBeGreaterThan(0);
	expect(score("мира", "Мира")).toBeGreaterThan(0);
});

test("marks the matched letters of the original text", () => {
	const match = fuzzy("mu", haystack("Anna Müller"));
	expect(parts("Anna Müller", match?.at ?? []).filter(({ isMatch }) => isMatch).map(({ text }) => text)).toEqual(["Mü"]);
});
