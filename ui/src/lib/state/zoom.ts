const STEPS = [0.5, 0.67, 0.75, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5];
const KEY = "inglenook.zoom";

/** Zoom of the desktop window. In a browser, the browser itself zooms. */
export class Zoom {
	#factor = stored();

	constructor(private readonly apply: (factor: number) => Promise<unknown>) {
		if (this.#factor !== 1) void this.apply(this.#factor);
	}

	/** Handles Ctrl (or Cmd) with plus, minus and 0. Returns whether it handled the key. */
	key(event: KeyboardEvent): boolean {
		if (!(event.ctrlKey || event.metaKey) || event.altKey) return false;
		const next = zoomed(this.#factor, event.key);
		if (next === null) return false;
		this.#factor = next;
		localStorage.setItem(KEY, String(next));
		void this.apply(next);
		return true;
	}
}

/** The zoom factor after a key; `null` for other keys. */
export function zoomed(factor: number, key: string): number | null {
	if (key === "0") return 1;
	if (key === "+" || key === "=") return STEPS.find((step) => step > factor) ?? factor;
	if (key === "-" || key === "_") return STEPS.findLast((step) => step < factor) ?? factor;
	return null;
}

function stored(): number {
	const factor = Number(localStorage.getItem(KEY));
	return STEPS.includes(factor) ? factor : 1;
}
