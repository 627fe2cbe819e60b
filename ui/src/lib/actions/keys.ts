/** Shortcuts as text, such as `Mod+Shift+F`. `Mod` is Cmd on a Mac and Ctrl elsewhere. */

const ALONE = new Set(["Control", "Shift", "Alt", "Meta", "AltGraph", "CapsLock", "Dead", "Unidentified", "Process", "Fn", "NumLock"]);
const NAMES: Record<string, string> = { " ": "Space", "+": "Plus" };

export const isMac = (): boolean => /Mac|iPhone|iPad/.test(navigator.platform);

type Pressed = Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey"> & { getModifierState?: (key: string) => boolean };

/** The shortcut of a key event; empty for a modifier alone and for a character typed with AltGr. */
export function shortcutOf(event: Pressed, mac = isMac()): string {
	if (ALONE.has(event.key) || event.getModifierState?.("AltGraph")) return "";
	const key = keyName(event);
	// A sign such as "/" needs Shift on some keyboards and not on others, so Shift counts only where the key stays the same.
	const shift = event.shiftKey && (event.key.length > 1 || /[\p{L}\d ]/u.test(event.key));
	const mod = mac ? event.metaKey : event.ctrlKey;
	const other = mac ? event.ctrlKey && "Ctrl" : event.metaKey && "Meta";
	return [mod && "Mod", other, event.altKey && "Alt", shift && "Shift", key].filter(Boolean).join("+");
}

/** Letters are named by what they type, and by their place where that is not Latin, so that Ctrl+K works on a Cyrillic keyboard. */
function keyName({ key, code, altKey }: Pressed): string {
	const known = NAMES[key];
	if (known) return known;
	if (key.length > 1 && !/^\P{M}\p{M}*$/u.test(key)) return key;
	const place = /^Key([A-Z])$/.exec(code)?.[1] ?? /^Digit(\d)$/.exec(code)?.[1];
	const latin = /^[\p{Script=Latin}\p{Script=Common}]/u.test(key);
	return place && (!latin || altKey) ? place : key.toUpperCase();
}

/** Whether a shortcut has no modifier that keeps it apart from typing. Such a shortcut never works in a text field. */
export function types(shortcut: string): boolean {
	return !/^(Mod|Ctrl|Alt|Meta)\+/.test(shortcut) && !/^(Shift\+)?F\d+$/.test(shortcut);
}

/** The keys of a shortcut for the screen, translated by `name`. */
export function shownKeys(shortcut: string, name: (key: KeyLabel) => string, mac = isMac()): string[] {
	return shortcut.split("+").filter(Boolean).map((key) => {
		if (key === "Mod") return mac ? "⌘" : name("ctrl");
		return LABELS[key] ? name(LABELS[key]) : (SIGNS[key] ?? key);
	});
}

const LABELS: Record<string, KeyLabel> = { Ctrl: "ctrl", Shift: "shift", Space: "space", Escape: "escape", Enter: "enter", Delete: "delete", Home: "home", End: "end" };
const SIGNS: Record<string, string> = { Plus: "+", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", "-": "−" };
export type KeyLabel = "ctrl" | "shift" | "space" | "escape" | "enter" | "delete" | "home" | "end";
