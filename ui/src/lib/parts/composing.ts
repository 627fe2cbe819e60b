/**
 * Whether a key belongs to an input method that is still choosing a word. WebKit tells of the Enter that ends the choice
 * only afterwards, with nothing but the key code 229.
 */
export function composing(event: KeyboardEvent): boolean {
	return event.isComposing || event.keyCode === 229;
}

/** Keeps such keys from every field, dialog and shortcut of the page; the input method itself still gets them. */
export function keepComposing(page: Window): void {
	page.addEventListener("keydown", (event) => composing(event) && event.stopImmediatePropagation(), { capture: true });
}
