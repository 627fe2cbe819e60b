const PAUSE_MS = 300;

/** Saves what stands in the composer once the writer pauses, and at once when asked. */
export class DraftSaver {
	#text: string | null = null;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(private readonly save: (text: string) => Promise<void>) {}

	later(text: string): void {
		this.#text = text;
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => void this.now(), PAUSE_MS);
	}

	async now(): Promise<void> {
		clearTimeout(this.#timer);
		const text = this.#text;
		this.#text = null;
		if (text !== null) await this.save(text);
	}
}
