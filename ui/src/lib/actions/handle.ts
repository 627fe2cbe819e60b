import { composing } from "../parts/composing";
import type { App } from "../state/app.svelte";
import { shortcutOf, types } from "./keys";

const FIELDS = "input, textarea, select, [contenteditable]:not([contenteditable=false])";
const OVER = "[role=dialog], [role=alertdialog], [role=menu]";
/** Plus and minus with or without Shift, which depends on the keyboard. */
const SAME: Record<string, string> = { "Mod+=": "Mod+Plus", "Mod+_": "Mod+-" };

/** Runs the action of a key. */
export function handleKey(app: App, event: KeyboardEvent): void {
	// A covered page must not change.
	if (event.defaultPrevented || composing(event) || app.encryption.cover) return;
	const pressed = shortcutOf(event);
	const shortcut = SAME[pressed] ?? pressed;
	const inText = event.target instanceof HTMLElement && event.target.matches(FIELDS);
	if (types(shortcut) && !free(event.target)) return;
	const over = document.querySelector(OVER) !== null;
	const action = app.shortcuts.actions(shortcut).find((one) => (!over || one.overDialogs) && !(inText && one.notInText) && one.available(app));
	if (!action) return;
	event.preventDefault();
	void action.run(app);
}

/** Whether a key without Ctrl is free: nothing has the focus, or the message box, and it is empty. */
function free(target: EventTarget | null): boolean {
	if (target instanceof HTMLTextAreaElement) return target.dataset.testid === "composer" && target.value === "" && !target.readOnly;
	return target === document.body;
}
