import { asApiError } from "../api/errors";
import type { ApiError } from "../api/generated";

/** A list stored by the engine that a screen changes item by item. A rejected change is reported and has no effect. */
export class StoredState<All> {
	all = $state.raw<All | null>(null);
	failure = $state.raw<ApiError | null>(null);
	#sending: Promise<unknown> = Promise.resolve();
	#asked = 0;

	constructor(
		private readonly read: () => Promise<All>,
		private readonly failed: (error: ApiError) => void,
	) {}

	load = async (): Promise<void> => {
		const asked = ++this.#asked;
		try {
			const all = await this.read();
			if (asked === this.#asked) [this.all, this.failure] = [all, null];
		} catch (thrown) {
			if (asked === this.#asked) this.failure = asApiError(thrown);
		}
	};

	/** Loads the list. An effect can pass its dependencies, to load again when they change. */
	follow(..._news: unknown[]): void {
		void this.load();
	}

	/** Sends a change, whose result is the whole new list. `done` runs on success. */
	protected send(change: () => Promise<All>, done: () => void = () => {}): Promise<unknown> {
		// Sends changes one after the other, so that the later of two quick changes wins.
		this.#sending = this.#sending
			.then(change)
			.then((all) => {
				this.#asked++;
				this.all = all;
				done();
			})
			.catch((thrown: unknown) => {
				this.failed(asApiError(thrown));
				// The control shows the rejected value, so load the stored one.
				return this.load();
			});
		return this.#sending;
	}
}
