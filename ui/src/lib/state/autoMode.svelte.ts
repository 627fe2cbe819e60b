/** Lets the characters of a group talk by themselves, with a pause between two replies. */
export class AutoMode {
	on = $state(false);
	#timer: ReturnType<typeof setTimeout> | undefined;

	/** `next` starts the next reply and returns whether anybody speaks; `seconds` is the pause. */
	constructor(
		private readonly next: () => Promise<boolean>,
		private readonly seconds: () => number,
	) {}

	start(): void {
		this.on = true;
		void this.#go();
	}

	stop = (): void => {
		this.on = false;
		clearTimeout(this.#timer);
	};

	/** A reply has ended; `whole` is false if it was stopped or failed. Then the user has to start again. */
	replied(whole: boolean): void {
		if (!this.on) return;
		clearTimeout(this.#timer);
		if (!whole) return this.stop();
		this.#timer = setTimeout(() => void this.#go(), this.seconds() * 1000);
	}

	async #go(): Promise<void> {
		if (this.on && !(await this.next())) this.stop();
	}
}
