/**
 * Whether a key belongs to an input method that is still composing. WebKit sends the Enter key that ends the composition
 * after `compositionend`, and only its key code 229 identifies it.
 */
export function composing(event: KeyboardEvent): boolean {
	return event.isComposing || event.keyCode === 229;
}

/** Hides these keys from every field, dialog and shortcut of the page. The input method still receives them. */
export function keepComposing(page: Window): void {
	page.addEventListener("keydown", (event) => composing(event) && event.stopImmediatePropagation(), { capture: true });
}
