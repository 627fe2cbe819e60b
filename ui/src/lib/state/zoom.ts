import type { PageValues } from "./pageValues";

const STEPS = [0.5, 0.67, 0.75, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5];
const KEY = "inglenook.zoom";

/** Zoom of the desktop window. In a browser, the browser itself zooms. */
export class Zoom {
	#factor: number;

	constructor(
		private readonly values: PageValues,
		private readonly apply: (factor: number) => Promise<unknown>,
	) {
		this.#factor = stored(values);
		if (this.#factor !== 1) void this.apply(this.#factor);
	}

	/** Zooms one step in or out, or back to the normal size. */
	step(step: ZoomStep): void {
		const next = zoomed(this.#factor, step);
		this.#factor = next;
		this.values.set(KEY, String(next));
		void this.apply(next);
	}
}

export type ZoomStep = "in" | "out" | "reset";

/** The zoom factor after a step. */
export function zoomed(factor: number, step: ZoomStep): number {
	if (step === "reset") return 1;
	const next = step === "in" ? STEPS.find((one) => one > factor) : STEPS.findLast((one) => one < factor);
	return next ?? factor;
}

function stored(values: PageValues): number {
	const factor = Number(values.get(KEY));
	return STEPS.includes(factor) ? factor : 1;
}
