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

/** Like `moveFocus`, for elements in lines: up and down go to the nearest element of the line above or below. */
export function moveFocusInGrid(event: KeyboardEvent & { currentTarget: HTMLElement }, selector: string): void {
	const items = [...event.currentTarget.querySelectorAll<HTMLElement>(selector)];
	const at = items.indexOf(document.activeElement as HTMLElement);
	const from = items[at];
	if (!from) return;
	const vertical = { ArrowDown: 1, ArrowUp: -1 }[event.key];
	const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: items.length - 1 }[event.key];
	const target = vertical === undefined ? items[next ?? -1] : nearest(items, from, vertical);
	if (!target) return;
	event.preventDefault();
	target.focus();
}

/** The element of the next line in a direction, 1 for down and -1 for up, that is horizontally nearest to `from`. */
function nearest(items: readonly HTMLElement[], from: HTMLElement, direction: number): HTMLElement | undefined {
	const own = from.getBoundingClientRect();
	const places = items.map((item) => ({ item, box: item.getBoundingClientRect() }));
	const beyond = places.filter(({ box }) => (direction > 0 ? box.top >= own.bottom - 1 : box.bottom <= own.top + 1));
	const edge = beyond.reduce((best, { box }) => (direction > 0 ? Math.min(best, box.top) : Math.max(best, box.bottom)), direction * Infinity);
	const line = beyond.filter(({ box }) => Math.abs((direction > 0 ? box.top : box.bottom) - edge) < 2);
	return line.toSorted((one, other) => Math.abs(one.box.left - own.left) - Math.abs(other.box.left - own.left))[0]?.item;
}
