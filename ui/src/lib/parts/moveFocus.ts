/** Arrow keys, Home and End move the focus among the elements that `selector` finds inside the list. */
export function moveFocus(event: KeyboardEvent & { currentTarget: HTMLElement }, selector: string): void {
	const items = [...event.currentTarget.querySelectorAll<HTMLElement>(selector)];
	const at = items.indexOf(document.activeElement as HTMLElement);
	if (at < 0) return;
	const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
	const target = next === undefined ? undefined : items[next];
	if (!target) return;
	event.preventDefault();
	target.focus();
}
