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

/** Throttles calls: runs the last one `waitMs` after the first, even if calls keep coming. */
export class Throttle {
	#timer: ReturnType<typeof setTimeout> | undefined;
	#action: () => unknown = () => undefined;

	constructor(private readonly waitMs = 200) {}

	run(action: () => unknown): void {
		this.#action = action;
		this.#timer ??= setTimeout(() => {
			this.#timer = undefined;
			this.#action();
		}, this.waitMs);
	}

	cancel(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
	}
}
