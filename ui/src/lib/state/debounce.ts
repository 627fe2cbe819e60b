/** Debounces calls: runs only the last one, after a pause. */
export class Debounce {
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(private readonly pauseMs = 300) {}

	run(action: () => unknown): void {
		this.cancel();
		this.#timer = setTimeout(action, this.pauseMs);
	}

	cancel(): void {
		clearTimeout(this.#timer);
	}
}
